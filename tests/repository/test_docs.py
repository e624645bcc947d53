"""The documents: links that lead somewhere, README lines that are where .ci/run looks for them."""

import doctest
import re
import shlex
import shutil
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from calls import invoke
from processes import run_python

import warptsp
import warptsp.errors
import warptsp.generate
import warptsp.problem
import warptsp.stop
from warptsp.cli import commands
from warptsp.errors import BackendUnavailable
from warptsp.methods import METHODS, NoParams

REPOSITORY = Path(__file__).parents[2]
PAGES = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")])
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    words = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(text))
    return {word.replace(" ", "-") for word in words}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"(?:\]\(|<img src=\")([^)\"\s]+)[)\"]", text):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        linked = page.parent / name if name else page
        assert linked.exists(), f"{page.name} links to {target}, which is not there"
        if anchor:
            assert anchor in anchors(linked), f"{page.name} links to {target}: no such heading"


FOLDERS = sorted({page.parent for page in PAGES} - {REPOSITORY})


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_page_is_reached_from_the_index(folder):
    """From that of its folder, if it has one; the site makes its table of contents of these links."""
    own = [page for page in (folder / "index.md", folder / "README.md") if page.exists()]
    index = own[0] if own else REPOSITORY / "docs" / "index.md"
    text = index.read_text(encoding="utf-8")
    for page in set(folder.glob("*.md")) - {index}:
        # What is nothing but a link stands for the page that it leads to.
        (target,) = re.findall(r"\A\[.*?\]\((.*)\)\s*\Z", page.read_text(encoding="utf-8")) or [
            page.relative_to(index.parent)
        ]
        assert f"({target})" in text, f"{index.relative_to(REPOSITORY)} lacks {page.name}"


def title(page):
    """What a page is called; None if it is nothing but a link to one of the root."""
    found = HEADING.search(page.read_text(encoding="utf-8"))
    return found and found[1]


@pytest.mark.parametrize("name", ["index.md", "performance/README.md"])
def test_an_index_calls_each_page_by_its_title(name):
    index = REPOSITORY / "docs" / name
    named = re.findall(r"\[([A-Z][^]]*)\]\(([\w./-]+\.md)\)", index.read_text(encoding="utf-8"))
    assert len(named) > 20
    for called, target in named:
        assert title(index.parent / target) in (called, None), target


def test_no_two_pages_have_one_title():
    titles = [title(page) for page in PAGES if page.parent != REPOSITORY]
    for page in (REPOSITORY / "docs" / "api").glob("*.rst"):
        titles.append(page.read_text(encoding="utf-8").partition("\n")[0])
    named = [name for name in titles if name is not None]
    assert len(set(named)) == len(named)


def test_each_page_is_under_one_heading_of_the_index():
    """So that the site's table of contents has each of them once, with a caption."""
    lead, *sections = (REPOSITORY / "docs" / "index.md").read_text(encoding="utf-8").split("\n## ")
    pages = [re.findall(r"\]\(([^)]+)\)", section) for section in sections]
    every = [page for linked in pages for page in linked]
    assert len(set(every)) == len(every)
    assert set(re.findall(r"\]\(([^)]+)\)", lead)) <= set(every)


def test_every_option_has_an_anchor(monkeypatch):
    monkeypatch.syspath_prepend(REPOSITORY / "docs")
    pytest.importorskip("pygments")
    page = pytest.importorskip("conf", reason="an extra brings Sphinx").help_texts()
    context = commands.make_context("warptsp", ["info"])
    for name in commands.list_commands(context):
        command = commands.get_command(context, name)
        section = page.split(f".. program:: warptsp {name}\n")[1].split(".. program::")[0]
        for flag in (flag for option in command.params for flag in option.opts if flag.startswith("-")):
            assert re.search(rf"^\.\. option:: (.*, )?{flag}\b", section, re.MULTILINE), (name, flag)


