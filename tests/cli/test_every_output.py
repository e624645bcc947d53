"""Every output is written, or refused in one line; the library writes nothing that nobody asked for."""

import importlib.util
import io
import json
import logging
import os
import threading
from contextlib import suppress

import click
import numpy as np
import pytest
from calls import invoke
from instances import unit_points
from processes import run_code

import warptsp
from warptsp import many
from warptsp.cli import COMMANDS, commands, names_file, run


def options():
    context = click.Context(commands)
    for name in COMMANDS:
        command = commands.get_command(context, name)
        assert command is not None
        for option in command.params:
            if names_file(option):
                yield name, option


FILE_OPTIONS = list(options())


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("x,y\n" + "".join(f"{x},{y}\n" for x, y in unit_points(8)))
    (tmp_path / "new.csv").write_text("x,y\n0.5,0.5\n")
    (tmp_path / "g.csv").write_text("x,y,group\n0,0,1\n0,1,1\n1,0,2\n1,1,3\n5,5,4\n")
    (tmp_path / "many").mkdir()
    (tmp_path / "many" / "a.csv").write_text("x,y\n0,0\n0,1\n1,0\n")
    for name in ("s.tour", "t.tour"):
        warptsp.solve("a.csv", kicks=1).save(name)
    return tmp_path


def test_the_options_that_name_files_are_known():
    single = {option.name for _, option in FILE_OPTIONS if not option.multiple}
    assert " ".join(sorted(single)) == "certificate checkpoint output preview report resume start tour tours"
    outputs = [(name, option) for name, option in FILE_OPTIONS if "--output" in option.opts]
    assert {name for name, option in outputs if not option.multiple} == {"generate", "strokes"}


@pytest.mark.parametrize(
    ("command", "option"),
    [pytest.param(name, option, id=f"{name} {option.name}") for name, option in FILE_OPTIONS],
)
def test_what_takes_one_file_is_refused_twice(command, option, here, capsys):
    if option.multiple:
        return
    name = max(option.opts, key=len)
    for second in ("b.tour", "a.tour"):  # the same one, too
        assert run([command, name, "a.tour", "a.csv", f"{name}={second}"]) == 2
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err == f"warptsp: error: {name}: given 2 times, but it takes one file\n"
    assert " ".join(sorted(path.name for path in here.iterdir())) == "a.csv g.csv many new.csv s.tour t.tour"


each_command = pytest.mark.parametrize(
    "arguments",
    [
        ["solve", "a.csv"],
        ["a.csv"],
        ["merge", "a.csv", "s.tour", "t.tour"],
        ["insert", "a.csv", "new.csv"],
        ["choose", "g.csv", "--kicks", "5"],
        ["prove", "a.csv"],
    ],
    ids=lambda arguments: arguments[0],
)


@each_command
def test_a_tour_goes_to_every_output(arguments, here):
    if arguments[0] == "prove":
        pytest.importorskip("highspy")
    names = ["one.tour", "two.csv", "three.npy"]
    given = [word for name in names for word in ("-o", name)]
    done = invoke(*arguments, *given, "--json")
    assert done.exit_code == 0, done.exception
    assert json.loads(done.stdout)["outputs"] == names
    assert all((here / name).stat().st_size for name in names)
    done = invoke(*arguments, "-o", "-", "-o", "four.tour")
    assert (done.stdout.count("TOUR_SECTION"), (here / "four.tour").exists()) == (1, True), done.exception
    for twice in (["-o", "-", "-o", "-"], ["-o", "five.csv", "-o", "./five.csv"]):
        done = invoke(*arguments, *twice)
        assert "this file is taken by --output already" in str(done.exception)
        assert done.stdout == ""
    assert not (here / "five.csv").exists()


def test_lengths_and_tours_of_many_problems_are_written_both(here):
    done = invoke("solve-many", "many", "-o", "a.tsv", "-o", "b.csv", "-o", "c.npy", "--json")
    assert done.exit_code == 0, done.exception
    assert json.loads(done.stdout)["outputs"] == ["a.tsv", "b.csv", "c.npy"]
    assert all((here / name).stat().st_size for name in ("a.tsv", "b.csv", "c.npy"))
    (here / "many" / "b.csv").write_text("x,y\n0,0\n0,1\n1,0\n1,1\n")
    done = invoke("solve-many", "many", "-o", "d.npy", "-o", "e.csv", "--json")
    assert "the problems differ in size" in str(done.exception)  # before any is searched
    assert not (here / "e.csv").exists()
    (here / "many" / "a.csv").write_text("x,y\n")
    (here / "many" / "b.csv").write_text("x,y\n")
    done = invoke("solve-many", "many", "-o", "d.npy", "-o", "e.csv", "--json")
    assert "d.npy: no problem has a tour" in str(done.exception)
    assert json.loads(done.stdout)["outputs"] == ["e.csv"]
    assert (here / "e.csv").exists()


