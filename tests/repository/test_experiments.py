"""Measured data: every experiment is whole, and every id that code and pages cite is there."""

import json
import re
from datetime import date
from importlib import import_module
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
LINES = (REPOSITORY / "benchmarks" / "experiments.jsonl").read_text(encoding="utf-8").splitlines()
ROWS = [json.loads(line) for line in LINES]
ID = re.compile(r"\bEXP-\d+\b")


def test_every_line_has_its_columns_and_the_next_id():
    keys = ["id", "date", "commit", "area", "change", "expected", "measured", "verdict"]
    for number, row in enumerate(ROWS, start=1):
        assert row["id"] == f"EXP-{number:03}", f"line {number}"
        assert list(row) == keys, row["id"]
        date.fromisoformat(row["date"])
        assert re.fullmatch(r"[0-9a-f]{7,40}", row["commit"]), row["id"]
        assert all(row[key].strip() for key in keys if key != "expected"), row["id"]


def sources():
    """The text files of the repository, where they are known: tests may run on an unpacked archive."""
    found = [*REPOSITORY.glob("*.md")]
    for folder in ("src", "docs", "benchmarks", "tests"):
        for ending in ("py", "h", "cpp", "cu", "md", "rst"):
            found += (REPOSITORY / folder).rglob(f"*.{ending}")
    return [path for path in found if path != Path(__file__) and "_build" not in path.parts]


def test_what_is_cited_is_there():
    known = {row["id"] for row in ROWS}
    cited = {
        (path.relative_to(REPOSITORY), name)
        for path in sources()
        for name in ID.findall(path.read_text(encoding="utf-8"))
    }
    assert {path.name for path, _ in cited} >= {"tuning.py", "architecture.md"}
    missing = sorted(f"{path}: {name}" for path, name in cited if name not in known)
    assert not missing


def test_constants_have_ids_instead_of_measurements():
    for place in ("methods/lk/tuning.py", "backends/cuda/tuning.py"):
        text = (REPOSITORY / "src" / "warptsp" / place).read_text(encoding="utf-8")
        for number, line in enumerate(text.splitlines(), start=1):
            comment = line.partition("#")[2].strip()
            assert not re.search(r"\b20\d\d-\d\d-\d\d\b|\d %", comment), f"{place}:{number}: {comment}"


RESULTS = sorted(REPOSITORY.glob("docs/*/*.json"))


def test_results_are_compact_and_lose_nothing(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(REPOSITORY)
    from benchmarks.common import read_results, write_results

    given = {
        "rows": [{"a": 1, "b": [{"c": 2.5}, {"c": None}]}, {"a": 2, "b": []}],
        "mixed": [{"a": 1}, {"b": 2}, 3],
        "empty": [{}, {}],
        "one": [{"a": 1}],
    }
    write_results(tmp_path / "r.json", given)
    assert read_results(tmp_path / "r.json") == given
    assert '{"columns": ["a", "b"], "rows": [' in (tmp_path / "r.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.name)
def test_results_are_as_scripts_write_them(path, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(REPOSITORY)
    from benchmarks.common import read_results, write_results

    write_results(tmp_path / "r.json", read_results(path))
    assert (tmp_path / "r.json").read_bytes() == path.read_bytes()


def test_pages_have_the_tables_of_their_results(monkeypatch):
    monkeypatch.syspath_prepend(REPOSITORY / "benchmarks")
    common, device_choice, gpu, time_limit = map(
        import_module, ("common", "device_choice", "gpu", "time_limit")
    )
    pages = REPOSITORY / "docs" / "performance"

    def results(name):
        return common.read_results(pages / f"{name}.json")["results"]

    def by_limit(table):
        rows = table.splitlines()[2:]
        return {re.match(r"\| (\S+) \|.* in (\S+) s \|", row).groups(): row for row in rows}

    searches = by_limit(gpu.bar_table(results("gpu_search")["bars"]))
    sharper = by_limit(gpu.bar_table(results("gpu_sharper")["bars"], 4))
    for page, part in (
        *(("time_limit", line) for line in time_limit.summary(results("time_limit")).split("\n\n")),
        ("device_choice", device_choice.lk_tables(results("device_choice")["lk"])),
        ("device_choice", device_choice.other_table(results("device_choice")["others"])),
        *(("gpu", row) for row in {**searches, **sharper}.values()),
    ):
        text = (pages / f"{page}.md").read_text(encoding="utf-8")
        assert " ".join(part.split()) in " ".join(text.split()), page
