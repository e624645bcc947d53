"""The exceptions: what they say, and what else they are."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest
from error_messages import GAP, is_known, matches, messages, texts

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


def test_every_message_is_on_the_page_of_errors():
    page = (Path(__file__).parents[1] / "docs" / "errors.md").read_text(encoding="utf-8")
    rows = [re.split(r"(?<!\\)\|", line)[1] for line in page.splitlines() if line.startswith("| `")]
    entries = [entry.replace("\\|", "|") for row in rows for entry in re.findall("`(.+?)`", row)]
    found = messages()
    missing = [m for m in found if not any(matches(entry, m.template) for entry in entries)]
    assert not missing, "docs/errors.md lacks\n" + "\n".join(
        f"{message.place}: {message.template.replace(GAP, '...')}" for message in missing
    )
    known = [*texts(), *(message.template for message in found)]
    stale = [entry for entry in entries if not is_known(entry, known)]
    assert not stale, f"docs/errors.md has messages that no line of the source has: {stale}"
