"""The scripts that put our figures beside published ones: their data, what resumes, and the tables."""

import dataclasses
import math
import shutil
import types
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def harness(reproduce):
    from benchmarks.reproduce import harness

    return harness


@pytest.fixture
def study(harness):
    """A study of three cells, one of which fails until it is mended."""
    made = types.SimpleNamespace(
        __name__="studies.toy", __doc__="Toy.\n\nMore.", DOCUMENT="000", TABLES=("4.7", "A-1")
    )
    made.measured, made.broken = [], {"b"}

    def measure(cell, setting):
        made.measured.append(cell.name)
        if cell.name in made.broken:
            raise ValueError("too large")
        return {"seconds": 2.0, "passes": 4, "evaluations": 800}

    def report(results):
        rows = [[name, *harness.beside(8.0, results, name, lambda r: r["seconds"])] for name in "abc"]
        chart = harness.Chart("toy", "x", "y", {"line": [(1.0, 2.0), (10.0, 4.0)]})
        return [harness.Section("Table", ["cell", *harness.header("s", results)], rows, "Words.", chart)]

    made.cells = lambda setting: [harness.Cell(name) for name in "abc"]
    made.measure = measure
    made.report = report
    return made


def test_long_tables_are_files(harness, study, tmp_path):
    from benchmarks.reproduce.harness.pages import MOST_ROWS, MOST_ROWS_BESIDE_A_CHART, markdown

    rows = [[f"row {number}", number] for number in range(MOST_ROWS + 1)]
    study.report = lambda results: [harness.Section("Long", ["what", "number"], rows)]
    text = markdown(study, harness.Results([]), tmp_path)
    assert f"[{len(rows)} rows](toy_1.csv)" in text
    assert "row 3" not in text
    lines = (tmp_path / "toy_1.csv").read_text(encoding="utf-8").splitlines()
    assert lines == ["what,number", *(f"row {number},{number}" for number in range(MOST_ROWS + 1))]
    chart = harness.Chart("toy", "x", "y", {"line": [(1.0, 2.0), (10.0, 4.0)]})
    drawn = [
        harness.Section("Drawn", ["what", "number"], rows[: MOST_ROWS_BESIDE_A_CHART + more], chart=chart)
        for more in (0, 1)
    ]
    study.report = lambda results: drawn
    text = markdown(study, harness.Results([]), tmp_path)
    assert text.count("row 3") == 1
    assert f"[{MOST_ROWS_BESIDE_A_CHART + 1} rows](toy_2.csv)" in text


def cells_of(folder):
    from benchmarks.reproduce.harness.results import read_cells

    return read_cells(folder / "cells.jsonl")


def test_resumes_where_it_stopped(harness, study, tmp_path):
    arguments = ["--output", str(tmp_path), "--commit", "abc"]
    harness.main([study], arguments)
    assert study.measured == ["a", "b", "c"]
    study.broken.clear()
    study.measured.clear()
    harness.main([study], [*arguments, "--resume"])
    assert study.measured == ["b"], "only what failed is measured again"
    rows = cells_of(tmp_path)
    assert [row["cell"] for row in rows] == ["a", "b", "c", "b"]
    assert all(row["commit"] == "abc" and row["machine"] and row["threads"] for row in rows)
    harness.main([study], [*arguments, "--report"])
    assert len(cells_of(tmp_path)) == 4
    harness.main([study], arguments)
    assert [row["cell"] for row in cells_of(tmp_path)] == ["a", "b", "c"], "without --resume it begins anew"


def test_a_line_that_was_cut_off_is_replaced(harness, study, tmp_path):
    arguments = ["--output", str(tmp_path)]
    harness.main([study], arguments)
    path = tmp_path / "cells.jsonl"
    path.write_text(path.read_text(encoding="utf-8")[:-20], encoding="utf-8")
    study.measured.clear()
    harness.main([study], [*arguments, "--resume"])
    assert study.measured == ["b", "c"]
    assert [row["cell"] for row in cells_of(tmp_path)] == ["a", "b", "b", "c"]


