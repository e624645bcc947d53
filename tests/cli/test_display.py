"""What is drawn while a search runs."""

import logging
import os
import re
import select
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from calls import event
from processes import begin_python

from warptsp.cli import _display
from warptsp.cli._display import NoDisplay, PlainDisplay, RichDisplay, describe, fitting, make_display
from warptsp.describe import Rate, short
from warptsp.progress import WorkerProgress

try:
    import fcntl
    import termios
except ImportError:
    fcntl = termios = None

needs_terminal = pytest.mark.skipif(termios is None, reason="needs the terminals of POSIX")


def describe_briefly(*given):
    return describe(*given, brief=True)


def test_a_line_tells_what_is_known():
    assert describe(event()) == ["    1.0 s", "length 200", "10 kicks", "cpu"]
    begun = event(time_limit=5, known_length=100, known_length_is_optimal=True, phase="start tour", kicks=0)
    told = ["    1.5 s", "length 200", "gap 100.000 %", "3.5 s left", "start tour", "cpu"]
    assert describe(begun, waited=0.5) == told
    assert "0.0 s left" in describe(event(time_limit=1), waited=9)
    assert "2 min 57 s left" in describe(event(time_limit=178.9))
    assert "17 min left" in describe(event(time_limit=1000))
    assert "2.8 h left" in describe(event(time_limit=10_000))
    assert "12345 kicks (2.5 k/s)" in describe(event(kicks=12345), 2500.0)
    assert "7 moves (3/s)" in describe(event(kicks=0, counters={"moves": 7}), 3.0)
    assert describe(event(device="cuda:0,1"))[-1] == "cuda:0,1"
    assert describe(event(length=17429787.55, unit="m"))[1] == "length 17 429.79 km"
    assert describe_briefly(event(length=1.1044051e8))[1] == "length 110440510"


def test_the_gap_says_what_it_is_over():
    def gap(**given):
        return describe(event(**given))[2]

    assert gap(known_length=100) == "100.000 % over the best known length"
    assert gap(known_length=250) == "20.000 % under the best known length"
    assert gap(known_length=200, known_length_is_optimal=True) == "gap 0 %"
    assert gap(start_length=250) == "20.00 % under the start tour"
    assert gap(start_length=250, known_length=160, known_length_is_optimal=True) == "gap 25.000 %"
    assert gap(start_length=200) == gap(start_length=0) == gap() == "10 kicks"


def test_a_lower_bound_takes_the_place_of_the_start_tour():
    assert describe(event(lower_bound=160, start_length=250))[2] == "at most 25.000 % above the shortest"
    for bound, rounded_up in ((150, "33.334 %"), (199.9999999, "0.001 %")):
        assert describe(event(lower_bound=bound))[2] == f"at most {rounded_up} above the shortest"
    known = describe(event(lower_bound=160, known_length=200, known_length_is_optimal=True))
    assert known[2:4] == ["gap 0 %", "at most 25.000 % above the shortest"]
    assert describe_briefly(event(lower_bound=160, start_length=250))[2] == "at most 25.000 % too long"
    optimal = {"known_length": 100, "known_length_is_optimal": True}
    assert "gap 100.000 %" in describe_briefly(event(lower_bound=90, **optimal))


def test_the_end_of_a_number_of_kicks_is_estimated():
    assert "about 9.0 s left" in describe(event(kick_limit=100), 10.0)
    assert "4.0 s left" in describe(event(kick_limit=100, time_limit=5), 10.0)
    assert describe(event(kick_limit=100)) == describe(event())


def test_workers_of_a_cluster_stand_for_the_device():
    workers = {"a": WorkerProgress("cuda:0"), "b": WorkerProgress("cpu"), "c": WorkerProgress("cpu")}
    assert describe(event(device="cluster"))[-1] == "cluster"
    assert describe(event(device="cluster", workers=workers))[-1] == "3 workers (cpu, cuda:0)"
    assert describe(event(device="cluster", workers={"a": WorkerProgress("cpu")}))[-1] == "1 worker (cpu)"


def test_a_narrow_terminal_gets_what_matters_most():
    parts = ["    1.0 s", "length 200", "gap 1.000 %", "10 kicks"]
    assert fitting(parts, 80) == "    1.0 s  length 200  gap 1.000 %  10 kicks"
    assert fitting(parts, 43) == "    1.0 s  length 200  gap 1.000 %"
    assert fitting(parts, 21) == "    1.0 s  length 200"
    assert fitting(parts, 20) == fitting(parts, 3) == "length 200"


