"""Files from anywhere: what is in `corpus`, and mutants of it, end in a valid result or in one line."""

import itertools
import sys

import pytest
from fuzzing import CORPUS, FILES, check_command, check_file, mutants

from warptsp.io import load

SEED = 14
MUTANTS = 400
COMMANDS = 60
MEMORY = 1 << 30  # bytes that all of it may add: no file is larger than 200 kB


@pytest.fixture(scope="module")
def home():
    return load(CORPUS / "places.csv")


def peak() -> int:
    resource = pytest.importorskip("resource", reason="only Unix tells a process how much memory it had")
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return used if sys.platform == "darwin" else 1024 * used


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_corpus(file, home):
    before = peak()
    check_file(file, home)
    assert peak() - before < MEMORY


def of_mutants(seed, count, folder, check):
    """What a check finds of the first mutants, each in a file; an error names its mutant."""
    for number, (name, data) in enumerate(itertools.islice(mutants(seed), count)):
        (folder / name).write_bytes(data)
        try:
            yield check(folder / name)
        except Exception as error:
            error.add_note(f"mutant {number} of seed {seed}, {name}: {data[:2000]!r}")
            raise


def test_mutants(tmp_path, home):
    before = peak()
    assert len(list(of_mutants(SEED, MUTANTS, tmp_path, lambda path: check_file(path, home)))) == MUTANTS
    assert peak() - before < MEMORY


def test_mutants_on_the_command_line(tmp_path, capsys):
    found = of_mutants(SEED + 1, COMMANDS, tmp_path, lambda path: check_command(path, capsys.readouterr))
    assert set(found) == {0, 2}