def test_cells_of_other_studies_stay(harness, study, tmp_path):
    harness.main([study], ["--output", str(tmp_path)])
    study.__name__ = "other"
    harness.main([study], ["--output", str(tmp_path)])
    assert [row["study"] for row in cells_of(tmp_path)] == ["toy"] * 3 + ["other"] * 3
    lines = (tmp_path / "cells.jsonl").read_text(encoding="utf-8").splitlines()
    assert any(line.startswith('["a", ') for line in lines), "what cells have in common stands above them"


def test_some_cells_only(harness, study, tmp_path):
    harness.main([study], ["--output", str(tmp_path), "--cells", "[bc]$"])
    assert study.measured == ["b", "c"]


def test_cells_side_by_side(harness, study, tmp_path):
    harness.main([study], ["--output", str(tmp_path), "--side-by-side", "3"])
    assert sorted(study.measured) == ["a", "b", "c"]
    assert sorted(row["cell"] for row in cells_of(tmp_path)) == ["a", "b", "c"]
    assert all("3 cells side by side" in row["threads"] for row in cells_of(tmp_path))


def test_no_cell_begins_after_the_time(harness, study, tmp_path):
    harness.main([study], ["--output", str(tmp_path), "--seconds", "1e-9"])
    assert study.measured == []


@pytest.mark.usefixtures("no_driver")
@pytest.mark.parametrize("device", ["cuda", "both"])
def test_without_a_gpu_nothing_is_tried(harness, study, tmp_path, device):
    with pytest.raises(SystemExit, match=rf"--device {device}: no NVIDIA driver"):
        harness.main([study], ["--output", str(tmp_path), "--device", device])
    assert study.measured == []


def test_report_side_by_side(harness, study, tmp_path, capsys):
    docs = tmp_path / "docs"
    docs.mkdir()
    page = docs / "page.md"
    page.write_text("before\n<!-- begin toy -->\nold\n<!-- end toy -->\nafter\n", encoding="utf-8")
    harness.main([study], ["--output", str(tmp_path), "--docs", str(docs)])
    text = (tmp_path / "toy.md").read_text(encoding="utf-8")
    assert text.startswith("# Toy (4.7, A-1)\n")
    assert "| cell | s, published | s, CPU | ratio |" in text
    assert "| a | 8.00 | 2.00 | 4.0 |" in text
    assert "| b | 8.00 | - | - |" in text, "a cell that failed is missing"
    assert "b (CPU): ValueError: too large" in text
    assert text in capsys.readouterr().out
    filled = page.read_text(encoding="utf-8")
    assert filled.startswith("before\n<!-- begin toy -->")
    assert filled.endswith("<!-- end toy -->\nafter\n")
    assert "| a | 8.00 | 2.00 | 4.0 |" in filled
    assert "old" not in filled
    assert (docs / "toy_1.svg").read_text(encoding="utf-8").startswith("<svg")
    from benchmarks.common import read_results

    assert read_results(tmp_path / "toy.json")["measured"][0]["cell"] == "a"


def test_results_of_two_devices(harness):
    def row(cell, device, **result):
        source = {"machine": "m", "threads": "1 thread", "date": "d", "commit": "c"}
        return {"study": "toy", "cell": cell, "device": device, **source, "result": result}

    results = harness.Results([row("a", "cuda", seconds=0.5), row("a", "cpu", seconds=4.0)])
    assert results.devices() == ["cpu", "cuda"]
    assert harness.beside(8.0, results, "a", lambda r: r["seconds"]) == ["8.00", "4.00", "2.0", "0.500", "16"]
    more = harness.beside(2.0, results, "a", lambda r: r["seconds"], "more")
    assert more == ["2.00", "4.00", "2.0", "0.500", "0.25"]
    assert harness.beside(None, results, "b", lambda r: r["seconds"], "none") == ["-", "-", "-"]
    results.rows.append(row("a", "cpu", seconds=2.0))
    assert results.value("a", "cpu", "seconds") == 2.0, "the last measurement counts"
    lines = results.lines([(10, "a"), (20, "b")], "seconds")
    assert lines == {"CPU": [(10, 2.0)], "GPU": [(10, 0.5)]}, "cells that were not measured have no point"
    assert harness.Results([]).lines([(10, "a")], "seconds") == {}


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0, "0"), (36193, "36193"), (0.00123, "0.00123"), (12.34, "12.3"), (3.1e12, "3.10e+12")],
)
def test_numbers(harness, value, text):
    assert harness.number(value) == text


