"""Ctrl-C, SIGTERM and kill -9 at random moments, in processes of their own."""

import os
import random
import signal
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner
from instances import whole_points, write_tsplib
from processes import begin_command, begin_python, run_code, run_python

import warptsp
from warptsp.cli import commands, solve_many
from warptsp.interruption import ECHO, FirstSignal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

CITIES = 150
DRIVER = """
import sys
sys.path.insert(0, {tests!r})
import two_opt_method
two_opt_method.register()
from warptsp.__main__ import main
main()
"""


@pytest.fixture
def instance(tmp_path):
    return write_tsplib(tmp_path / "some.tsp", whole_points(CITIES))


def start(instance, *arguments):
    """Start ``warptsp solve`` without any limit and wait until it searches."""
    code = DRIVER.format(tests=str(Path(__file__).parents[1]))
    options = ["--method", "two-opt", "--start", "given", "--progress", "plain"]
    process = begin_python("-c", code, "solve", instance, *options, *arguments, cwd=instance.parent)
    first = process.stderr.readline()
    assert "length" in first, first + process.stderr.read()
    return process


@pytest.mark.parametrize(
    "number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGXCPU]
)
def test_a_signal_writes_the_best_tour(instance, number):
    out, picture = instance.with_name("out.tour"), instance.with_name("out.svg")
    files = ["-o", out, "--picture", picture, "--checkpoint", "saved.tour"]
    process = start(instance, "--no-improvement", "1h", *files)
    time.sleep(random.Random(number).uniform(0, 0.2))
    process.send_signal(number)
    stdout, stderr = process.communicate()
    assert process.returncode == 128 + number, stderr
    assert "Traceback" not in stderr
    problem = warptsp.load(instance)
    length = problem.length(warptsp.read_tour(out, problem))
    problem.check_tour(warptsp.read_tour(out, problem))
    assert f"length       {length}" in stdout
    assert ("Ctrl-C" if number == signal.SIGINT else number.name) in stdout
    assert problem.length(warptsp.read_tour(instance.with_name("saved.tour"), problem)) == length
    assert sorted(os.listdir(instance.parent)) == ["out.svg", "out.tour", "saved.tour", "some.tsp"]


@pytest.mark.parametrize("seed", range(2))
def test_kill_9_leaves_a_whole_checkpoint_to_go_on_from(instance, seed):
    saved = instance.with_name("saved.tour")
    process = start(instance, "--kicks", 10**9, "--checkpoint", saved, "--checkpoint-interval", "0")
    while not saved.exists():
        assert process.poll() is None
        time.sleep(0.001)
    time.sleep(random.Random(seed).uniform(0, 0.3))
    process.kill()
    process.communicate()
    problem = warptsp.load(instance)
    tour = warptsp.read_tour(saved, problem)
    problem.check_tour(tour)
    # Going on from it works, takes over what the killed process left, and is never worse.
    result = warptsp.solve(problem, start=saved, method="construct", checkpoint=saved)
    assert result.length <= problem.length(tour)
    assert sorted(os.listdir(instance.parent)) == ["saved.tour", "some.tsp"]


def test_kill_9_while_writing_leaves_the_old_file(tmp_path):
    path = tmp_path / "saved.tour"
    path.write_text("old")
    code = (
        "import sys, time\nfrom warptsp.outputs import atomic_write\n"
        f"with atomic_write({str(path)!r}) as stream:\n"
        "    stream.write(b'half of the new')\n    stream.flush()\n"
        "    print('writing', flush=True)\n    time.sleep(60)\n"
    )
    process = begin_python("-c", code)
    assert process.stdout.readline() == "writing\n"
    process.kill()
    process.communicate()
    assert path.read_text() == "old"


GENERATOR = """
import itertools, os, sys
from warptsp.__main__ import main
from warptsp.generate import random

random.BLOCK, made, blocks = 1 << 12, random._generator, itertools.count()
last, number = int(sys.argv.pop(2)), int(sys.argv.pop(1))

def generator(state):
    if next(blocks) == last:
        os.kill(os.getpid(), number)
    return made(state)

random._generator = generator
main()
"""


