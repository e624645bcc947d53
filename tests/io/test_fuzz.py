"""Files from anywhere: what is in `corpus`, and mutants of it, end in a valid result or in one line."""

from __future__ import annotations

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


def test_mutants(tmp_path, home):
    before = peak()
    for number, (name, data) in enumerate(itertools.islice(mutants(SEED), MUTANTS)):
        path = tmp_path / name
        path.write_bytes(data)
        try:
            check_file(path, home)
        except Exception as error:
            error.add_note(f"mutant {number} of seed {SEED}, {name}: {data[:2000]!r}")
            raise
    assert peak() - before < MEMORY


def test_mutants_on_the_command_line(tmp_path, capsys):
    statuses = set()
    for number, (name, data) in enumerate(itertools.islice(mutants(SEED + 1), COMMANDS)):
        path = tmp_path / name
        path.write_bytes(data)
        try:
            statuses.add(check_command(path, capsys.readouterr))
        except Exception as error:
            error.add_note(f"mutant {number} of seed {SEED + 1}, {name}: {data[:2000]!r}")
            raise
    assert statuses == {0, 2}