@pytest.mark.parametrize(
    ("published", "measured", "text"),
    [(7.1, 0.05, "142"), (1.0, 2.0, "0.50"), (None, 1.0, "-"), (1.0, None, "-")],
)
def test_ratio(harness, published, measured, text):
    assert harness.ratio(published, measured) == text


@pytest.mark.parametrize("document", ["000", "001", "002", "003", "004"])
def test_published_tables_have_whole_rows(harness, document):
    source = harness.published(document)
    assert source.document == document
    assert source.what
    assert source.hardware
    for number, table in source.tables.items():
        assert table["title"], number
        assert table["rows"], number
        assert len(source.rows(number)) == len(table["rows"])


def test_published_figures_agree_with_one_another(harness):
    for table, cities in (("A-1", 500), ("A-2", 1000), ("A-3", 1500), ("A-4", 2000)):
        for row in harness.published("000").rows(table):
            pairs = cities * (cities - 1) // 2
            assert row["jobs"] == pytest.approx(pairs / (row["block"] * row["grid"]), rel=0.25, abs=1)
    for row in harness.published("003").rows("5.4 table 2"):
        assert row["cycles"] == 35 * row["iterations"]
        assert row["us"] == pytest.approx(row["cycles"] / 150, rel=1e-3)
        assert row["speedup"] == pytest.approx(row["concorde_us"] / row["us"], abs=0.01)
    for row in harness.published("004").rows("2"):
        assert row["speedup"] == pytest.approx(row["cpu_ms"] / row["gpu_ms"], rel=0.03)


def test_every_study_is_listed_and_has_its_tables(harness, capsys, tmp_path):
    from benchmarks.reproduce.__main__ import studies

    modules = studies()
    names = {path.stem for path in Path(harness.__file__).parents[1].glob("*.py")}
    assert {harness.name_of(study) for study in modules} == names - {
        "__init__",
        "__main__",
        "instances",
        "sentences",
    }
    for study in modules:
        assert set(study.TABLES) <= set(harness.published(study.DOCUMENT).tables)
        for device in ("cpu", "cuda"):
            reduced = [c.name for c in study.cells(harness.Setting(device, False, tmp_path))]
            full = [c.name for c in study.cells(harness.Setting(device, True, tmp_path))]
            assert len(set(full)) == len(full)
            assert len(reduced) <= len(full)
        assert study.report(harness.Results([])) is not None
    harness.main(modules, ["--list", "--output", str(tmp_path / "none")])
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == [harness.name_of(study) for study in modules]
    assert not (tmp_path / "none").exists()


def test_occupancy_is_the_published_one(harness, tmp_path):
    from benchmarks.reproduce import two_opt_occupancy as study

    harness.main([study], ["--output", str(tmp_path)])
    results = {row["cell"]: row["result"]["rows"] for row in cells_of(tmp_path)}
    for table in study.OCCUPANCY:
        for row, computed in zip(harness.published("000").rows(table), results[table], strict=True):
            assert computed[:3] == [row["block"], row["active_blocks"], row["occupancy_percent"]]
    for row, computed in zip(harness.published("000").rows("4.19"), results["partitions"], strict=True):
        assert computed == [row["cities"], row["ranges"], row["partitions"]]


def test_formulas_of_triples_are_wrong_where_published(harness, tmp_path):
    from benchmarks.reproduce import triple_numbers as study

    harness.main([study], ["--output", str(tmp_path)])
    wrong, triples = (row["result"] for row in cells_of(tmp_path))
    rows = harness.published("000").rows("4.23")
    assert wrong["wrong"] == [row["wrong"] for row in rows]
    assert wrong["i"] == [[row["i"]] * 2 for row in rows]
    assert triples["off"] == 0
    assert triples["formula_4_9"] == [[3, -2], [2, 0]]
    counted = sorted((i, j, k) for i in range(6) for j in range(i) for k in range(j))[1:11]
    assert [tuple(row[4:]) for row in triples["rows"]] == counted, "number 0 is (2, 1, 0)"
    theirs = [(row["i_then"], row["j_then"], row["k_then"]) for row in harness.published("000").rows("4.24")]
    assert [n for n, (a, b) in enumerate(zip(theirs, counted, strict=True), start=1) if a != b] == [4, 10]