def test_code_has_a_language():
    """So that it is coloured, and the button that copies knows what a prompt is."""
    for page in PAGES:
        marks = re.findall(r"^```(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert all(marks[::2]), page.name
        assert not any(marks[1::2]), page.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_every_table_begins_with_a_head(page):
    """A blank line inside a table would turn the rest of it into text."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert re.fullmatch(r"\|( ?:?-+:? ?\|)+", table.splitlines()[1] if "\n|" in table else ""), table


def test_every_public_name_is_in_the_reference():
    modules = [warptsp, warptsp.stop, warptsp.generate, warptsp.errors, warptsp.problem]
    reference = "".join(page.read_text(encoding="utf-8") for page in REPOSITORY.glob("docs/api/*.rst"))
    documented = set(re.findall(r"^\.\. auto\w+:: (\w+)$", reference, re.MULTILINE))
    public = {name for module in modules for name in module.__all__ if not name.startswith("__")}
    params = {kind.__name__ for method in METHODS.values() if (kind := method.params) is not NoParams}
    assert public | params <= documented


def test_readme_has_the_two_lines():
    script = REPOSITORY / ".ci" / "readme-lines"
    lines = run_python(script, check=True).stdout.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("python3 -m venv ")
    assert "warptsp solve examples/" in lines[0]
    assert lines[1].startswith("python3 -m venv ")
    assert lines[1].endswith("pytest")


def code(page, language):
    """The code blocks of a page in one language."""
    pattern = rf"^```{language}\n(.*?)^```"
    return re.findall(pattern, page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


COMMANDS = [
    pytest.param(line.removeprefix("$ "), id=line)
    for page in PAGES
    for language, prompt in (("sh", ""), ("console", "$ "))
    for block in code(page, language)
    for line in block.splitlines()
    if line.startswith(f"{prompt}warptsp ")
]


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_are_accepted(line):
    """Every command and option exists, and every option gets a value of its type; nothing is run."""
    command, *_ = re.split(r" [|>] ", line)  # what the shell does with the output is its own affair
    name, *words = shlex.split(command, comments=True)[1:]
    context = commands.make_context("warptsp", [name, *words])
    commands.get_command(context, name).make_context(name, words, parent=context)


EXAMPLES = [page for page in PAGES if code(page, "python")]


@pytest.fixture
def newcomer(tmp_path, monkeypatch):
    """The folder of somebody who follows the pages."""
    monkeypatch.chdir(tmp_path)
    (places,) = code(REPOSITORY / "docs" / "first-tour.md", "csv")
    (tmp_path / "stops.csv").write_text(places, encoding="utf-8")
    shutil.copy(REPOSITORY / "examples" / "town.json", tmp_path)
    np.save("cities.npy", np.random.default_rng(1).random((500, 2)))
    return tmp_path


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_the_examples_run(page, newcomer):
    names: dict[str, object] = {}
    for example in code(page, "python"):
        try:
            exec(compile(example, page.name, "exec"), names)
        except BackendUnavailable as error:
            if not isinstance(error.__cause__, ModuleNotFoundError):
                raise
            pytest.skip(f"needs {error.__cause__.name}, which an extra brings")
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("warptsp"):
                raise
            pytest.skip(f"needs {error.name}, which an extra brings")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("checker", "arguments"),
    [
        # Stubs of other packages are their affair.
        (
            "mypy",
            ["--strict", "--disable-error-code=import-untyped", "--disable-error-code=import-not-found"],
        ),
        ("basedpyright", ["--level=error", f"--pythonpath={sys.executable}"]),
    ],
)
def test_type_checkers_accept_the_examples(checker, arguments, tmp_path):
    pytest.importorskip(checker)
    for page in EXAMPLES:
        name = re.sub(r"\W", "_", str(page.relative_to(REPOSITORY).with_suffix("")))
        (tmp_path / f"{name}.py").write_text("\n".join(code(page, "python")), encoding="utf-8")
    # Pyright's own rules; the fork, which brings its own Node.js, has more of them.
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "standard"}')
    (tmp_path / "wrong.py").write_text("import warptsp\nwarptsp.solve([[0, 0]], seed='one')\n")
    done = run_python("-m", checker, *arguments, ".", cwd=tmp_path)
    found = [line for line in done.stdout.splitlines() if "error:" in line or "- error" in line]
    # It sees the types, or it would accept the wrong call, too.
    assert len(found) == 1, done.stdout + done.stderr
    assert "wrong.py:2" in found[0]


def test_readme_shows_what_its_example_prints(capsys):
    page = REPOSITORY / "README.md"
    (example,), (shown,) = code(page, "python"), code(page, "text")
    exec(compile(example, page.name, "exec"), {})
    assert capsys.readouterr().out == shown


def test_the_first_tour_is_made(newcomer):
    page = REPOSITORY / "docs" / "first-tour.md"
    output = ""
    for line in "".join(code(page, "sh")).splitlines():
        result = invoke(*shlex.split(line)[1:])
        assert result.exit_code == 0, result.output
        output += result.output
    shown = "".join(code(page, "console"))
    assert all(line in output for line in shown.splitlines() if line != "...")
    for name in re.findall(
        r"--(?:output|picture|report) (\S+)", page.read_text(encoding="utf-8").split("For a phone")[0]
    ):
        assert (newcomer / name).stat().st_size > 0
    assert '"Depot"' in (newcomer / "route.geojson").read_text(encoding="utf-8")


def test_the_town_is_what_its_script_makes(monkeypatch):
    monkeypatch.syspath_prepend(REPOSITORY)
    made = import_module("benchmarks.town").text()
    assert (REPOSITORY / "examples" / "town.json").read_text(encoding="utf-8") == made


def test_docstring_examples_are_true():
    sources = (REPOSITORY / "src" / "warptsp").rglob("*.py")
    modules = [source for source in sources if ">>> " in source.read_text(encoding="utf-8")]
    assert modules
    for source in modules:
        name = ".".join(source.relative_to(REPOSITORY / "src").with_suffix("").parts)
        if name == "warptsp.solver.proving" and find_spec("highspy") is None:
            continue  # an extra brings it; where it is there, this is tested
        assert doctest.testmod(import_module(name.removesuffix(".__init__"))).failed == 0


def rows(page, heading):
    """The rows of the first table below a heading, as lists of cells without marks of code."""
    section = page.read_text(encoding="utf-8").split(heading)[1]
    lines = section[section.index("\n|") + 1 :].split("\n\n")[0].splitlines()[2:]
    return [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in lines]


def test_what_methods_can_do_is_so():
    table = rows(REPOSITORY / "docs" / "methods.md", "## What each can do")
    assert [row[0] for row in table] == list(METHODS)
    for name, ends, _, gpu in table:
        method = METHODS[name]
        # What makes one tour comes to an end, too, without asking for a rule of its own.
        assert (ends == "yes") == (method.ends or name in ("exact", "construct")), name
        assert (name in ("lk", "exact", "construct")) == method.asymmetric, name
        assert gpu == (f"{method.min_gpu_cities} cities" if "cuda" in method.devices else "never"), name


def test_gaps_are_those_of_the_reports():
    docs = REPOSITORY / "docs"
    for instance, _, *cells in rows(docs / "quality.md", "# Time against quality"):
        for report, cell in zip(("time_to_gap.md", "gpu.md"), cells, strict=True):
            text = (docs / "performance" / report).read_text(encoding="utf-8")
            for gap, seconds in re.findall(r"([\d.]+) in ([\d.]+) s", cell):
                row = rf"^\| {instance} \|.* in {seconds} s \| {gap} "
                assert re.search(row, text, re.MULTILINE), (
                    f"{instance}: {gap} in {seconds} s is not in {report}"
                )


def test_the_chart_is_that_of_the_table(monkeypatch):
    monkeypatch.syspath_prepend(REPOSITORY)
    chart = import_module("benchmarks.quality_chart").chart
    page = REPOSITORY / "docs" / "quality.md"
    drawn = page.with_suffix(".svg").read_text(encoding="utf-8")
    assert drawn == chart(page.read_text(encoding="utf-8")).svg(), "run python -m benchmarks.quality_chart"


def test_papers_and_files_of_the_algorithms_are_there():
    text = (REPOSITORY / "docs" / "algorithms.md").read_text(encoding="utf-8")
    page, references = text.split("## References")
    papers = [" ".join(entry.split()) for entry in references.split("\n- ")]
    for names in re.findall(r"\[([^]]*)\]\(#references\)", page):
        *authors, year = re.findall(r"[A-Z][\w'-]+|\d{4}", names)
        assert any(all(word in paper for word in [*authors, year]) for paper in papers), names
    package = REPOSITORY / "src" / "warptsp"
    for name in re.findall(r"`([a-z_]+/[a-z_.]*)`", page.split("## The main solver")[1]):
        assert (package / name).exists() or (package / "native" / name).exists(), name


def test_the_version_to_cite_is_this_one():
    for name in ("docs/citing.md", "CITATION.cff"):
        assert warptsp.__version__ in (REPOSITORY / name).read_text(encoding="utf-8")
