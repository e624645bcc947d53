"""What the pages of docs/reproduction say in words follows from the measured cells."""

import statistics

import pytest


@pytest.fixture(scope="module")
def sentences(reproduce):
    from benchmarks.reproduce import sentences

    return sentences


@pytest.fixture(scope="module")
def measured(sentences):
    return sentences.Measured()


def test_sentences_follow_from_the_cells(sentences, measured):
    wrong = {page: sentences.stale(measured, page) for page in sentences.SENTENCES}
    assert not any(wrong.values()), f"run python -m benchmarks.reproduce.sentences: {wrong}"


def test_algorithm_1_is_the_same_on_both_devices_and_as_fast_as_published(sentences, measured):
    """The same tours after the same passes in every cell that both have, and the document's speed-ups."""
    results = measured.studies["iterated_passes"]
    for name in measured.names("iterated_passes", "cpu"):
        cpu, gpu = (measured.get("iterated_passes", name, device) for device in ("cpu", "cuda"))
        for figure in ("length", "kicks", "passes", "moves", "evaluations"):
            assert cpu[figure] == gpu[figure], f"{name}: {figure}"
    row = next(row for row in sentences.published("004").rows("3") if row["search"] == "ils 0.1 n")
    gains = sentences.gains_of(results, "0.1")
    assert len(gains) == len(measured.plane)
    assert statistics.mean(gain for _, _, gain in gains) >= row["speedup_mean"]
    assert max(gain for _, _, gain in gains) >= row["speedup_max"]
    assert (
        min(
            gain
            for kicks in ("0.1", "1", "10")
            for _, n, gain in sentences.gains_of(results, kicks)
            if n >= 2000
        )
        > 1
    )


def test_sentences_about_what_is_missing_are_true(sentences, measured):
    """Of what a page calls not measured there are no cells; and every full row of 004 is of all instances."""
    for device in ("cpu", "cuda"):
        for row in sentences.published("003").rows("6.4.3 table 1")[-3:]:
            name = f"{row['instance']} annealing 1"
            assert measured.studies["symmetric_table"].get(name, device) is None
    results = measured.studies["neighbor_search"]
    for device in ("cpu", "cuda"):
        counts = {}
        for name in measured.names("neighbor_search", device):
            search = name.split(", ", 1)[1]
            if ", passes, " in search:  # these have a table of their own, which says of how many
                continue
            counts[search] = counts.get(search, 0) + (results.get(name, device) is not None)
        whole = {counts.pop(search) for search in list(counts) if "whole GPU" in search}
        assert whole <= {sum(n >= 2000 for _, n in measured.plane)}
        assert set(counts.values()) == {len(measured.plane)}


def test_what_tables_give_once_is_the_same_on_both_devices(measured):
    for study, figure in (
        ("two_opt_sizes", "passes"),
        ("two_opt_starts", "passes"),
        ("three_opt_sizes", "passes"),
        ("symmetric_hardware", "iterations"),
    ):
        both = set(measured.names(study, "cpu")) & set(measured.names(study, "cuda"))
        names = {name for name in both if not name.startswith("pass ")}  # of these a GPU makes ten
        assert names
        for name in names:
            cpu, gpu = (measured.get(study, name, device)[figure] for device in ("cpu", "cuda"))
            assert cpu == gpu, f"{study}: {name}"