@each_command
def test_what_cannot_be_written_keeps_nothing_else_from_it(arguments, here, monkeypatch):
    if arguments[0] == "prove":
        pytest.importorskip("highspy")
    write = warptsp.io.write_tour

    def failing(path, *arguments, **options):
        if path == "one.tour":
            raise warptsp.OutputError("one.tour: the disk is full")
        write(path, *arguments, **options)

    monkeypatch.setattr("warptsp.io.write_tour", failing)
    done = invoke(*arguments, "-o", "one.tour", "-o", "two.csv", "--json")
    assert "the disk is full" in str(done.exception)
    assert json.loads(done.stdout)["outputs"] == ["two.csv"]
    assert (here / "two.csv").exists()


def test_a_tour_of_many_that_cannot_be_written_keeps_no_other_from_it(here, monkeypatch):
    for number in range(7):
        (here / "many" / f"b{number}.csv").write_text("x,y\n0,0\n0,1\n1,0\n")
        (here / "tours" / f"b{number}.csv.tour").mkdir(parents=True)
    (here / "many" / "c.csv").write_text("x,y\n0,0\n0,1\n1,0\n")
    (here / "many" / "aa.csv").write_text("x,y\n0,0\n0,1\n1,0\n")
    solve_many = many.solve_many

    def and_lose_one(*arguments, **options):
        results = solve_many(*arguments, **options)
        (here / "many" / "aa.csv").unlink()
        return results

    monkeypatch.setattr(many, "solve_many", and_lose_one)
    done = invoke("solve-many", "many", "--tours", "tours")
    assert "aa.csv: no such file" in str(done.exception)
    assert str(done.exception).count("cannot write") == 4
    assert str(done.exception).endswith("; 3 more could not be written")
    assert (here / "tours" / "a.csv.tour").is_file()
    assert (here / "tours" / "c.csv.tour").is_file()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_an_array_of_tours_goes_into_a_pipe(here):
    os.mkfifo("pipe.npy")
    got = []
    reader = threading.Thread(target=lambda: got.append((here / "pipe.npy").read_bytes()))
    reader.start()
    done = invoke("solve-many", "many", "-o", "pipe.npy")
    reader.join()
    assert done.exit_code == 0, done.exception
    assert np.load(io.BytesIO(*got)).shape == (1, 3)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a file system that is always full")
def test_strokes_that_cannot_be_written_keep_nothing_else_from_it(here):
    (here / "a.drl").write_text("M48\nMETRIC\nT1C1\n%\nT1\nX0Y0\nX9Y9\nX1Y1\nM30\n")
    (here / "full.drl").symlink_to("/dev/full")
    done = invoke("strokes", "a.drl", "-o", "full.drl", "--preview", "b.svg", "--report", "b.html", "--json")
    assert "full.drl: cannot write: No space left" in str(done.exception)
    assert (json.loads(done.stdout)["output"], json.loads(done.stdout)["preview"]) == (None, "b.svg")
    assert (here / "b.svg").exists()
    assert (here / "b.html").exists()


