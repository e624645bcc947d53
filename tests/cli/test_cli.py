"""The command line: results on stdout, one line of complaint on stderr, exit status."""

import json
import os
import re
from importlib import import_module

import numpy as np
import pytest
import two_opt_method
from calls import call, invoke
from instances import whole_points, write_tsplib
from processes import run_code

import warptsp
from warptsp.cli import COMMANDS, commands, run
from warptsp.cli._values import seconds_in
from warptsp.methods import METHODS


@pytest.fixture
def instance(tmp_path):
    return write_tsplib(tmp_path / "square.tsp", whole_points(20))


@pytest.fixture(autouse=True)
def _two_opt(monkeypatch):
    monkeypatch.setitem(METHODS, "two-opt", two_opt_method.METHOD)


def solve(*arguments):
    return call("solve", "--method", "two-opt", *arguments)


def complaint(capsys):
    """Return the one line on stderr, after making sure that nothing else was written."""
    captured = capsys.readouterr()
    assert captured.out == ""
    lines = captured.err.splitlines()
    assert len(lines) == 1, captured.err
    assert lines[0].startswith("warptsp: error: ")
    return lines[0]


def test_solve_writes_what_was_asked_for(instance, tmp_path, capsys):
    tour, picture = tmp_path / "out.tour", tmp_path / "out.svg"
    assert solve(instance, "--kicks", 20, "-o", tour, "--picture", picture, "--seed", 3) == 0
    captured = capsys.readouterr()
    told = "20 cities, EUC_2D, closed tour", "length ", "20 kicks", "seed         3"
    assert all(words in captured.out for words in (*told, str(tour), str(picture)))
    assert "length" in captured.err  # progress
    assert picture.read_text().startswith("<svg")
    assert call("check", instance, tour) == 0
    assert "each of the 20 cities once" in capsys.readouterr().out
    assert call("plot", instance, tour, tmp_path / "again.png") == 0


def test_json_is_all_there_is_on_stdout(instance, tmp_path, capsys):
    assert solve(instance, "--kicks", 3, "--json", "-q", "-o", tmp_path / "out.tour") == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    found = json.loads(captured.out)
    assert found["cities"] == 20
    assert found["counters"]["kicks"] == 3
    problem = warptsp.load(instance)
    assert found["length"] == problem.length(warptsp.read_tour(tmp_path / "out.tour", problem))
    assert found["outputs"] == [str(tmp_path / "out.tour")]
    assert found["stop_reason"] == "limit of 3 kicks"
    assert found["interrupted"] is False


