"""The systems of the documents: a call by number is the call that is spelled out."""

from pathlib import Path

import numpy as np
import pytest
from calls import invoke
from instances import whole_points

import warptsp
from warptsp import InvalidOption, Problem, papers
from warptsp.methods import METHODS, get_method
from warptsp.methods.parameters import parse_params
from warptsp.papers import DOCUMENTS, documents_of, system_of

PAGES = Path(__file__).parents[2] / "docs" / "reproduction"
ALGORITHM_1 = {
    "neighbors": 40,
    "improvement": "best",
    "restart": "pass",
    "edges": "next",
    "acceptance": "always",
    "segment": 0,
    "iterations": 1.0,
}
DESCENT = {"neighbors": 40, "improvement": "best", "edges": "next", "moves": "one"}
SPELLED_OUT = {
    ("000", "two-opt"): {"start": "given"},
    ("000", "three-opt"): {"start": "given"},
    ("000", "swap"): {"start": "given"},
    ("000", "relocate"): {"start": "given"},
    ("001", "swap"): {"start": "given"},
    ("002", "hill-climbing"): {
        "params": {"version": "global-matrix", "climbers": 100_000, "restart": "random"}
    },
    ("003", "symmetric-two-opt"): {"start": "given", "params": {"order": "threads"}},
    ("003", "symmetric-annealing"): {"start": "given", "params": {"order": "threads", "chains": 1}},
    ("004", "ils"): {"start": "nearest-neighbor", "params": ALGORITHM_1},
    ("004", "neighbor-two-opt"): {"start": "nearest-neighbor", "params": DESCENT},
    ("004", "neighbor-three-opt"): {"start": "nearest-neighbor", "params": DESCENT},
}


def instance(n: int = 30) -> Problem:
    return Problem.from_points(whole_points(n, 5), "EUC_2D")


def test_every_system_is_here():
    systems = [(document.number, name) for document in DOCUMENTS.values() for name in document.systems]
    assert systems == list(SPELLED_OUT)


@pytest.mark.parametrize(("number", "method"), SPELLED_OUT)
def test_a_document_is_the_call_that_is_spelled_out(number, method):
    kicks = 50 if method == "hill-climbing" else None
    call = {"kicks": kicks, "seed": 3, "device": "cpu", "threads": 1}
    expected = warptsp.solve(instance(), method=method, **SPELLED_OUT[number, method], **call)
    first = next(iter(DOCUMENTS[number].systems)) == method
    found = warptsp.solve(instance(), document=number, **({} if first else {"method": method}), **call)
    assert np.array_equal(found.tour, expected.tour)
    for same in ("method", "params", "start", "kicks"):
        assert getattr(found, same) == getattr(expected, same)
    other = warptsp.solve(instance(), method=method, start="greedy" if kicks is None else None, **call)
    assert found.counters != other.counters  # so the comparison can tell


@pytest.mark.parametrize(
    ("number", "method", "gpu"),
    [
        ("000", "two-opt", {"block": 1024}),
        ("001", "swap", {"version": 8}),
        ("002", "hill-climbing", {"version": "tuned"}),
    ],
)
def test_a_gpu_runs_the_version_of_the_document(monkeypatch, number, method, gpu):
    monkeypatch.setattr(papers, "resolve_device", lambda device, *_: {"auto": "cuda:0"}.get(device, device))
    ((name, value),) = gpu.items()
    call = system_of(number, instance(), None, None, None, "auto", None)
    assert (call.method, call.params[name], call.device) == (method, value, "cuda:0")
    asked = system_of(number, instance(), method, {name: None}, "random", "cuda:1", None)
    assert (asked.params[name], asked.start, asked.device) == (None, "random", "cuda:1")
    assert system_of(number, instance(), None, None, None, "cpu", None).params.get(name) != value
    # What its code cannot do runs on the CPU, unless a GPU is asked for by name.
    for other in (
        Problem.from_points(whole_points(30, 5) % 90, "GEO"),
        Problem.from_points(whole_points(30, 5), "EUC_2D", open=warptsp.OpenPath()),
    ):
        lacks = DOCUMENTS[number].systems[method].gpu_plane
        call = system_of(number, other, None, None, None, "auto", None)
        assert (call.device, call.params.get(name) == value) == (
            ("cpu", False) if lacks else ("cuda:0", True)
        )
        assert system_of(number, other, None, None, None, "cuda", None).device == "cuda"