def test_80_columns_do_for_all_that_matters():
    common = {"elapsed": 99.9, "time_limit": 499.0, "kicks": 123456, "phase": "population"}
    floating = event(length=72.1198880123, start_length=90.0, device="cuda:0", **common)
    known = event(
        length=1234567890, known_length=1234560000, known_length_is_optimal=True, device="cpu", **common
    )
    line = "99.9 s  length 72.119888  19.87 % under start  6 min 39 s left  12.3 k kicks/s"
    assert fitting(describe_briefly(floating, 12345.0), 79) == line
    assert fitting(describe_briefly(floating, 12345.0), 99).endswith("cuda:0  population")
    line = "99.9 s  length 1234567890  gap 0.001 %  6 min 39 s left  12.3 k kicks/s  cpu"
    assert fitting(describe_briefly(known, 12345.0), 79) == line
    assert "1.000 % over best known" in describe_briefly(event(length=101, known_length=100))


def test_short_numbers():
    numbers = [0.4, 950, 999.4, 999.6, 12_345, 999_600, 4_560_000, 2.5e9]
    assert ", ".join(map(short, numbers)) == "0, 950, 999, 1 k, 12.3 k, 1 M, 4.56 M, 2.5 G"


def test_crossover_has_no_rate_of_kicks():
    """It makes none, and its time does not count for those that come after it."""
    rate, told = Rate(), []
    for second, phase in enumerate(["population"] * 3 + ["crossover"] * 9 + ["search"] * 2):
        kicks = 70 * min(second, 2) + 70 * max(second - 11, 0)
        now = event(elapsed=float(second), kicks=kicks, phase=phase)
        told.append(rate(now))
        line = "  ".join(_display.describe(now, told[-1]))
        assert "0/s" not in line.replace("70/s", "")
        assert phase != "crossover" or f"{kicks} kicks  crossover" in line
    assert told == [None, 70, 70, *[None] * 9, 70, 70]


def test_the_rate_is_that_of_the_last_seconds():
    rate = Rate()
    assert rate(event(elapsed=60.0, kicks=0)) is None
    assert rate(event(elapsed=100.0, kicks=0)) is None  # 40 s of set-up do not count
    for second in range(1, 10):
        assert rate(event(elapsed=100.0 + second, kicks=10 * second)) == 10.0
    for second in range(10, 20):
        last = rate(event(elapsed=100.0 + second, kicks=90 + 100 * (second - 9)))
    assert last == 100.0
    assert rate(event(elapsed=121.0, kicks=50)) is None  # a second method


def test_plain_lines_come_less_and_less_often(capsys):
    display = PlainDisplay()
    with display:
        for tenth in range(200):
            display(event(elapsed=tenth / 10))
        display(event(elapsed=3600.0))
        for second in range(3600, 3721):
            display(event(elapsed=float(second)))
    lines = capsys.readouterr().err.splitlines()
    seconds = [0.0, 1.0, 3.0, 8.0, 13.0, 18.0, 3600.0, 3660.0, 3720.0]
    assert [float(line.split()[0]) for line in lines] == seconds


