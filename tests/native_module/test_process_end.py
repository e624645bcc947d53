"""Processes that end, fork or start threads while searches run: no abort, no hang, the right status.

Each runs as a process of its own, so that what goes wrong is seen as its status.
"""

import random
import signal
import sys
from pathlib import Path

import pytest
from processes import run_code, run_python

from warptsp._native import build_info
from warptsp.methods import METHODS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals and fork")

SEARCHES = [name for name in METHODS if name not in ("exact", "construct")]
BINDINGS = Path(__file__).parents[2] / "src" / "warptsp" / "native" / "bindings"

PRELUDE = """
import atexit, os, signal, sys, threading, time
import numpy as np
import warptsp
from warptsp import _native

def points(n, seed=0):
    return np.random.default_rng(seed).random((n, 2))

def endless(poll):
    '''A native call of minutes, unless `poll`, called every 20 ms, ends it.'''
    token = _native.StopToken()
    token.poll = poll
    climbers = _native.HillClimbers(
        distances=_native.Distances.of_points(0, points(200)), tolerance=1e-9, scale=1.0,
    )
    climbers.climb(seed=1, first=0, count=1_000_000, threads=2, given=None, perturbed=False, token=token)

def tour_of(result):
    assert sorted(result.tour) == list(range(result.problem.n))
    return result.tour
"""


def run(code: str, *arguments: object, status: int = 0) -> str:
    """Run a program; return what it printed, and check how it ended."""
    process = run_python("-X", "faulthandler", "-c", PRELUDE + code, *arguments)
    assert process.returncode == status, process.stderr
    assert "Fatal Python error" not in process.stderr
    return process.stdout


DAEMONS = """
method, n, pause, way = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
searching = [threading.Event() for _ in range(2)]

def search(number):
    def tell(progress):
        searching[number].set()
        sum(range(20_000))  # the interpreter may end in the middle of this
    warptsp.solve(points(n), method=method, seed=number, threads=2, time_limit=100, callback=tell)

for number in range(2):
    threading.Thread(target=search, args=(number,), daemon=True).start()
for event in searching:
    event.wait()
time.sleep(pause)
if way == "exit":
    sys.exit(3)
if way == "os._exit":
    os._exit(4)
if way == "raise":
    raise RuntimeError("the program is wrong")
"""


@pytest.mark.parametrize("method", SEARCHES)
def test_a_process_ends_while_daemon_threads_search(method):
    statuses = {"return": 0, "exit": 3, "os._exit": 4, "raise": 1}
    n = 400 if method in ("three-opt", "swap", "relocate", "vnd") else 3001
    way, pause = list(statuses)[SEARCHES.index(method) % 4], random.Random(method).uniform(0.0, 0.1)
    run(DAEMONS, method, n, pause, way, status=statuses[way])


def test_a_process_ends_while_a_callback_runs_inside_of_a_native_call():
    run("""
called = threading.Event()
def poll():
    called.set()
    while True:
        sum(range(1000))
for _ in range(3):
    threading.Thread(target=endless, args=(poll,), daemon=True).start()
called.wait()
""")


def test_a_process_ends_while_short_native_calls_come_and_go():
    run("""
calls = threading.Semaphore(0)
def check():
    tour = np.arange(200_000, dtype=np.int32)
    rows = points(len(tour))
    while True:
        assert _native.takes_each_once(tour, 2)
        _native.edge_sums(rows, tour, 0, 2)
        calls.release()
for _ in range(3):
    threading.Thread(target=check, daemon=True).start()
for _ in range(6):
    calls.acquire()
""")


@pytest.mark.parametrize("way", ["sys.exit(7)", "os._exit(7)"])
@pytest.mark.parametrize("where", ["solve", "native"])
def test_a_callback_ends_the_process(way, where):
    code = {
        "solve": f"warptsp.solve(points(500), time_limit=100, callback=lambda progress: {way})",
        "native": f"endless(lambda: {way})",
    }[where]
    run(code, status=7)


def test_a_daemon_threads_callback_ends_the_process_at_once():
    run(
        """
threading.Thread(target=endless, args=(lambda: os._exit(7),), daemon=True).start()
endless(lambda: None)
""",
        status=7,
    )


def test_an_exception_in_a_native_calls_callback_is_raised_from_it():
    out = run("""
def poll():
    raise KeyError("from the callback")
try:
    endless(poll)
except KeyError as error:
    print(repr(error))
""")
    assert out == "KeyError('from the callback')\n"


@pytest.mark.parametrize("threads", [1, 2])
def test_a_callback_starts_processes_by_forking(threads):
    out = run(
        """
import multiprocessing
threads = int(sys.argv[1])

def work(seed):
    result = warptsp.solve(points(60, seed), kicks=100, threads=threads)
    tour_of(result)
    return result.length

def both(*_):
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        lengths.append(pool.map(work, range(4)))
    raise StopIteration

lengths = []
for search in (lambda: endless(both), lambda: warptsp.solve(points(500), time_limit=100, callback=both)):
    try:
        search()
    except StopIteration:
        pass
assert lengths[0] == lengths[1] == [work(seed) for seed in range(4)], lengths
print("equal")
""",
        threads,
    )
    assert out == "equal\n"