# Before the first bytes, and in the middle of 50 blocks.
@pytest.mark.parametrize(
    ("number", "last"), [(signal.SIGINT, 0), (signal.SIGTERM, 1), (signal.SIGINT, 25), (signal.SIGTERM, 47)]
)
def test_an_interrupted_generation_leaves_nothing(tmp_path, number, last):
    arguments = ["generate", "uniform", 50 << 12, "--threads", "2", "-o", tmp_path / "a.f64"]
    done = run_code(GENERATOR, int(number), last, *arguments)
    assert (done.returncode, done.stdout) == (128 + number, "")
    assert done.stderr.strip() == "warptsp: error: interrupted"
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_python_drops_comes_again(number):
    """An exception in a callback of a weak reference goes nowhere; every import has such a callback."""
    code = (
        "import signal, sys, time, weakref\nfrom warptsp import interruption\n"
        "class Thing: pass\n"
        "interruption.install()\nthing = Thing()\n"
        f"reference = weakref.ref(thing, lambda gone: signal.raise_signal({int(number)}))\n"
        "try:\n    del thing\n    for _ in range(600): time.sleep(0.1)\n"
        "except KeyboardInterrupt as error:\n    print(repr(error))\n"
    )
    done = run_code(code)
    expected = "KeyboardInterrupt()" if number == signal.SIGINT else "Terminated('SIGTERM')"
    assert (done.stdout.strip(), done.stderr) == (expected, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_python_wraps_ends_the_command_as_any_does(number):
    """While a class is made, Python 3.11 turns what its parts raise into a RuntimeError."""
    code = (
        "import signal\nfrom warptsp import __main__, cli\n"
        "class Part:\n"
        "    def __set_name__(self, owner, name):\n"
        f"        signal.raise_signal({int(number)})\n"
        "cli.run = lambda arguments: type('Whole', (), {'part': Part()})\n"
        "__main__.main()\n"
    )
    done = run_code(code)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "", "")


def test_no_signal_is_lost_in_the_compiler():
    """It drops what is no KeyboardInterrupt, in the middle of any import that has no compiled file."""
    code = (
        "import random, signal, sys\nfrom warptsp import interruption\n"
        "source = open(sys.argv[1], encoding='utf-8').read()\nsent = caught = 0\nchance = random.Random(1)\n"
        "def handle(number, frame):\n"
        "    global sent\n    sent += 1\n    interruption._raised = False\n"
        "    interruption.terminate(number, frame)\n"
        "signal.signal(signal.SIGALRM, handle)\n"
        "while caught < 40 and sent == caught:\n"
        "    try:\n"
        "        signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.0005, 0.02))\n"
        "        compile(source, 'x', 'exec')\n"
        "        while sent == caught: pass\n"
        "    except interruption.Terminated: caught += 1\n"
        "print(sent, caught)"
    )
    source = Path(warptsp.__file__).parent / "problem" / "problem.py"
    done = run_code(code, source)
    assert (done.stdout, done.stderr) == ("40 40\n", "")