def test_phases_count_from_where_the_search_does(capsys):
    began = time.monotonic() - 30.0
    with PlainDisplay() as display:
        logging.getLogger("warptsp.run.phases").debug("candidate lists", extra={"started": began})
        display(event(elapsed=31.0))
    seconds = [float(line.split()[0]) for line in capsys.readouterr().err.splitlines()]
    assert seconds[1] == 31.0
    assert 30.0 <= seconds[0] <= 31.0


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
def test_modes(mode, kind, capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    display = make_display(mode)
    assert type(display) is kind
    level = logging.getLogger("warptsp").level
    with display:
        logging.getLogger("warptsp.solver").warning("careful")
    assert logging.getLogger("warptsp").level == level
    assert capsys.readouterr().err == "warptsp: warning: careful\n"


# In a terminal

DRIVER = """
import logging, sys
sys.path.insert(0, "..")
from test_display import event
from warptsp.cli import _display
_display.QUICK = 0.0
with _display.make_display("auto") as display:
    logging.getLogger("warptsp.run.phases").debug("candidate lists")
    for line in sys.stdin:
        if line == "warn\\n":
            logging.getLogger("warptsp.solver").warning("careful")
        else:
            display(event(elapsed=float(line), known_length=150, known_length_is_optimal=True, kicks=123456))
        if getattr(display, "_live", None):
            display._live.refresh()
        print(line, end="", flush=True)
"""


DECIDING = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")


class Terminal:
    """A process whose stderr is a terminal of so many columns."""

    def __init__(self, columns, **environment):
        self.master, slave = os.openpty()
        self.resize(columns)
        kept = {name: text for name, text in os.environ.items() if name not in DECIDING}
        kept |= {"TERM": "xterm-256color", "PYTHONIOENCODING": "utf-8"} | environment
        streams = {"stdin": subprocess.PIPE, "stderr": slave, "bufsize": 1}
        self.process = begin_python("-c", DRIVER, cwd=Path(__file__).parent, env=kept, **streams)
        os.close(slave)
        self.written = ""

    def resize(self, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def tell(self, line):
        """Let the display take an event and draw; return what it wrote meanwhile."""
        self.process.stdin.write(f"{line}\n")
        assert self.process.stdout.readline() == f"{line}\n"
        return self.read(select.select([self.master], [], [], 0)[0])

    def read(self, more):
        text = ""
        while more:
            try:
                chunk = os.read(self.master, 65536).decode()
            except OSError:  # Linux says so when the other side has closed
                chunk = ""
            text += chunk
            more = chunk and select.select([self.master], [], [], 0)[0]
        self.written += text
        return text

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        status = self.process.wait()
        self.read(True)
        self.process.stdout.close()
        os.close(self.master)
        assert status == 0, self.written


def shown(text):
    """Return the lines without the sequences that control the terminal."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return [line for line in re.split(r"[\r\n]+", plain) if line.strip()]


@needs_terminal
@pytest.mark.parametrize("environment", [{}, {"NO_COLOR": "1"}])
def test_one_line_is_kept_up_to_date_and_gone_at_the_end(environment):
    with Terminal(100, **environment) as terminal:
        drawn = terminal.tell(1.5)
        line = "1.5 s  length 200  gap 33.333 %  123456 kicks  cpu"
        assert shown(drawn)[-1].strip() == line
        # The clock may have gone on meanwhile; nothing but the line itself is drawn.
        assert "\n" not in terminal.tell(2.5)
    assert not re.search(r"\x1b\[[0-9;]*m", terminal.written.replace("\x1b[0m", ""))  # no colours at all
    assert terminal.written.rstrip().endswith("\x1b[2K")  # erased


@needs_terminal
def test_a_terminal_may_be_narrow_and_change_its_size():
    with Terminal(40) as terminal:
        assert shown(terminal.tell(1.5))[-1].strip() == "1.5 s  length 200  gap 33.333 %"
        terminal.resize(24)
        assert shown(terminal.tell(2.5))[-1].strip() == "2.5 s  length 200"
        terminal.resize(8)
        assert shown(terminal.tell(3.5))[-1] == "length …"
        terminal.resize(100)
        assert shown(terminal.tell(4.5))[-1].strip().endswith("cpu")


@needs_terminal
def test_a_warning_stays_above_the_line():
    with Terminal(100) as terminal:
        terminal.tell(1.5)
        drawn = shown(terminal.tell("warn"))
        assert "warptsp: warning: careful" in drawn
        assert "length 200" in drawn[-1]


@needs_terminal
def test_a_dumb_terminal_gets_plain_lines():
    with Terminal(100, TERM="dumb") as terminal:
        terminal.tell(0.5)
        terminal.tell(0.6)
        terminal.tell(2.5)
    assert "\x1b" not in terminal.written
    assert [line.split()[0] for line in shown(terminal.written)] == ["0.5", "2.5"]


@pytest.mark.parametrize(
    ("encoding", "parts"),
    [("utf-8", ("\u2501" * 4, "\u2500" * 12)), ("ascii", ("####", "-" * 12)), (None, ("####", "-" * 12))],
)
def test_both_parts_of_a_bar_differ_without_colour(encoding, parts):
    assert _display.bar(0.25, encoding) == parts
    assert _display.bar(0.0, encoding)[0] == _display.bar(1.0, encoding)[1] == ""


@pytest.mark.parametrize(("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_the_live_line_has_a_bar_where_there_is_room(monkeypatch, capfd, environment, coloured):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(_display, "QUICK", 0.0)
    for name, value in {"TERM": "xterm-256color", "COLUMNS": "110", **environment}.items():
        monkeypatch.setenv(name, value)
    with RichDisplay() as display:
        display(event(elapsed=1.0, time_limit=4.0))
        text = display._line()
        assert text.plain.startswith(("\u2501" * 4, "####"))
        assert "length 200" in text.plain
        assert len(text.plain) <= 109
        display._live.refresh()
        display(event())
        assert display._line().plain.startswith("    1.0 s")  # without a limit nobody knows how much is done
    assert ("\x1b[32m" in capfd.readouterr().err) == coloured
    monkeypatch.setenv("COLUMNS", "60")
    with RichDisplay() as display:
        display(event(elapsed=1.0, time_limit=4.0))
        assert "length 200" in display._line().plain
        assert not display._line().plain.startswith(("\u2501", "#"))


def test_a_notebook_gets_a_bar(monkeypatch):
    drawn = []

    class Handle:
        def update(self, data, raw):
            drawn.append(data["text/html"])

    def show(data, raw, display_id):
        drawn.append(data["text/html"])
        return Handle()

    package, module = ModuleType("IPython"), ModuleType("IPython.display")
    package.get_ipython = lambda: SimpleNamespace(kernel=object())
    module.display = show
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    monkeypatch.setattr(_display.NotebookDisplay, "PAUSE", 0.0)
    with make_display("auto") as display:
        display(event(time_limit=4.0, phase="<b>"))
        display(event())
    assert drawn[0].startswith('<div><progress value="0.2500" max="1"></progress> <code>')
    assert "&lt;b&gt;" in drawn[0]
    assert drawn[1].startswith("<div><code>")
    assert drawn[2] == ""