def test_nothing_is_written_unasked(instance, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert solve(instance, "--kicks", 1) == 0
    assert "not written; --output FILE writes it" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [instance]


def test_a_tour_on_stdout_is_alone_there(instance, tmp_path, capsys):
    assert solve(instance, "--kicks", 1, "-o", "-") == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("NAME")
    assert "length       " in captured.err
    (tmp_path / "out.tour").write_text(captured.out)
    assert call("check", instance, tmp_path / "out.tour") == 0
    capsys.readouterr()
    assert call("generate", "uniform", "5") == 0
    assert capsys.readouterr().out.startswith("NAME")


def test_stopping_options(instance, capsys):
    for options, reason in (
        (["--time-limit", "50ms"], "time limit of 0.05 s"),
        (["--no-improvement-kicks", 2], "no improvement for 2 kicks"),
        (["--no-improvement", 0], "no improvement for 0 s"),
        (["--target-length", 1e9], "target length"),
        (["--kicks", 2, "--time-limit", "1h"], "limit of 2 kicks"),
    ):
        assert solve(instance, *options, "--bound", "none", "--json", "-q") == 0
        assert json.loads(capsys.readouterr().out)["stop_reason"].startswith(reason)


def test_params_reach_the_method(instance, capsys):
    assert solve(instance, "--kicks", 0, "--param", "neighbors=7", "--json", "-q") == 0
    assert json.loads(capsys.readouterr().out)["params"] == {"neighbors": 7}
    assert call("methods") == 0
    out = capsys.readouterr().out
    assert "--param neighbors=10   (int)" in out
    assert "lk " in out


def test_checkpoint_and_start(instance, tmp_path, capsys):
    saved = tmp_path / "saved.tour"
    assert solve(instance, "--kicks", 10, "--checkpoint", saved, "--json", "-q") == 0
    first = json.loads(capsys.readouterr().out)
    assert solve(instance, "--kicks", 0, "--start", saved, "--json", "-q") == 0
    assert json.loads(capsys.readouterr().out)["length"] <= first["length"]


def test_ends_of_paths_and_tours(instance, tmp_path, capsys):
    out = tmp_path / "out.tour"
    assert solve(instance, "--kicks", 0, "--from", 7, "-o", out, "--json", "-q") == 0
    assert json.loads(capsys.readouterr().out)["closed"] is True
    assert warptsp.read_tour(out, warptsp.load(instance))[0] == 6
    assert call("solve", instance, "--open", "--method", "construct", "-o", out, "--json", "-q") == 0
    assert json.loads(capsys.readouterr().out)["closed"] is False
    small = write_tsplib(tmp_path / "small.tsp", whole_points(8))
    assert call("solve", small, "--method", "exact", "--from", 3, "--to", 8, "-o", out, "-q") == 0
    tour = warptsp.read_tour(out, warptsp.load(small))
    assert (tour[0], tour[-1]) == (2, 7)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--time-limit", "soon"], "'soon' is not a time such as 10"),
        (["--time-limit", "-1"], "'-1' is not a time"),
        (["--kicks", "-1"], "kicks: -1"),
        (["--kicks", "many"], "'many' is not a valid integer"),
        (["--method", "lkh"], "'lkh' is unknown; there are lk"),
        (["--param", "neighbors"], "write NAME=VALUE"),
        (["--param", "neighbours=5"], "has neighbors, temperature"),
        (["--param", "neighbors=5", "--param", "neighbors=6"], "given twice"),
        (["--device", "tpu"], "'tpu' is unknown"),
        (["--device", "cpu", "--explain-launch"], "nothing to launch on a CPU"),
        (["--threads", "0"], "threads: 0"),
        (["--seed", "-1"], "seed: -1"),
        (["--start", "gready"], "neither a construction"),
        (["--target-gap", "1"], "no optimal or best known length"),
        (["--from", "99"], "--from '99': no such city; give a number from the file (1 to 20)"),
        (["--from", "1", "--to", "1"], "a round trip is a closed tour"),
        (["--to", "1", "--closed"], "a closed tour has no end"),
        (["--progress", "loud"], "'loud'"),
        (["-o", "tour.xyz"], "tour.xyz"),
        (["-o", "tour.gpx"], "tour.gpx"),
        (["--picture", "tour.jpg"], "must end in .svg, .png or .pdf"),
        (["-o", "none/tour.csv"], "no directory"),
        (["--picture", "none/tour.svg"], "no directory"),
        (["--checkpoint", "none/tour.tour"], "no directory"),
        (["--checkpoint", "."], "is a directory"),
        (["--picture", "a.svg", "--picture", "a.svg"], "taken by --picture already"),
        (["--checkpoint", "square.tsp"], "the instance itself already"),
        (["-o", "-", "--json"], "both want stdout"),
        (["--frobnicate"], "--frobnicate"),
    ],
)
def test_bad_options_get_one_line_and_status_2(instance, tmp_path, capsys, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert solve("square.tsp", "-q", *arguments) == 2
    assert words in complaint(capsys)
    assert os.listdir(tmp_path) == ["square.tsp"]


def test_a_proof_beside_a_checkpoint_never_replaces_the_instance(instance, tmp_path, capsys):
    source = instance.rename(tmp_path / "best.tour.proof")
    assert solve(source, "--format", "tsplib", "--checkpoint", tmp_path / "best.tour", "-q") == 2
    assert "is the instance itself already" in complaint(capsys)


@pytest.mark.parametrize(
    "arguments",
    [
        ["choose", "places.csv", "--groups", "block", "-o", "places.csv"],
        ["merge", "places.csv", "one.tour", "two.tour", "-o", "places.csv"],
        ["prove", "places.csv", "-o", "places.csv"],
        ["prove", "places.csv", "--certificate", "./places.csv"],
        ["bound", "places.csv", "--certificate", "places.csv"],
        ["bound", "places.csv", "--tour", "one.tour", "--certificate", "one.tour"],
        ["insert", "places.csv", "more.csv", "-o", "more.csv"],
        ["solve-many", "many", "-o", "many/a.csv"],
        ["report", "places.csv", "one.html", "one.html"],
        ["plot", "places.csv", "one.svg", "one.svg"],
        ["strokes", "drawing.svg", "--preview", "drawing.svg"],
        ["prove", "places.csv", "--tour", "one.tour", "--certificate", "one.tour"],
        ["prove", "places.csv", "--tour", "one.tour", "--checkpoint", "one.tour"],
        ["prove", "places.csv", "--resume", "one.json", "--certificate", "one.json"],
        ["strokes", "drawing.svg", "--preview", "link.svg"],
        ["strokes", "drawing.html", "--format", "svg", "--report", "drawing.html"],
    ],
)
def test_what_is_read_is_not_overwritten(tmp_path, capsys, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    table = "name,x,y,block\na,0,0,1\nb,0,1,1\nc,1,1,2\nd,1,0,3\n"
    (tmp_path / "many").mkdir()
    for name in ("places.csv", "more.csv", "many/a.csv"):
        (tmp_path / name).write_text(table)
    for name in ("one.tour", "two.tour", "one.html", "one.svg", "one.json"):
        (tmp_path / name).write_text("1 2 3 4\n")
    for name in ("drawing.svg", "drawing.html"):
        (tmp_path / name).write_text("<svg xmlns='http://www.w3.org/2000/svg'><path d='M0 0L1 1'/></svg>")
    (tmp_path / "link.svg").symlink_to("drawing.svg")
    before = {file: file.read_bytes() for file in tmp_path.rglob("*.*") if file.is_file()}
    assert call(*arguments) == 2
    assert "already; choose another name" in complaint(capsys)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*.*") if file.is_file()} == before


def test_a_tour_through_missing_arcs_is_none(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arcs.csv").write_text("from,to,cost\na,b,1\nb,c,1\nc,a,1\nc,b,1\n")
    (tmp_path / "back.tour").write_text("1 3 2\n")
    for line, words in (
        ("check arcs.csv back.tour", "goes through 2 missing arcs"),
        ("merge arcs.csv back.tour back.tour -o m.tour", "2 arcs are missing from the best tour"),
    ):
        assert call(*line.split()) == 2
        assert f"{words}, such as the one from a to c" in complaint(capsys)
    assert not (tmp_path / "m.tour").exists()
    (tmp_path / "forth.tour").write_text("1 2 3\n")
    assert call("check", "arcs.csv", "forth.tour", "-q") == 0


def test_bad_files_get_one_line_and_status_2(instance, tmp_path, capsys):
    for command in ("solve", "info"):
        assert call(command, tmp_path / "none.tsp") == 2
        assert "none.tsp" in complaint(capsys)
    (tmp_path / "bad.tour").write_text("TYPE : TOUR\nDIMENSION : 3\nTOUR_SECTION\n1\n2\n2\n-1\nEOF\n")
    assert call("check", instance, tmp_path / "bad.tour") == 2
    assert "bad.tour" in complaint(capsys)
    assert solve(instance, "--start", tmp_path / "bad.tour", "-q") == 2
    assert "bad.tour" in complaint(capsys)
    assert call("solve") == 2
    assert "Missing argument 'INSTANCE'" in complaint(capsys)
    assert call("dance") == 2
    assert "no such command or file: 'dance'" in complaint(capsys)


def test_help_lists_every_command(capsys):
    assert call("--help") == 0
    out = capsys.readouterr().out
    for name in COMMANDS:
        assert name in out
        assert call(name, "--help") == 0
    capsys.readouterr()
    for option in ("--version", "-V"):
        assert call(option) == 0
        assert capsys.readouterr().out == f"warptsp, version {warptsp.__version__}\n"


def lines_of_examples(name):
    """The lines below "Example:" or "Examples:" at the end of a command's help."""
    epilog = commands.get_command(None, name).epilog or ""
    return [line.strip() for line in epilog.splitlines() if line.startswith("  ")]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_examples_that_it_accepts(name, capsys):
    examples = lines_of_examples(name)
    assert examples, f"warptsp {name} --help shows no example: @as_command(...)"
    assert call(name, "--help") == 0
    out = capsys.readouterr().out
    assert "Example" in out
    for line in examples:
        assert line in out
        assert len(line) <= 105
        program, *words = re.split(r" [|>] ", line)[0].split(" #")[0].split()
        assert (program, words[0]) == ("warptsp", name)
        context = commands.make_context("warptsp", list(words))
        commands.get_command(context, name).make_context(name, words[1:], parent=context)


def test_the_examples_of_generate_run(tmp_path, monkeypatch):
    """They need no file; that of a grid named a .csv, which cannot say its metric, so that it was refused."""
    monkeypatch.chdir(tmp_path)
    for line in lines_of_examples("generate"):
        words = line.split(" #")[0].replace("100000000", "1000").split()
        assert call(*words[1:]) == 0
    assert "optimal tour is 120000 long" in (tmp_path / "grid.tsp").read_text()


def test_info(instance, capsys):
    assert call("info", instance) == 0
    shown = capsys.readouterr().out
    assert "cities               20" in shown
    assert call("info", instance, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["metric"] == "EUC_2D"
    (low, high) = found["lowest"][1], found["highest"][1]
    assert f"y                    {low:.10g} to {high:.10g}\n" in shown


HEAVY = (
    *("scipy", "rich", "matplotlib", "hypothesis", "asyncio", "http"),
    *("warptsp.plotting", "warptsp.report", "warptsp.watch"),
)


def test_solving_imports_nothing_heavy(instance):
    code = (
        "import sys; from warptsp.cli import run; "
        f"assert run(['solve', {str(instance)!r}, '--kicks', '5']) == 0; "
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    done = run_code(code, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_import_loads_next_to_nothing():
    code = "import sys, warptsp; print([m for m in sys.modules if m.startswith('warptsp.') or m == 'numpy'])"
    done = run_code(code, check=True)
    assert done.stdout.strip() == "['warptsp._offers', 'warptsp._version']"  # names, and no more


# What takes a good part of the time of all imports, and a search of points does not need.
NEEDLESS = (
    *("csv", "hashlib", "highspy", "importlib.resources", "json", "rich", "scipy"),
    *("warptsp.bound.certificate", "warptsp.cli", "warptsp.io", "warptsp.many", "warptsp.proof.proving"),
)


def test_the_first_search_imports_what_it_needs_and_within_its_time_limit():
    code = (
        "import sys, warptsp; solve, prove = warptsp.solve, warptsp.prove; "
        "print([m for m in ('numpy', 'warptsp._native', 'warptsp.problem') if m in sys.modules]); "
        "solve([(x * x % 101, x) for x in range(200)], time_limit=0.05); "
        f"print([m for m in {NEEDLESS} if m in sys.modules])"
    )
    done = run_code(code, check=True)
    assert done.stdout.splitlines() == ["[]", "[]"]


def test_every_public_name_is_there():
    for name in warptsp.__all__:
        assert getattr(warptsp, name) is not None
    assert set(warptsp.__all__) <= set(dir(warptsp))
    with pytest.raises(AttributeError, match="nonsense"):
        warptsp.nonsense  # noqa: B018
    import_module("warptsp.solver")  # must not hide the function
    assert callable(warptsp.solve)


@pytest.mark.parametrize(
    ("arguments", "cities", "words"),
    [
        (["uniform", "50", "--seed", "3", "--side", "100"], 50, "uniform"),
        (["clustered", "50", "--clusters", "2", "--spread", "10"], 50, "cluster"),
        (["grid", "4x5", "--spacing", "10"], 20, "200"),
        (["E1k.0"], 1000, "DIMACS"),
        (["c1k.1"], 1000, "DIMACS"),
    ],
)
def test_generate(tmp_path, capsys, arguments, cities, words):
    path = tmp_path / "made.tsp"
    assert call("generate", *arguments, "-o", path) == 0
    out = capsys.readouterr().out
    assert f"{cities} cities" in out
    assert words in out
    assert warptsp.load(path).n == cities


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["ring", "5"], "'ring' is unknown; there are uniform"),
        (["uniform"], "needs the number of cities"),
        (["uniform", "many"], "'many': uniform needs the number of cities"),
        (["uniform", "0"], "between 1 and 10000000"),
        (["uniform", "10000001"], "between 1 and 10000000"),
        (["uniform", "5", "--clusters", "2"], "--clusters does not fit uniform, which takes --seed, --side"),
        (["grid", "5"], "ROWSxCOLUMNS"),
        (["grid", "1x5"], "rows: 1"),
        (["grid", "5x5", "--seed", "1"], "--seed does not fit grid"),
        (["E5k.0"], "no DIMACS instance"),
        (["E1k.0", "5"], "the name E1k.0 already gives the size"),
        (["uniform", "5", "-o", "none/x.tsp"], "no directory"),
    ],
)
def test_generate_refuses(tmp_path, capsys, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    assert call("generate", *arguments) == 2
    assert words in complaint(capsys)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("10", 10), ("0.5", 0.5), (" 90s", 90), ("5m", 300), ("2h", 7200), ("1m30s", 90), ("1h30", 5400),
        ("1m30", 90), ("00:01:30", 90), ("10sec", 10), ("2 min", 120), ("1 h 5 min", 3900), ("1.5h", 5400),
        ("500ms", 0.5), ("1e2", 100), ("1D", 86400), ("5 Minutes", 300),
        ("", None), ("s", None), ("1s30", None), ("30s1m", None), ("1x", None), ("1m2m", None), ("-1", None),
        ("1:30", None), ("00:99:00", None), ("1hour30fast", None),
    ],
)  # fmt: skip
def test_times(text, seconds):
    assert seconds_in(text) == seconds


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_times_with_units(name):
    command = commands.get_command(None, name)
    for option in command.params:
        if option.name in ("time_limit", "total_time", "no_improvement", "checkpoint_interval"):
            assert option.type.convert("1m30s", option, None) == 90


def test_a_file_in_place_of_a_command_is_solved(tmp_path, capsys, monkeypatch):
    path = tmp_path / "places.csv"
    path.write_text("name,lat,lon\nBerlin,52.5,13.4\nParis,48.8,2.3\nRome,41.9,12.5\n")
    assert call(path, "--from", "ROME", "-q") == 0
    assert "3 cities" in capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    (tmp_path / "places").write_bytes(path.read_bytes())
    assert call("places", "-q") == 0
    capsys.readouterr()
    assert call("none.csv") == 2
    assert "none.csv: no such file" in complaint(capsys)
    for wrong, close in (("slove", "solve"), ("Generate", "generate")):
        assert call(wrong) == 2
        said = f"no such command or file: {wrong!r}; did you mean {close!r}? (see warptsp --help)"
        assert said in complaint(capsys)


@pytest.mark.parametrize("word", ["solve", "places.csv"])
def test_options_before_the_command_are_shown_their_place(word, capsys):
    assert run(["--time-limit", "5", word]) == 2
    assert f"Options follow it: warptsp {word} --time-limit" in capsys.readouterr().err
    assert run(["--vesion", word]) == 2
    assert "Did you mean '--version'" in capsys.readouterr().err


def test_the_format_of_the_instance_is_not_that_of_the_tour(tmp_path, capsys):
    table = tmp_path / "places.csv"
    table.write_text("x,y\n0,0\n3,0\n3,4\n0,4\n")
    options = ["solve", str(table), "--format", "csv", "--output", "-"]
    assert run(options) == 0
    said = capsys.readouterr().err
    assert "--format is that of the instance; --output-format, here tsplib, is the tour's" in said
    assert run([*options, "--output-format", "csv"]) == 0
    assert "--format is" not in capsys.readouterr().err


@pytest.mark.parametrize("command", [["solve"], ["prove"], ["bound"], ["choose", "--groups", "g"]])
def test_ends_are_the_same_options_everywhere(command, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("name,x,y,g\na,0,0,1\nb,1,0,2\nc,2,0,3\nd,3,1,4\n")
    name, *more = command
    if name == "prove":
        pytest.importorskip("highspy", reason="an extra brings HiGHS: pip install 'warptsp[prove]'")
    options = ["--from", "b", "--to", "a", "--json", "--threads", "1"]
    found = invoke(name, path, *more, *options)
    assert found.exit_code == 0, found.output
    document = json.loads(found.stdout)
    known = document["lower_bound" if name == "bound" else "length"]
    assert 3.5 < known < 5.6  # the shortest path is 5.58 long, and 3.41 with free ends
    closed = invoke(name, path, *more, "--from", "b")
    assert (closed.exit_code == 0) == (name == "solve")


def test_many_files_are_read_as_one_is(tmp_path, capsys):
    folder = tmp_path / "many"
    folder.mkdir()
    rows = "name,x,y,z\nŁódź,0,0,1\nKraków,3,0,2\nRyga,3,4,\n?,,4,5\n"
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text(rows, encoding="cp1250")
    options = ["--encoding", "cp1250", "--skip-incomplete", "--x", "y", "--y", "x"]
    assert call("solve-many", folder, *options, "--json", "--tours", tmp_path / "tours") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["lengths"] == [12.0, 12.0]
    assert call("solve-many", folder, "--kicks", 1) == 2  # in other encodings, as the errors say
    assert "--encoding cp1250" in capsys.readouterr().err
    np.save(tmp_path / "many.npy", np.zeros((2, 5, 2)))
    assert call("solve-many", tmp_path / "many.npy", "--encoding", "cp1250") == 2
    assert "--encoding: " in complaint(capsys)


@pytest.mark.parametrize("ends", [[], ["--open"]])
def test_json_is_a_tour_like_any_other(instance, tmp_path, capsys, ends):
    assert solve(instance, "--kicks", 3, "--json", "-q", *ends) == 0
    text = capsys.readouterr().out
    length = json.loads(text)["length"]
    (tmp_path / "r.json").write_text(text)
    assert call("check", instance, tmp_path / "r.json", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["length"], found["open"]) == (length, bool(ends))
    for old, new, words in (
        ('"tour": [', '"tour": [99, ', "'99' in its tour: cities from 0 to 19 are needed"),
        ('"closed": ', '"shut": ', "has no list tour, or does not say whether it is closed"),
    ):
        (tmp_path / "r.json").write_text(text.replace(old, new))
        assert call("check", instance, tmp_path / "r.json") == 2
        assert words in complaint(capsys)