@pytest.mark.parametrize("order", ["hardware", "random"])
def test_the_course_of_a_symmetric_descent_is_that_of_the_method(harness, order):
    import warptsp
    from benchmarks.reproduce import symmetric_orders as study
    from benchmarks.reproduce.instances import random_cities, unrounded

    problem = unrounded(random_cities(60))
    options = {"method": "symmetric-two-opt", "params": {"order": order}, "start": "given"}
    result = warptsp.solve(problem, **options, seed=1, threads=1, bound=False, stop=lambda state: False)
    for log in (False, True):
        points = study.course(problem, order, 20, log=log)
        lengths = [length for _, _, length in points]
        assert lengths[0] == pytest.approx(problem.length(range(60)))
        assert lengths == sorted(lengths, reverse=True)
        assert lengths[-1] == pytest.approx(result.length)
        assert points[-1][1] == result.counters["evaluations"]
    points = [(0, 0, 20.0), (3, 30, 11.0), (6, 60, 10.5), (8, 80, 10.0)]
    assert study.share_near(points) == 0.75


def test_figure_6_is_of_70_instances_and_figure_17_has_30_blocks(harness):
    from benchmarks.reproduce import symmetric_orders, symmetric_study

    sizes = symmetric_orders.instances()
    assert (len(sizes), min(sizes.values()), max(sizes.values())) == (70, 51, 4461)
    assert symmetric_orders.tabled() <= set(sizes)
    (row,) = harness.published("003").rows("figure 17")
    assert symmetric_study.blocks_of(2103, row["block"]) == row["blocks"]


def test_a_real_run(harness, tmp_path, monkeypatch):
    from benchmarks.reproduce import two_opt_sizes as study

    monkeypatch.setattr(study, "DESCENTS", (500,))
    monkeypatch.setattr(study, "PASSES", (6000,))
    harness.main([study], ["--output", str(tmp_path), "--threads", "1"])
    descent, single = (row["result"] for row in cells_of(tmp_path))
    assert descent["start_length"] > 10 * descent["length"] > 0
    assert descent["evaluations"] == descent["passes"] * 500 * 499 // 2
    assert descent["moves"] == descent["passes"] - 1
    assert single["passes"] == 1
    assert single["evaluations"] == 6000 * 5999 // 2
    text = (tmp_path / "two_opt_sizes.md").read_text(encoding="utf-8")
    assert f"| 500 | 0.253 | {harness.number(descent['seconds'])} |" in text
    assert "| 60000 | 1024 x 1 x 1757842 | 321001 | - | - |" in text, "what was not measured is missing"


@pytest.mark.parametrize(
    ("events", "needed"),
    [
        ([(0.1, 9.0, {}), (0.2, 9.0, {"passes": 0}), (0.3, 9.0, {"passes": 1}), (0.4, 9.0, {})], 3),
        ([(0.1, 9.0, {}), (0.2, 8.0, {}), (0.3, 8.0, {})], 2),
        ([(0.1, 9.0, {}), (60.0, 9.0, {}), (61.0, 9.0, {})], 2),
    ],
)
def test_a_run_that_is_not_counted_ends_with_its_first_pass(harness, monkeypatch, events, needed):
    import warptsp
    from benchmarks.reproduce.harness import measuring

    seen = []

    def solve(problem, *, callback, **options):
        for elapsed, length, counters in events:
            seen.append(elapsed)
            if callback(types.SimpleNamespace(elapsed=elapsed, length=length, counters=counters)):
                break

    monkeypatch.setattr(warptsp, "solve", solve)
    measuring._warm_up(None, {"method": "two-opt"})
    assert len(seen) == needed


@pytest.mark.parametrize(("device", "needed"), [("cuda", 3), ("cpu", 1)])
def test_a_run_that_is_not_counted_waits_for_the_kernels_of_a_gpu(harness, monkeypatch, device, needed):
    import warptsp
    from benchmarks.reproduce.harness import measuring

    # As on a fresh machine: the CPU alone, then the CPU until the kernels were there, then the GPU.
    ends = [("cpu", {}), ("cuda:0", {"seconds_on_cpu": 0.3}), ("cuda:0", {}), ("cuda:0", {})]
    left = iter(ends)

    def solve(problem, **options):
        on, counters = next(left)
        return types.SimpleNamespace(device=on, counters=counters)

    monkeypatch.setattr(warptsp, "solve", solve)
    measuring._warm_up(None, {"method": "two-opt", "device": device})
    assert len(list(left)) == len(ends) - needed


