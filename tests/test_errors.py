"""The exceptions: what they say, and what else they are."""

from __future__ import annotations

import pickle

import pytest

from warptsp import errors


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "it is wrong"),
        ({"file": "a.tsp"}, "a.tsp: it is wrong"),
        ({"file": "a.tsp", "line": 3, "keyword": "TYPE"}, "a.tsp:3: it is wrong"),
        ({"line": 3}, "line 3: it is wrong"),
    ],
)
def test_a_parse_error_says_where(arguments, text):
    error = errors.ParseError("it is wrong", **arguments)
    assert str(error) == text
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == text
    assert (copy.file, copy.line, copy.keyword) == (error.file, error.line, error.keyword)


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("InvalidProblem", ValueError),
        ("ParseError", errors.InvalidProblem),
        ("InvalidTour", ValueError),
        ("InvalidOption", ValueError),
        ("UnsupportedProblem", errors.WarpTSPError),
        ("BackendUnavailable", RuntimeError),
        ("DeviceOutOfMemory", MemoryError),
        ("OutputError", OSError),
    ],
)
def test_each_error_is_also_what_python_programs_expect(name, base):
    error = getattr(errors, name)("message")
    assert isinstance(error, errors.WarpTSPError)
    assert isinstance(error, base)
    assert str(error) == "message"