@pytest.mark.gpu
@pytest.mark.parametrize("number", DOCUMENTS)
def test_documents_run_on_a_gpu(number: str) -> None:
    kicks = 50 if number == "002" else None
    found = warptsp.solve(instance(200), document=number, device="cuda", kicks=kicks)
    assert found.device == "cuda:0"
    (system, *_) = DOCUMENTS[number].systems.values()
    assert found.params == {**system.params, **system.gpu}


def test_what_is_given_comes_first():
    call = {"device": "cpu", "document": "004", "method": "neighbor-two-opt"}
    found = warptsp.solve(instance(), params={"passes": 1}, start="random", **call)
    assert found.counters["passes"] == 1
    assert found.start == "random"


def test_merged_tours_come_before_the_start_of_the_document():
    problem = instance()
    tours = [np.random.default_rng(seed).permutation(30) for seed in (1, 2)]
    found = warptsp.solve(problem, document="001", merge=tours, bound=False, prove=False)
    assert found.length <= min(map(problem.length, tours))
    spelled_out = warptsp.solve(
        problem, method="swap", merge=tours, params=dict(found.params), bound=False, prove=False
    )
    assert found.tour.tolist() == spelled_out.tour.tolist()
    with pytest.raises(InvalidOption, match="start: 'given' and merge"):
        warptsp.solve(problem, document="001", start="given", merge=tours)


def test_what_a_document_does_not_have():
    for options, message in (
        ({"document": "005"}, r"document: '005' is unknown; there are 000, 001, 002, 003, 004"),
        ({"document": 4}, r"document: 4 is unknown"),
        ({"document": "004", "method": "lk"}, r"document 004 does not have method 'lk'; it has ils"),
        ({"document": "001", "method": ["swap"]}, r"document 001 does not have method \['swap'\]"),
        ({"document": "001", "method": "ils"}, r"document 001 does not have method 'ils'; it has swap"),
        (
            {"document": "000", "params": METHODS["two-opt"].params()},
            r"document 000: params is a TwoOptParams; give those that shall differ by name",
        ),
    ):
        with pytest.raises(InvalidOption, match=message):
            warptsp.solve(instance(), device="cpu", **options)


def test_every_published_method_says_where_it_is_from():
    for name, method in METHODS.items():
        assert bool(documents_of(name)) == method.run.__module__.startswith("warptsp.papers.")
    for document in DOCUMENTS.values():
        for name, system in document.systems.items():
            for params in (system.params, system.cpu, system.gpu):
                parse_params(get_method(name).params, name, params)


def test_the_command_lists_and_runs_them(tmp_path):
    listed = invoke("methods").stdout
    for document in DOCUMENTS.values():
        assert (
            f"--document {document.number}   {document.authors} ({document.year}): {document.title}" in listed
        )
        assert document.metric is None or listed.count(f" --metric {document.metric}") >= len(
            document.systems
        )
    assert "    --method symmetric-two-opt --start given --param order=threads --metric EXACT_2D\n" in listed
    assert "ils          iterated local search with 3-opt along neighbour lists; 004: J. Fosin" in listed
    path = tmp_path / "some.csv"
    np.savetxt(path, whole_points(30, 5), fmt="%d", delimiter=",", header="x,y", comments="")
    done = invoke("solve", path, "--document", "000", "--json", "-q")
    assert done.exit_code == 0, done.output
    assert '"method": "two-opt"' in done.stdout
    assert '"start": "given"' in done.stdout


def test_each_page_begins_with_its_command_and_a_drawing_and_is_in_the_index():
    index = (PAGES / "index.md").read_text(encoding="utf-8")
    for number in DOCUMENTS:
        _, _, how, _, drawing, *_ = (PAGES / f"{number}.md").read_text(encoding="utf-8").splitlines()
        assert how.startswith(f"`warptsp solve FILE --document {number}` runs it")
        assert drawing == "```text"
        assert f"]({number}.md)" in index