def test_a_run_that_the_cpu_began_is_measured_again(harness, monkeypatch, tmp_path):
    import warptsp
    from benchmarks.reproduce.harness import measuring

    given = warptsp.Problem.from_points([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0]])
    found = warptsp.solve(given, device="cpu", bound=False)
    left = iter([("cuda:0", {}), ("cpu", {}), ("cuda:0", {"seconds_on_cpu": 0.3}), ("cuda:0", {"passes": 7})])

    def solve(problem, **options):
        device, counters = next(left)
        return dataclasses.replace(found, device=device, counters=counters)

    monkeypatch.setattr(warptsp, "solve", solve)
    setting = harness.Setting("cuda", True, tmp_path, None, "", 1)
    assert measuring.run(given, setting, method="two-opt")["passes"] == 7


def test_long_searches_come_first_where_several_run_at_once(harness, tmp_path):
    from benchmarks.reproduce import neighbor_search as study

    def names(side_by_side):
        return [c.name for c in study.cells(harness.Setting("cuda", True, tmp_path, None, "", side_by_side))]

    assert names(1)[0] == "eil51, 2-opt"
    assert names(16)[0] == "d18512, 2-opt"
    assert sorted(names(16)) == sorted(names(1))


def test_the_time_of_all_passes_follows_from_the_first(harness):
    from benchmarks.reproduce import two_opt_launches as study

    def row(cell, seconds, passes):
        source = {"machine": "m", "threads": "1 thread", "date": "d", "commit": "c"}
        result = {"seconds": seconds, "passes": passes, "kernel_seconds": seconds - 0.1, "length": 7}
        return {"study": "two_opt_launches", "cell": cell, "device": "cuda", **source, "result": result}

    rows = [row("500 planned", 0.1, 600), row("500 1024x2", 0.5, 200), row("500 1024x122", 0.3, 600)]
    section = next(s for s in study.report(harness.Results(rows)) if s.title.startswith("Table A-1"))
    total = {line[0]: line[7] for line in section.rows}
    assert total == {"1024 x 2 x 61": "1300", "1024 x 122 x 1": "300"}, "the set-up counts once"
    lengths = {line[0]: line[-1] for line in section.rows}
    assert lengths == {"1024 x 2 x 61": "-", "1024 x 122 x 1": "7"}, "first passes end at no local optimum"


def test_the_pages_are_what_the_cells_give(harness, tmp_path):
    from benchmarks.reproduce.__main__ import studies

    pages = REPOSITORY / "docs" / "reproduction"
    copies = tmp_path / "docs"
    shutil.copytree(pages, copies)
    output = tmp_path / "output"
    output.mkdir()
    shutil.copyfile(pages / "cells.jsonl", output / "cells.jsonl")
    harness.main(studies(), ["--report", "--output", str(output), "--docs", str(copies)])
    assert sorted(path.name for path in copies.iterdir()) == sorted(path.name for path in pages.iterdir())
    for page in pages.iterdir():
        assert (copies / page.name).read_bytes() == page.read_bytes(), (
            f"{page.name}: run python -m benchmarks.reproduce --report with its cells, and --docs"
        )


def test_chart_places_points(harness):
    chart = harness.Chart("t <1>", "n", "s", {"ours": [(1.0, 1.0), (100.0, 100.0)]})
    svg = chart.svg()
    assert "t &lt;1&gt;" in svg
    from benchmarks.chart import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH

    assert f'cx="{LEFT}.0" cy="{HEIGHT - BOTTOM}.0"' in svg
    assert f'cx="{WIDTH - RIGHT}.0" cy="{TOP}.0"' in svg
    assert harness.Chart("t", "n", "s", {}).empty
    for points in ([(5.0, 5.0)], [(3.0, 4.0), (7.0, 4.0)], [(math.pi, 1e-5), (1e6, 2e5)]):
        for log in (True, False):
            assert "nan" not in harness.Chart("t", "n", "s", {"a": points}, log, log).svg()