def test_a_forked_process_does_not_wait_for_a_search_that_its_parent_has():
    out = run("""
children = []
def poll():
    if not children:
        child = os.fork()
        children.append(child)
        return
    raise StopIteration
try:
    endless(poll)
except StopIteration:
    _, status = os.waitpid(children[0], 0)
    print("parent", os.waitstatus_to_exitcode(status))
except RuntimeError as error:
    print("child:", error, flush=True)
    tour_of(warptsp.solve(points(60), kicks=100))  # but searches of its own are fine
    sys.exit(5)
""")
    message = "a process forked by the callback of a search cannot go on with the search"
    assert out == f"child: {message}\nparent 5\n"


def test_a_fork_while_another_thread_searches():
    run("""
searching, token = threading.Event(), warptsp.StopToken()
def search():
    warptsp.solve(points(3000), stop=token, callback=lambda progress: searching.set())
thread = threading.Thread(target=search)
thread.start()
searching.wait()
child = os.fork()
if child == 0:
    tour_of(warptsp.solve(points(60), kicks=100))
    os._exit(6)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 6
token.request()
thread.join()
""")


def test_two_threads_search_at_once_as_they_do_alone():
    run(
        """
methods = sys.argv[1:]
def search(method):
    limits = {"params": {"climbers": 2}} if method == "hill-climbing" else {"kicks": 50}
    return tour_of(warptsp.solve(points(151), method=method, threads=1, **limits))
alone = {method: search(method) for method in methods}
wrong = []
def compare():
    wrong.extend(method for method in methods if not np.array_equal(search(method), alone[method]))
threads = [threading.Thread(target=compare) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, wrong
""",
        *SEARCHES,
    )


def test_a_search_at_the_very_end():
    out = run("""
def search():
    print(len(tour_of(warptsp.solve(points(300), kicks=100, threads=2))))
atexit.register(search)
threading.Thread(target=endless, args=(lambda: None,), daemon=True).start()
""")
    assert out == "300\n"


def test_an_exit_function_waits_for_a_daemon_thread_that_searches():
    out = run("""
token = warptsp.StopToken()
def search():
    print(len(tour_of(warptsp.solve(points(300), stop=token))))
thread = threading.Thread(target=search, daemon=True)
def end():
    token.request()
    thread.join()
atexit.register(end)
thread.start()
""")
    assert out == "300\n"


def test_ctrl_c_while_a_pool_of_threads_searches():
    out = run(
        """
from concurrent.futures import ThreadPoolExecutor
token = warptsp.StopToken()
searching = threading.Semaphore(0)
def search(seed):
    result = warptsp.solve(points(500, seed), stop=token, callback=lambda progress: searching.release())
    return tour_of(result)
with ThreadPoolExecutor(2) as pool:
    futures = [pool.submit(search, seed) for seed in range(2)]
    try:
        for _ in range(4):
            searching.acquire()
        signal.raise_signal(signal.SIGINT)
        time.sleep(60)
    except KeyboardInterrupt:
        token.request()
    print([len(future.result()) for future in futures])
    raise KeyboardInterrupt
""",
        status=-signal.SIGINT,
    )
    assert out == "[500, 500]\n"


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="from Python 3.12 on it is Python that refuses it")
def test_a_sub_interpreter_is_refused():
    code = "import warptsp._native"
    program = f"import _xxsubinterpreters as some; some.run_string(some.create(), {code!r})"
    process = run_code(program)
    assert process.returncode == 1
    assert "warptsp cannot be used in a sub-interpreter, only in the main one" in process.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's limits on memory")
@pytest.mark.skipif(build_info()["sanitizers"] != "none", reason="sanitizers reserve more memory")
def test_a_search_with_not_a_thread_to_be_had():
    out = run(
        """
import resource
stack, memory = 8 << 30, 4 << 30  # a further thread would need more than there is
if sys.argv[1] == "first":
    resource.setrlimit(resource.RLIMIT_STACK, (stack, resource.getrlimit(resource.RLIMIT_STACK)[1]))
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    os.execv(sys.executable, [sys.executable, "-c", sys.orig_argv[4], "again"])

def search():
    # The stack of a bound's thread would be there for the next one.
    print(len(tour_of(warptsp.solve(points(300), kicks=100, threads=2, bound=False))))

search()  # with all that it imports
resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
try:
    threading.Thread(target=print).start()
except RuntimeError:
    search()
""",
        "first",
    )
    assert out == "300\n300\n"


def test_no_binding_takes_the_lock_in_a_way_that_a_thread_cannot_be_ended_in():
    for file in BINDINGS.glob("*"):
        if file.name != "gil.h":
            text = file.read_text(encoding="utf-8")
            assert "gil_scoped" not in text, file
            assert "PyEval_" not in text, file
            assert "PyGILState" not in text, file
