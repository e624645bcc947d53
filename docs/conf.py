"""The pages of this folder as a site: ``sphinx-build -W --keep-going -n docs docs/_build/html``.

The pages are plain Markdown that reads well on a forge, too, so they hold no directives. What Sphinx needs
on top is made here: the table of contents, from the links of index pages; pages of the repository's root;
the help texts of the commands.
"""

from __future__ import annotations

import re
from inspect import cleandoc
from pathlib import Path
from textwrap import dedent, indent

import click
from docutils import nodes
from pygments.lexers.special import TextLexer
from sphinx import addnodes

import warptsp
from warptsp.cli import commands

ROOT = Path(__file__).parents[1]

project = "warptsp"
author = "The warptsp authors"
project_copyright = author
release = version = warptsp.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_build"]

myst_heading_anchors = 4  # the anchors of headings are those that forges make
myst_enable_extensions = ["html_image"]

# Docstrings: what a name in single backquotes stands for is looked up; it may be a parameter's, too.
default_role = "autolink"
nitpick_ignore_regex = [("py:obj", "[a-z_]+")]
autosummary_generate = False
autodoc_typehints = "none"  # numpydoc's sections have the types
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
# No docstring; a parameter that is not there; parameters in another order.
numpydoc_validation_checks = {"GL08", "PR02", "PR03"}
add_module_names = False
smartquotes = False

# The headings that explain what people search for: the site's search shows them first.
EXPLAINED = {
    "first-tour": {"First tour": ["map", "itinerary", "route"]},
    "formats": {
        "Excel and Parquet": ["excel", "xlsx", "spreadsheet", "parquet"],
        "CSV and TSV": ["csv", "utf-16", "degrees", "dms", "header"],
        "GeoJSON, GPX and KML": ["geojson", "gpx", "kml"],
        "Metrics": ["metric", "haversine", "manhattan"],
        "TSPLIB": ["tsplib"],
    },
    "gpu": {"GPUs": ["gpu", "cuda"]},
    "install": {
        "Containers and conda": ["container", "docker", "podman", "conda"],
        "Installing": ["install", "pip"],
    },
    "interop": {"Data frames": ["pandas", "polars", "data frame"], "NetworkX": ["networkx"]},
    "notebooks": {"Notebooks": ["jupyter", "notebook"]},
    "service": {"In a service": ["async", "asyncio", "cancel", "fastapi", "service", "timeout"]},
    "stopping": {
        "Criteria": ["time limit", "stop"],
        "Ctrl-C, SIGTERM, exceptions": ["ctrl-c", "interrupt"],
        "Checkpoints": ["checkpoint"],
    },
    "streets": {"From streets to a route": ["osrm", "roads", "openstreetmap"]},
    "windows": {"Windows": ["windows", "wsl"]},
}

html_theme = "furo"
html_search_scorer = str(Path(__file__).with_name("_static") / "scorer.js")
html_title = f"warptsp {release}"
html_static_path = ["_static"]
html_css_files = ["warptsp.css"]
html_js_files = [("copy.js", {"defer": "defer"}), ("versions.js", {"defer": "defer"})]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5c73", "color-brand-content": "#0b5c73"},
    "dark_css_variables": {"color-brand-primary": "#6cc5de", "color-brand-content": "#6cc5de"},
}

# Pages whose links are the table of contents, below the headings that they stand under.
INDEXES = ("index", "performance/README", "reproduction/index")
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")


def repository_links(page: str, text: str) -> str:
    """Return the text with links to pages of the repository's root led to their pages here.

    A page here that is nothing but a link to one of those stands for it, and has its text.
    """
    alone = re.fullmatch(r"\[[^]]*\]\(\.\./(\w+\.md)\)\s*", text)
    if alone:
        text = LINK.sub(
            lambda link: f"]({link[1].removeprefix('docs/')}{link[2] or ''})",
            (ROOT / alone[1]).read_text(encoding="utf-8"),
        )

    def here(link: re.Match[str]) -> str:
        name = Path(link[1]).name.lower()
        outside = (ROOT / "docs" / page).parent.joinpath(link[1]).resolve().parent == ROOT
        return f"](/{name}{link[2] or ''})" if outside and (ROOT / "docs" / name).exists() else link[0]

    return LINK.sub(here, text)


def with_words(page: str, text: str) -> str:
    """Return the text with what people search for in the index, below the heading that explains it."""
    for heading, words in EXPLAINED.get(page, {}).items():
        line = re.compile(rf"^#+ {re.escape(heading)}$", re.MULTILINE).search(text)
        if line is None:
            raise ValueError(f"docs/conf.py: {page}.md has no heading {heading!r} that explains {words[0]}")
        entries = "".join(f"\n\n```{{index}} ! {word}\n```" for word in words)
        text = text[: line.end()] + entries + text[line.end() :]
    return text


def contents(page: str, text: str) -> str:
    """Return the hidden tables of contents of an index page.

    That of the site has one for each heading, with the pages that are linked below it; other pages have one.
    """
    seen = {"index.md"}
    tables = []
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:] if page == "index" else [text]:
        links = []
        for link in LINK.finditer(section):
            name = link[1].removeprefix("/")
            if name.endswith((".md", ".rst")) and not name.startswith("..") and name not in seen:
                seen.add(name)
                links.append(name.rpartition(".")[0])
        caption = f":caption: {section.partition(chr(10))[0]}\n" if page == "index" else ""
        tables.append("\n".join(["```{toctree}", ":hidden:", caption, *links, "```", ""]))
    return "\n\n" + "\n".join(tables)


def help_texts() -> str:
    """Return a section for each command: its help text, and its options with an anchor each."""
    top = click.Context(commands, info_name="warptsp", max_content_width=88)
    lines = []
    for name in commands.list_commands(top):
        command = commands.get_command(top, name)
        context = click.Context(command, parent=top, info_name=name)
        usage = command.get_usage(context).removeprefix("Usage: ")
        lines += [name, "-" * len(name), "", ".. code-block:: none", "", indent(usage, "   "), ""]
        lines += [plain(cleandoc(command.help)), "", f".. program:: warptsp {name}", ""]
        for parameter in command.get_params(context):
            if isinstance(parameter, click.Option):
                _, text = parameter.get_help_record(context)
                value = "" if parameter.is_flag else " " + parameter.make_metavar(context)
                flags = ", ".join(parameter.opts + parameter.secondary_opts)
                lines += [f".. option:: {flags}{value}", "", indent(plain(text), "   "), ""]
        examples = dedent(command.epilog.partition(":\n")[2])
        lines += [".. code-block:: sh", "", indent(examples, "   "), ""]
    return "\n" + "\n".join(lines)


def plain(text: str) -> str:
    """Return a text in which reStructuredText sees no marks."""
    return re.sub(r"([\\*`|_])", r"\\\1", text)


def read(app: object, page: str, text: list[str]) -> None:
    """Change the text of a page that has been read."""
    if Path(app.env.doc2path(page)).suffix == ".md":
        text[0] = with_words(page, repository_links(page, text[0]))
        if page in INDEXES:
            text[0] += contents(page, text[0])
    elif page == "api/commands":
        text[0] += help_texts()


def without_index(app: object, doctree: nodes.document) -> None:
    """Take options out of the index: the site's search finds them as objects already."""
    for node in list(doctree.findall(addnodes.index)):
        if any(entry[2].startswith("cmdoption-") for entry in node["entries"]):
            node.parent.remove(node)


def setup(app: object) -> None:
    """Tell Sphinx what is done to the pages."""
    app.add_lexer("csv", TextLexer)
    app.connect("source-read", read)
    app.connect("doctree-read", without_index)
