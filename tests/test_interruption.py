"""Ctrl-C, SIGTERM and kill -9 at random moments, in processes of their own."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import warptsp

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
    points = np.random.default_rng(0).integers(0, 1000, (CITIES, 2))
    rows = "\n".join(f"{i + 1} {x} {y}" for i, (x, y) in enumerate(points))
    path = tmp_path / "some.tsp"
    path.write_text(
        f"NAME : some\nTYPE : TSP\nDIMENSION : {CITIES}\nEDGE_WEIGHT_TYPE : EUC_2D\n"
        f"NODE_COORD_SECTION\n{rows}\nEOF\n"
    )
    return path


def start(instance, *arguments):
    """Start ``warptsp solve`` without any limit and wait until it searches."""
    code = DRIVER.format(tests=str(Path(__file__).parent))
    options = ["--method", "two-opt", "--start", "given", "--progress", "plain"]
    process = subprocess.Popen(
        [sys.executable, "-c", code, "solve", str(instance), *options, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=instance.parent,
    )
    first = process.stderr.readline()
    assert "length" in first, first + process.stderr.read()
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("seed", range(3))
def test_a_signal_writes_the_best_tour(instance, number, seed):
    out, picture = instance.with_name("out.tour"), instance.with_name("out.svg")
    process = start(
        instance, "--no-improvement", "1h", "-o", out, "--picture", picture, "--checkpoint", "saved.tour"
    )
    time.sleep(random.Random(seed).uniform(0, 0.4))
    process.send_signal(number)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 128 + number, stderr
    assert "Traceback" not in stderr
    problem = warptsp.load(instance)
    length = problem.length(warptsp.read_tour(out, problem))
    problem.check_tour(warptsp.read_tour(out, problem))
    assert f"length       {length}" in stdout
    assert ("Ctrl-C" if number == signal.SIGINT else "SIGTERM") in stdout
    assert problem.length(warptsp.read_tour(instance.with_name("saved.tour"), problem)) == length
    assert sorted(os.listdir(instance.parent)) == ["out.svg", "out.tour", "saved.tour", "some.tsp"]


@pytest.mark.parametrize("seed", range(4))
def test_kill_9_leaves_a_whole_checkpoint_to_go_on_from(instance, seed):
    saved = instance.with_name("saved.tour")
    process = start(instance, "--kicks", 10**9, "--checkpoint", saved, "--checkpoint-interval", "0")
    while not saved.exists():
        time.sleep(0.001)
    time.sleep(random.Random(seed).uniform(0, 0.3))
    process.kill()
    process.communicate(timeout=60)
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
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "writing\n"
    process.kill()
    process.communicate(timeout=60)
    assert path.read_text() == "old"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("seed", range(4))
def test_a_signal_at_any_moment_leaves_a_whole_tour_or_nothing(tmp_path, number, seed):
    instance, out = tmp_path / "some.npy", tmp_path / "out.tour"
    np.save(instance, np.random.default_rng(0).random((30_000, 2)))
    process = subprocess.Popen(
        [sys.executable, "-m", "warptsp", "solve", str(instance), "-o", str(out), "--progress", "none"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    # From the start of the interpreter through reading and set-up into the search.
    time.sleep(random.Random(seed).uniform(0.0, 1.0))
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    if out.exists():
        assert process.returncode == 128 + number
        assert stderr in ("", PLAIN)
        problem = warptsp.load(instance)
        problem.check_tour(warptsp.read_tour(out, problem))
    else:  # it came before the search, or even before the command's first line
        assert process.returncode in (-number, 128 + number)
    assert set(os.listdir(tmp_path)) <= {"some.npy", "out.tour"}


GENERATOR = """
from warptsp.__main__ import main
print("begun", flush=True)
main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", ["begun", 1, 2, 3, 4, "first bytes", "in the middle"])
def test_an_interrupted_generation_leaves_nothing(tmp_path, number, moment):
    # 320 MB, which take longer than any of these moments.
    arguments = ["generate", "clustered", "20000000", "--threads", "2", "-o", str(tmp_path / "a.f64")]
    process = subprocess.Popen(
        [sys.executable, "-c", GENERATOR, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "begun\n"
    if isinstance(moment, int):
        time.sleep(random.Random(moment).uniform(0.0, 0.3))
    else:
        wanted = {"begun": -1, "first bytes": 0, "in the middle": 1 << 26}[moment]
        while wanted >= 0 and process.poll() is None:
            if any(file.stat().st_size >= wanted for file in tmp_path.iterdir()):
                break
            time.sleep(0.001)
    process.send_signal(number)
    out, error = process.communicate(timeout=60)
    # Before the first line of `main` the interpreter ends by the signal itself; shells call both the same.
    assert process.returncode in (-number, 128 + number), error
    assert "Exception ignored" not in error
    assert process.returncode == -number or "Traceback" not in error
    assert out == ""
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_python_drops_comes_again(number):
    """An exception in a callback of a weak reference goes nowhere; every import has such a callback."""
    code = (
        "import signal, sys, time, weakref\nfrom warptsp import interruption\n"
        "class Thing: pass\n"
        "interruption.install()\nthing = Thing()\n"
        f"reference = weakref.ref(thing, lambda gone: signal.raise_signal({int(number)}))\n"
        "try:\n    del thing\n    time.sleep(60)\n"
        "except (KeyboardInterrupt, SystemExit) as error:\n    print(repr(error))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=50)
    expected = "KeyboardInterrupt()" if number == signal.SIGINT else "SystemExit(143)"
    assert (done.stdout.strip(), done.stderr) == (expected, "")


PLAIN = (
    "warptsp: warning: stopped during the set-up, before the first tour: the result is a plain construction\n"
)
