"""What is drawn while a search runs."""

import logging

import numpy as np
import pytest

from warptsp.cli import _display
from warptsp.cli._display import NoDisplay, PlainDisplay, RichDisplay, describe, make_display
from warptsp.progress import Progress


def event(elapsed=1.0, length=200, kicks=10, phase="search", time_limit=None, known_length=None):
    return Progress(
        elapsed=elapsed,
        length=length,
        kicks=kicks,
        improved=True,
        phase=phase,
        time_limit=time_limit,
        kick_limit=None,
        known_length=known_length,
        counters={},
        tour=lambda: np.arange(3, dtype=np.int32),
    )


def test_a_line_tells_what_is_known():
    assert describe(event()).split() == ["1.0", "s", "length", "200", "10", "kicks", "(10/s)"]
    line = describe(event(time_limit=5, known_length=100, phase="start tour", kicks=0), waited=0.5)
    assert "1.5 s" in line
    assert "gap 100.000 %" in line
    assert "start tour" in line
    assert "3.5 s left" in line
    assert "kicks" not in line
    assert "0.0 s left" in describe(event(time_limit=1), waited=9)


def test_plain_lines_come_less_and_less_often(capsys):
    display = PlainDisplay()
    with display:
        for tenth in range(200):
            display(event(elapsed=tenth / 10))
    lines = capsys.readouterr().err.splitlines()
    assert [float(line.split()[0]) for line in lines] == [0.0, 1.0, 3.0, 8.0, 13.0, 18.0]


def test_rich_draws_once_the_run_is_not_a_quick_one(monkeypatch, capsys):
    with RichDisplay() as quick:
        quick(event())
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(_display, "QUICK", 0.0)
    with RichDisplay() as display:
        display.phase("candidate lists")
        assert "candidate lists ..." in str(display._line())
        display(event())
        assert "length 200" in str(display._line())


@pytest.mark.parametrize(
    ("mode", "kind"),
    [("auto", PlainDisplay), ("plain", PlainDisplay), ("rich", RichDisplay), ("none", NoDisplay)],
)
def test_modes(mode, kind, capsys):
    display = make_display(mode)
    assert type(display) is kind
    level = logging.getLogger("warptsp").level
    with display:
        logging.getLogger("warptsp.solver").warning("careful")
    assert logging.getLogger("warptsp").level == level
    assert capsys.readouterr().err == "warptsp: warning: careful\n"