EARLY = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Finder())
from warptsp.__main__ import main
main()
"""


@pytest.mark.parametrize("number", [2, 1])
@pytest.mark.parametrize(
    "name", ["warptsp.interruption", "click", "warptsp.cli.streams", "warptsp.cli.info", "numpy"]
)
def test_a_signal_in_the_middle_of_the_imports(name, number):
    code = EARLY.format(name=name, number=number)
    done = run_code(code, "info", "none.npy")
    assert done.returncode in (128 + number, -number)
    assert done.stderr.strip() in ("", "warptsp: error: interrupted")


@pytest.mark.parametrize("number", [2, 3])
@pytest.mark.parametrize("name", ["make_context", "parse_args", "invoke"])
def test_a_signal_while_the_command_line_is_read(name, number):
    """Wherever in click it comes, the exit status is that of this signal."""
    code = (
        "import signal\nfrom warptsp.__main__ import main\nfrom warptsp.cli import commands\n"
        f"commands.{name} = lambda *args, **options: signal.raise_signal({number})\nmain()\n"
    )
    done = run_code(code, "info", "none.npy")
    assert (done.returncode, done.stderr.strip()) == (128 + number, "warptsp: error: interrupted")


def test_a_signal_that_hits_what_another_one_set_going(tmp_path):
    """Nothing is waited for, and what was being written goes all the same."""
    code = (
        "import signal, sys\nfrom warptsp import interruption\n"
        "interruption.install()\ninterruption.unfinished.add(sys.argv[1])\n"
        "try:\n    signal.raise_signal(15)\nexcept KeyboardInterrupt:\n    signal.raise_signal(1)\n"
        "print('goes on')\n"
    )
    partial = tmp_path / "partial"
    partial.write_text("half")
    done = run_code(code, partial)
    assert (done.returncode, done.stdout, done.stderr) == (129, "", "")
    assert not partial.exists()


def test_what_is_ignored_stays_so(instance):
    """As under nohup."""
    code = "import signal, sys\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + DRIVER.format(
        tests=str(Path(__file__).parents[1])
    )
    process = begin_python("-c", code, "solve", instance, "--method", "two-opt", "--progress", "plain")
    assert "length" in process.stderr.readline()
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)
    out, _ = process.communicate()
    assert process.returncode == 143
    assert "SIGTERM" in out


WRITING = """
import signal, sys, time
import warptsp.outputs as outputs
from warptsp.__main__ import main
from warptsp.interruption import ECHO

sync, left = outputs.os.fsync, {numbers}

def send(descriptor):
    sync(descriptor)
    while left:
        signal.raise_signal(left.pop(0))
        time.sleep(2 * ECHO)

