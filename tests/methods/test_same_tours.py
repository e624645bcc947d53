"""Searches find the tours that they found before; `same_tours.py` says how to record them again."""

import pytest
import same_tours

SEARCHES = same_tours.every()


def assert_the_same(searches):
    kind, recorded = same_tours.recorded()
    if kind != same_tours.KIND:
        pytest.skip(f"recorded on {kind}; the C library of {same_tours.KIND} may round otherwise")
    found = {search.name: same_tours.hash_of(search) for search in searches}
    other = [name for name, hashed in found.items() if recorded[name] != hashed]
    assert not other, f"{len(other)} of {len(found)} searches find other tours than recorded"


def test_the_record_is_of_these_searches():
    _, recorded = same_tours.recorded()
    assert list(recorded) == [search.name for search in SEARCHES]
    assert len(SEARCHES) > 200
    assert len(set(recorded.values())) > 0.8 * len(SEARCHES)  # else the searches were too easy to tell


@pytest.mark.parametrize("first", range(4))
def test_the_same_tours(first):
    assert_the_same([search for search in SEARCHES if not search.slow][first::4])


@pytest.mark.slow
def test_the_same_long_tours():
    assert_the_same([search for search in SEARCHES if search.slow])