def test_texts_that_utf_8_cannot_hold_cost_no_tour(here):
    """Halves of surrogate pairs, from JSON, and bytes in the names of files."""
    (here / "a.json").write_text(r'[{"x": 1, "y": 2, "a\ud800": "\udc00"}, {"x": 3, "y": 4, "a\ud800": "b"}]')
    outputs = ["-o", "t.csv", "-o", "t.tsv"]
    if importlib.util.find_spec("openpyxl"):
        outputs += ["-o", "t.xlsx"]
    assert invoke("solve", "a.json", "-q", *outputs).exit_code == 0
    assert "a?" in (here / "t.csv").read_text().splitlines()[0]
    with suppress(OSError):  # of systems whose names are texts
        (here / "many" / "b\udcff.csv").write_text("x,y\n0,0\n0,1\n1,0\n")
    assert invoke("solve-many", "many", "-q", "-o", "m.csv").exit_code == 0
    assert (here / "m.csv").stat().st_size


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a file system that is always full")
@pytest.mark.parametrize("command", ["prove", "bound"])
def test_a_certificate_that_cannot_be_written_costs_nothing_else(here, command, monkeypatch):
    arguments = [command, "a.csv", "--certificate", "/dev/full", "--json"]
    if command == "prove":
        pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
        arguments += ["-o", "two.csv"]
    done = invoke(*arguments)
    assert "/dev/full: cannot write: No space left" in str(done.exception)
    assert json.loads(done.stdout)["lower_bound"] > 0
    assert (here / "two.csv").exists() == (command == "prove")
    if command == "prove":  # all that failed is told, not the tour alone

        def failing(path, *arguments, **options):
            raise warptsp.OutputError(f"{path}: the disk is full")

        monkeypatch.setattr("warptsp.io.write_tour", failing)
        full = ["--certificate", "c.json", "--checkpoint", "/dev/full", "-o", "one.tour"]
        done = invoke(command, "a.csv", *full)
        told = "/dev/full: cannot write: No space left on device; one.tour: the disk is full"
        assert str(done.exception) == told
        assert "certificate  c.json" in done.stdout


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a file system that is always full")
@pytest.mark.parametrize(
    "command",
    [
        "solve a.csv -q",
        "solve a.csv -q --checkpoint full.tour",
        "merge a.csv s.tour t.tour",
        "insert a.csv new.csv",
        "choose g.csv",
        "solve-many many",
        "solve-many many -o lengths.csv --tours tours",
    ],
)
def test_an_output_that_failed_is_not_asked_for_and_the_tour_is_elsewhere(here, command, monkeypatch):
    temporary = here / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    many = command.startswith("solve-many")
    ending = "csv" if many else "tour"
    (here / f"full.{ending}").symlink_to("/dev/full")
    given = [] if "--" in command else ["-o", f"full.{ending}"]
    (here / "tours").mkdir()
    for name in os.listdir("many"):
        (here / "tours" / f"{name}.tour").symlink_to("/dev/full")
    done = invoke(*command.split(), *given)
    assert "No space left" in str(done.exception)
    assert done.stdout
    assert "--output FILE" not in done.stdout
    saved = list(map(str, temporary.iterdir()))
    assert len(saved) == 1
    for name in saved:
        assert name in done.stdout
        assert f"warptsp: note: the {'tours are' if many else 'tour is'} in {name}, as" in done.stderr
        if many:
            assert sorted(os.listdir(name)) == [f"{one}.tour" for one in sorted(os.listdir("many"))]
        elif command.startswith(("solve", "merge")):
            assert warptsp.read_tour(name, warptsp.load("a.csv")).size == 8


def test_the_library_is_silent_where_logging_is_not_configured():
    source = (
        "import numpy, warptsp\n"
        "m = numpy.arange(81.0).reshape(9, 9); m += m.T\n"
        "warptsp.solve(m, method='ils', params={'neighbors': 30}, kicks=5)\n"
        "warptsp.solve([[0, 1], [1, 0]])\n"
        "warptsp.solve(numpy.random.rand(9, 2), metric='EUC_2D')\n"
    )
    done = run_code(source)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_command_tells_a_warning_once(here):
    (here / "tiny.tsp").write_text(
        "TYPE: TSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EUC_2D\n"
        "NODE_COORD_SECTION\n1 0.1 0\n2 0 0.1\n3 0 0\nEOF\n"
    )
    warptsp.solve("tiny.tsp", kicks=0).save("tiny.tour")
    before = list(logging.getLogger("warptsp").handlers)
    for arguments in (["solve"], ["solve", "-q"], ["bound"], ["merge", "tiny.tour", "tiny.tour"]):
        done = invoke(arguments[0], "tiny.tsp", *arguments[1:])
        assert done.stderr.count("warptsp: warning: EUC_2D rounds distances") == 1, arguments
    assert logging.getLogger("warptsp").handlers == before


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("strokes a.drl --back", "--back: to which home position? Give --home, too"),
        (
            "solve-many many --bound lp",
            'bound: "lp" is for one problem: give "auto", none or a number of seconds',
        ),
        ("solve-many many --device auto", "device: 'auto' is for one problem: give cpu, cuda or cuda:N"),
    ],
)
def test_advice_can_be_followed_on_the_command_line(here, command, told):
    (here / "a.drl").write_text("M48\nMETRIC\nT1C1\n%\nT1\nX0Y0\nX9Y9\nX1Y1\nM30\n")
    assert str(invoke(*command.split()).exception) == told