outputs.os.fsync = send
main()
"""


def solve_with_signals(instance, numbers, *arguments):
    code = WRITING.format(numbers=numbers)
    return run_code(code, "solve", instance, "--kicks=3", *arguments, cwd=instance.parent)


@pytest.mark.parametrize("number", [2, 15])
def test_a_signal_while_the_outputs_are_written(instance, number):
    """The search is over: what it found is written to the end, all of it."""
    files = ["-o", "a.tour", "-o", "b.csv", "--picture", "c.svg", "--report", "d.html", "-o", "-"]
    done = solve_with_signals(instance, [number], *files)
    assert done.returncode == 128 + number, done.stderr
    assert "Traceback" not in done.stderr
    problem = warptsp.load(instance)
    for name in ("a.tour", "b.csv"):
        problem.check_tour(warptsp.read_tour(instance.with_name(name), problem))
    assert done.stdout == instance.with_name("a.tour").read_text()
    assert sorted(os.listdir(instance.parent)) == ["a.tour", "b.csv", "c.svg", "d.html", "some.tsp"]


@pytest.mark.parametrize("numbers", [[2, 2], [15, 2], [1, 3, 15, 2], [15] * 9])
def test_a_second_signal_ends_at_once_and_leaves_the_old_file(instance, numbers):
    instance.with_name("a.tour").write_text("old")
    done = solve_with_signals(instance, numbers, "-o", "a.tour", "-o", "b.csv")
    assert done.returncode in {128 + number for number in numbers[1:]}
    assert "Traceback" not in done.stderr
    assert instance.with_name("a.tour").read_text() == "old"
    assert sorted(os.listdir(instance.parent)) == ["a.tour", "some.tsp"]


@pytest.mark.parametrize("moment", ["in the search", "at the end"])
def test_a_pipe_that_nobody_reads_is_given_up_after_a_signal(instance, moment):
    first, pipe = instance.with_name("first.tour"), instance.with_name("pipe.tour")
    os.mkfifo(pipe)
    limit = ["--no-improvement", "1h"] if moment == "in the search" else ["--kicks", "3"]
    process = start(instance, *limit, "-o", first, "-o", pipe, "-o", "last.tour")
    while moment == "at the end" and not first.exists():
        assert process.poll() is None
        time.sleep(0.001)
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate()
    assert process.returncode == 2
    assert stderr.endswith(f"warptsp: error: {pipe}: cannot write: nobody reads this pipe\n")
    assert first.read_text() == instance.with_name("last.tour").read_text()


def test_stopped_and_continued(instance):
    """Ctrl-Z and fg: the time limit is one of the clock, and the tour is there."""
    out = instance.with_name("out.tour")
    process = start(instance, "--time-limit", "1", "-o", out)
    process.send_signal(signal.SIGTSTP)
    time.sleep(0.1)
    process.send_signal(signal.SIGCONT)
    stdout, stderr = process.communicate()
    assert process.returncode == 0, stderr
    assert "time limit of 1 s" in stdout
    problem = warptsp.load(instance)
    problem.check_tour(warptsp.read_tour(out, problem))


def test_runs_that_share_an_output(instance):
    """Each writes a whole file of its own, and the last one stays."""
    out = instance.with_name("out.tour")
    options = ["--kicks", "1000", "--checkpoint", "saved.tour", "--checkpoint-interval", "0", "-q"]
    runs = [
        begin_command("solve", instance, *options, "-o", out, f"--seed={seed}", cwd=instance.parent)
        for seed in range(3)
    ]
    problem = warptsp.load(instance)
    told = []
    for process in runs:
        stdout, stderr = process.communicate()
        assert process.returncode == 0, stderr
        told.append(int(stdout.partition("length ")[2].split()[0]))
    for name in ("out.tour", "saved.tour"):
        assert problem.length(warptsp.read_tour(instance.with_name(name), problem)) in told
    assert sorted(os.listdir(instance.parent)) == ["out.tour", "saved.tour", "some.tsp"]


@pytest.mark.slow
def test_random_signals():
    """At any moment, from the start of Python on: a few of those that .ci/signals sends by the hundred."""
    script = Path(__file__).parents[2] / ".ci" / "signals"
    done = run_python(script, 10, "--kills", 4, "--seed", 7)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_first_of_several_signals():
    seen = []
    with FirstSignal(lambda number: seen.append(("outer", number))) as outer:
        with FirstSignal(lambda number: seen.append(("inner", number))) as inner:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGTERM)  # an echo
            assert seen == [("inner", 2), ("outer", 2)]
            time.sleep(2 * ECHO)
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        with FirstSignal(seen.append) as late:
            assert seen[2:] == [2]
    assert (outer.caught, inner.caught, late.caught) == (2, 2, 2)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_before_the_first_method_ends_the_search(instance, monkeypatch):
    """It comes while the run is made."""
    from warptsp.solver import stages

    class Late(stages.Run):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(stages, "Run", Late)
    result = warptsp.solve(str(instance), time_limit=60, on_interrupt="return")
    assert result.interrupted
    assert result.signal == signal.SIGINT


def test_what_solve_many_has_found_is_written(tmp_path, monkeypatch):
    (tmp_path / "some").mkdir()
    for name, size in (("a", 5), ("b", 2000), ("c", 2000)):
        write_tsplib(tmp_path / "some" / f"{name}.tsp", whole_points(size))
    calls = []

    def impatient(progress):
        if progress.done and not calls:
            calls.extend(signal.raise_signal(signal.SIGINT) for _ in range(2))  # as `timeout` does

    monkeypatch.setattr(solve_many, "_Lines", lambda quiet: impatient)
    options = ["--time-limit", "1h", "--threads", "1", "-o", str(tmp_path / "m.csv")]
    arguments = ["solve-many", str(tmp_path / "some"), *options]
    done = CliRunner().invoke(commands, arguments, standalone_mode=False)
    assert done.return_value == 128 + signal.SIGINT, done.output
    assert "ended        early: what was found is kept" in done.output
    rows = (tmp_path / "m.csv").read_text().splitlines()[1:]
    assert [row.split(",")[1] for row in rows[::2]] == ["5", ""]
