"""The page of a running search: who is served, what stops and saves, and how it ends."""

import http.client
import itertools
import json
import math
import os
import select
import signal
import socket
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from html import unescape
from pathlib import Path

import calls
import numpy as np
import pytest
from processes import begin_command

import warptsp
from warptsp.cli import run
from warptsp.errors import InvalidOption, OutputError
from warptsp.quantities import format_gap
from warptsp.report import Tiles
from warptsp.watch import Watch, live, server
from warptsp.watch.live import LiveRun

needs_signals = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")


@pytest.fixture
def problem():
    return warptsp.Problem.from_points(np.random.default_rng(0).random((60, 2)), name="sixty")


@pytest.fixture
def watch(problem):
    with Watch(problem) as watch:
        yield watch


def event(length=100.0, elapsed=1.0, **given):
    given = {"kicks": 5, "tour": lambda: np.arange(60, dtype=np.int32), **given}
    return calls.event(length=length, elapsed=elapsed, **given)


class Client:
    """Asks a watched run, as a browser does."""

    def __init__(self, watch):
        _, _, self.host, self.token, _ = (watch if isinstance(watch, str) else watch.url).split("/")

    def connect(self):
        return http.client.HTTPConnection(self.host, timeout=30)

    def ask(self, name="", method="GET", path=None, body=None, **headers):
        """Return the response, read."""
        with closing(self.connect()) as connection:
            connection.putrequest(method, path or f"/{self.token}/{name}", skip_host="Host" in headers)
            for header, value in headers.items():
                connection.putheader(header.replace("_", "-"), value)
            connection.endheaders(body)
            response = connection.getresponse()
            response.body = response.read()
            return response

    def post(self, name, **headers):
        headers = {"Origin": f"http://{self.host}", "X_Warptsp_Token": self.token} | headers
        return self.ask(name, "POST", **{key: value for key, value in headers.items() if value is not None})

    @contextmanager
    def events(self):
        """Yield the messages of the stream, as they come."""
        with closing(self.connect()) as connection:
            connection.request("GET", f"/{self.token}/events")
            response = connection.getresponse()
            assert response.getheader("Content-Type") == "text/event-stream"

            def messages():
                for line in response:
                    if line.startswith(b"data: "):
                        yield json.loads(line.removeprefix(b"data: "))

            with closing(response):
                yield messages()

    def tour(self, after=0):
        response = self.ask(f"tour?after={after}")
        assert response.status in (200, 204)
        return None if response.status == 204 else (response, np.frombuffer(response.body, dtype="<i4"))


def searching(messages):
    """The first message with a tour."""
    return next(said for said in messages if said.get("length") is not None)


def ending(messages):
    """The message of the end."""
    return next(said for said in messages if said["state"] == "done")


class Search(threading.Thread):
    """Publishes an event again and again, as a search does, until it is told to stop."""

    def __init__(self, watch, **given):
        super().__init__()
        self.watch, self.event, self.over, self.answer = watch, event(**given), threading.Event(), None

    def run(self):
        while self.answer is None and not self.over.wait(0.01):
            self.answer = self.watch(self.event)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


# Who is served


def test_the_page_is_served_to_who_has_the_token(watch):
    client = Client(watch)
    assert client.host.startswith("127.0.0.1:")
    assert len(client.token) == 32
    response = client.ask()
    assert response.status == 200
    text = response.body.decode()
    assert "<title>sixty · warptsp</title>" in text
    assert "EventSource" in text
    assert "connect-src &#x27;self&#x27;" in text
    assert response.getheader("Cache-Control") == "no-store"
    assert "frame-ancestors 'none'" in response.getheader("Content-Security-Policy")
    assert response.getheader("Referrer-Policy") == "origin"
    assert client.token not in text
    assert client.ask().body == response.body


def test_nothing_without_the_token(watch):
    client = Client(watch)
    for token in ("", "x", "x" * 32, client.token[:-1], client.token + "x", "%00", "%C3%BC"):
        for name in ("", "events", "tour", "page.js", ".."):
            response = client.ask(path=f"/{token}/{name}" if token else f"/{name}")
            assert response.status == 403, (token, name)
            assert b"copy the whole address" in response.body
    for path in ("/open/", f"/open/{'x' * 32}", f"/{client.token}"):  # there is no ticket, and no page
        assert client.ask(path=path).status == 403


def test_there_is_nothing_else(watch):
    client = Client(watch)
    for name in ("stop", "save", "index.html", "..", "../", "//", "live.js", "tour/"):
        assert client.ask(name).status == 404, name
    assert client.post("").status == client.post("tour").status == client.post("events").status == 404


def test_who_else_asks_changes_nothing(watch):
    """Pages of other names and origins, who has no token in a header, other methods, and large requests."""
    client = Client(watch)
    port = client.host.partition(":")[2]
    assert client.ask(Host=f"localhost:{port}").status == 200
    hosts = ("evil.example", f"evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", f"127.0.0.1:{port}.x")
    for host in hosts:
        assert client.ask(Host=host).status == client.post("stop", Host=host).status == 421, host
    assert client.ask(Origin=f"http://{client.host}").status == 200
    for origin in ("http://evil.example", "null", f"https://{client.host}", "http://127.0.0.1", ""):
        assert client.ask(Origin=origin).status == client.post("stop", Origin=origin).status == 403, origin
    assert client.post("stop", Origin=None).status == 403
    for token in (None, "", "x" * 32):
        for name in ("stop", "save"):
            assert client.post(name, X_Warptsp_Token=token).status == 403
    for method in ("HEAD", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "X"):
        response = client.ask("stop", method, Origin=f"http://{client.host}", X_Warptsp_Token=client.token)
        assert response.status == 501, method
        assert response.getheader("Access-Control-Allow-Origin") is None
    assert client.ask("x" * 20_000).status == 414
    assert client.ask(X_Large="x" * 20_000).status == 431
    assert client.ask(**{f"X_{i}": "x" * 100 for i in range(90)}).status == 200
    assert client.ask(**{f"X_{i}": "x" * 200 for i in range(90)}).status == 431
    assert client.post("stop", Content_Length="1000000").status == 413
    assert client.post("stop", Transfer_Encoding="chunked").status == 413
    no_host = f"GET /{client.token}/ HTTP/1.0\r\n\r\n".encode()
    tls = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\r\n"
    for said, status in ((no_host, b" 421 "), (tls, b"400")):
        with closing(socket.create_connection(client.host.split(":"), timeout=30)) as connection:
            connection.sendall(said)
            assert status in connection.recv(1000)
    assert watch(event()) is None


# What is served


def test_events_tell_where_the_search_stands(watch):
    client = Client(watch)
    with client.events() as messages:
        assert next(messages)["text"] == "Preparing"
        watch(event(12345.5, start_length=15000.0, time_limit=10.0, device="cuda:0"))
        said = next(messages)
    assert said["state"] == "live"
    assert said["text"] == "Search, on cuda:0"
    assert said["length"] == 12345.5
    assert said["points"] == [[1.0, 12345.5]]
    assert said["figures"] == {
        "under the start tour": "17.70 %",
        "time": "1.0 s",
        "left": "9.0 s",
        "kicks": "5",
        "kicks a second": "",
    }


def test_events_and_the_end_tell_the_bound(watch, problem):
    with Client(watch).events() as messages:
        next(messages)
        watch(event(120.0, lower_bound=100.0))
        assert next(messages)["figures"]["above the shortest, at most"] == "20.000 %"
        result = warptsp.solve(problem, kicks=20, bound=60)
        watch.finish(result)
        gap = format_gap(result.bound_gap, up=True)
        assert next(messages)["figures"]["above the shortest, at most"] == gap


def test_a_late_page_gets_the_curve_so_far(watch, monkeypatch):
    monkeypatch.setattr(live, "POINTS", 4)
    for second in range(10):
        watch(event(100.0 - second, elapsed=float(second)))
    watch(event(91.0, elapsed=30.0, improved=False))
    with Client(watch).events() as messages:
        assert next(messages)["points"] == [[0.0, 100.0], [3.0, 97.0], [6.0, 94.0], [9.0, 91.0]]
        watch(event(90.0, elapsed=40.0))
        assert next(messages)["points"] == [[40.0, 90.0]]


def test_tours_are_copied_when_somebody_asks_and_not_too_often(problem, monkeypatch):
    monkeypatch.setattr(live, "PAUSE", 1000.0)
    run = LiveRun(problem)
    copied = []

    def publish(length):
        run.publish(event(length, tour=lambda: copied.append(length) or np.arange(60, dtype=np.int32)))

    publish(100.0)
    assert copied == []
    assert run.tour(0, timeout=0.0) is None  # asked for now
    publish(99.0)
    publish(98.0)
    assert copied == [99.0]
    tour = run.tour(0, timeout=0.0)
    assert (tour.number, tour.length) == (1, 99.0)  # better than none
    assert run.tour(1, timeout=0.0) is None
    publish(97.0)
    assert copied == [99.0]
    run._next = 0.0
    publish(96.0)
    assert copied == [99.0, 96.0]
    assert run.tour(1, timeout=0.0).length == 96.0
    run._next = 0.0
    assert run.tour(2, timeout=0.0) is None
    publish(96.0)  # nothing new
    assert copied == [99.0, 96.0]


def test_no_copy_is_made_when_time_is_nearly_up(problem):
    run = LiveRun(problem)
    run._cost = 0.1
    for elapsed, there in ((9.5, False), (8.5, True)):
        assert run.tour(0, timeout=0.0) is None
        run.publish(event(elapsed=elapsed, time_limit=10.0))
        assert (run.tour(0, timeout=0.0) is not None) == there


def test_a_tour_comes_as_numbers(watch):
    client = Client(watch)
    with Search(watch, elapsed=2.5):
        response, cities = client.tour()
    assert cities.tolist() == list(range(60))
    told = [response.getheader(f"X-Tour-{name}") for name in ("Number", "Seconds", "Length")]
    assert told == ["1", "2.5", "100.0"]
    for after in ("", "-1", "x", "1" * 100):
        assert client.ask(f"tour?after={after}").status == 200


def test_there_is_no_tour_before_the_first(watch, monkeypatch):
    monkeypatch.setattr(server, "PATIENCE", 0.05)
    monkeypatch.setattr(live, "PATIENCE", 0.05)
    assert Client(watch).tour() is None
    response = Client(watch).post("save")
    assert response.status == 500
    assert "no tour yet" in json.loads(response.body)["error"]


def test_stop_ends_the_search(problem):
    with Watch(problem) as watch:
        client = Client(watch)
        asker = threading.Thread(target=lambda: client.post("stop"))
        asker.start()
        result = warptsp.solve(problem, time_limit=60, callback=watch, threads=1, device="cpu")
        asker.join()
        watch.finish(result)
        assert result.stop_reason == "stopped from the page"
        assert not result.interrupted
        with client.events() as messages:
            last = next(messages)
        assert last["state"] == "done"
        assert last["text"] == "Finished: stopped from the page"
        assert last["length"] == result.length
        assert "left" not in last["figures"]
        assert client.tour()[1].tolist() == result.tour.tolist()
        assert watch.wait(30)


def test_save_gives_a_download(watch, problem, tmp_path):
    with Search(watch):
        response = Client(watch).post("save")
    assert response.status == 200
    assert response.getheader("Content-Type").startswith("text/plain")
    (tmp_path / "saved.tour").write_bytes(response.body)
    assert warptsp.read_tour(tmp_path / "saved.tour", problem).tolist() == list(range(60))


def test_save_writes_where_it_was_told(problem):
    written = []
    with Watch(problem, save=lambda tour: written.append(tour.tolist()) or ["a.tour", "b.csv"]) as watch:
        with Search(watch):
            response = Client(watch).post("save")
        assert json.loads(response.body) == {"files": ["a.tour", "b.csv"], "length": 100.0}
        assert written == [list(range(60))]
        watch.finish(warptsp.solve(problem, kicks=0))
        response = Client(watch).post("save")
    assert response.status == 409
    assert "has ended" in json.loads(response.body)["error"]
    assert len(written) == 1


def test_a_save_that_fails_says_why_and_the_search_goes_on(problem):
    save = calls.raising(OutputError("out.tour: cannot write: No space left on device"))
    no_tour = {"tour": lambda: np.zeros(60, dtype=np.int32)}  # only tours are saved
    for given, words in (({}, "out.tour: cannot write"), (no_tour, "node 1 is there more than once")):
        with Watch(problem, save=save) as watch, Search(watch, **given) as search:
            response = Client(watch).post("save")
            assert search.is_alive()
        assert response.status == 500
        assert words in json.loads(response.body)["error"]


# Many clients, and bad ones


def test_clients_that_hang_stop_nobody(problem, monkeypatch):
    monkeypatch.setattr(server, "CONNECTIONS", 1)
    assert server.WatchHandler.timeout == server.PATIENCE
    monkeypatch.setattr(server.WatchHandler, "timeout", 0.3)
    large = warptsp.Problem.from_points(np.random.default_rng(0).random((2_000_000, 2)))
    cities = np.arange(2_000_000, dtype=np.int32)
    with Watch(large) as watch:
        client = Client(watch)
        deaf = socket.create_connection(client.host.split(":"), timeout=30)
        deaf.sendall(f"GET /{client.token}/tour HTTP/1.0\r\nHost: {client.host}\r\n\r\n".encode())
        lengths = itertools.count(1e6, -1.0)
        while not select.select([deaf], [], [], 0.01)[0]:  # until its answer begins
            assert watch(event(next(lengths), tour=lambda: cities)) is None
        for _ in range(1000):
            assert watch(event(next(lengths), tour=lambda: cities)) is None
        # Whoever takes nothing makes room for others.
        while (response := client.post("stop")).status != 202:
            assert response.status == 503
            time.sleep(0.05)
        assert watch(event(1.0)) == live.STOPPED
        deaf.close()


def test_who_finds_no_place_is_told_to_come_back(problem, monkeypatch):
    monkeypatch.setattr(server, "CONNECTIONS", 2)
    monkeypatch.setattr(server, "HEARTBEAT", 0.1)
    with Watch(problem) as watch:
        client = Client(watch)
        with client.events() as one, client.events() as two:
            next(one), next(two)
            for response in (client.ask(), client.ask("tour"), client.post("stop")):
                assert response.status == 503
                assert response.getheader("Retry-After") == "1"
                assert b"Too many pages" in response.body
            assert client.ask(path="/x/").status == 403  # strangers learn nothing of that
        assert watch(event()) is None  # not stopped
        while client.ask().status != 200:
            time.sleep(0.01)


@contextmanager
def idle(client, count, say=b""):
    """So many connections that say something, and then nothing."""
    connections = []
    try:
        for _ in range(count):
            connections.append(socket.create_connection(client.host.split(":"), timeout=30))
            connections[-1].sendall(say)
        yield connections
    finally:
        for connection in connections:
            connection.close()


def heard(connection):
    """What a connection is told until its end."""
    said = b""
    with suppress(ConnectionResetError):
        while more := connection.recv(4096):
            said += more
    return said


@pytest.mark.parametrize("say", [b"", b"GET /"])
def test_a_page_goes_on_under_idle_connections(watch, say, monkeypatch):
    monkeypatch.setattr(server, "REQUEST_TIME", 600.0)
    monkeypatch.setattr(server.WatchHandler, "timeout", 600.0)
    client = Client(watch)
    with client.events() as messages, idle(client, 200, say) as connections:
        next(messages)
        # Surplus ones are told so, the oldest first.
        for connection in connections[: 200 - server.STRANGERS]:
            status, *headers = heard(connection).split(b"\r\n")
            assert status == b"HTTP/1.0 503 Service Unavailable"
            assert b"Retry-After: 1" in headers
        with Search(watch, length=77.0) as search:
            while next(messages).get("length") != 77.0:
                pass
            assert client.ask().status == 200
            assert client.tour()[1].tolist() == list(range(60))
            with client.events() as others:
                assert next(others)["length"] == 77.0
            assert client.post("stop").status == 202
            search.join(60)
        assert search.answer == live.STOPPED


def test_who_waits_for_a_tour_is_no_stranger(watch, monkeypatch):
    answers = []
    asker = threading.Thread(target=lambda: answers.append(Client(watch).tour()))
    asker.start()
    while not watch._live._watchers:
        time.sleep(0.01)
    monkeypatch.setattr(server, "REQUEST_TIME", -1.0)
    watch._server.service_actions()
    with Search(watch):
        asker.join()
    assert answers[0][1].tolist() == list(range(60))


def test_idle_connections_are_closed(watch, monkeypatch):
    client = Client(watch)
    with client.events() as messages, idle(client, 3) as connections:
        next(messages)
        monkeypatch.setattr(server, "REQUEST_TIME", 0.1)
        for connection in connections:
            assert heard(connection).startswith(b"HTTP/1.0 408 Request Timeout\r\n")
        # Who is served is no stranger.
        watch(event(55.0))
        assert next(messages)["length"] == 55.0


def test_a_request_that_comes_byte_by_byte_is_not_waited_for(watch, monkeypatch):
    monkeypatch.setattr(server, "REQUEST_TIME", 0.3)
    client = Client(watch)
    request = f"POST /{client.token}/stop HTTP/1.0\r\nHost: {client.host}\r\nX-Slow: " + "x" * 10_000
    with idle(client, 1) as [connection]:
        connection.settimeout(0.02)  # less than any patience between two bytes
        said = b""
        for byte in request.encode():
            with suppress(ConnectionError):
                connection.send(bytes([byte]))
            with suppress(TimeoutError, ConnectionResetError):
                said = connection.recv(1000)
                break
        else:
            pytest.fail("is still waited for")
    assert said.startswith(b"HTTP/1.0 408 ") or not said
    assert watch(event()) is None


@pytest.mark.parametrize(("grace", "seconds"), [(0.1, 60.0), (600.0, 0.0)])
def test_a_client_that_does_not_close_its_stream_is_waited_for_a_while(problem, monkeypatch, grace, seconds):
    monkeypatch.setattr(server, "GRACE", grace)
    with Watch(problem) as watch:
        with Client(watch).events() as messages:
            next(messages)
            watch.finish(warptsp.solve(problem, kicks=0))
            assert watch.wait(seconds) == (grace < seconds)
        assert watch.wait(60)


def test_the_page_says_how_long_a_page_is_waited_for(problem):
    page = Path(__file__).parents[2] / "docs" / "watch.md"
    assert f"({server.GRACE:.0f} seconds at most)" in page.read_text("utf-8")
    with Watch(problem) as watch:
        watch._live.expect()
        assert 0.0 < watch._live._expected - time.monotonic() <= server.GRACE


def test_a_browser_between_page_and_events_is_waited_for(problem, monkeypatch):
    with Watch(problem) as watch:
        watch.finish(warptsp.solve(problem, kicks=0))
        assert watch.wait(0.0)  # nobody ever came
        client = Client(watch)
        client.ask()
        assert not watch.wait(0.0)
        with client.events() as messages:
            assert next(messages)["state"] == "done"
        assert watch.wait(60)


def test_a_failed_run_says_so(watch):
    watch(event())
    watch.fail("Failed: out of memory")
    with Client(watch).events() as messages:
        said = next(messages)
    assert (said["state"], said["text"]) == ("error", "Failed: out of memory")


def test_a_run_that_found_no_tour_has_none(watch, problem):
    """An infinite length is no JSON, and with it no page learns that the run has ended."""
    watch(event(length=math.inf))
    result = warptsp.solve(problem, kicks=1)
    watch.finish(replace(result, length=math.inf, stop_reason="proved that there is no tour"))
    with Client(watch).events() as messages:
        said = next(messages)
    assert (said["state"], said["text"]) == ("error", "Finished: proved that there is no tour")
    assert "Infinity" not in json.dumps(said)
    assert Client(watch).tour() is None


def test_ports(problem):
    with Watch(problem) as watch:
        port = int(Client(watch).host.partition(":")[2])
        with pytest.raises(InvalidOption, match=f"port: 127.0.0.1:{port} is not available.*0 for any"):
            Watch(problem, port=port)
    with Watch(problem, port=port) as again:
        assert Client(again).ask().status == 200
    for port in (-1, 65536):
        with pytest.raises(InvalidOption, match="0 to 65535"):
            Watch(problem, port=port)


# The command


@pytest.fixture
def instance(tmp_path):
    np.save(tmp_path / "points.npy", np.random.default_rng(0).random((60, 2)))
    return tmp_path / "points.npy"


def start(instance, *arguments, command="watch"):
    """Start the command; return it and its client."""
    process = begin_command(command, instance, "--device", "cpu", *arguments, cwd=instance.parent)
    line = process.stderr.readline()
    assert line.startswith("watch        http://127.0.0.1:"), line + process.stderr.read()
    return process, Client(line.split()[1])


def test_watch_stops_by_the_button_and_writes(instance):
    process, client = start(instance, "--no-browser", "--time-limit", "10m", "-o", "out.tour", "--json", "-q")
    with client.events() as messages:
        searching(messages)
        saved = json.loads(client.post("save").body)
        assert saved["files"] == ["out.tour"]
        problem = warptsp.load(instance)
        problem.check_tour(warptsp.read_tour(instance.with_name("out.tour"), problem))
        client.post("stop")
        ending(messages)
        assert client.tour()[0].status == 200
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert err == ""
    result = json.loads(out)
    assert result["stop_reason"] == "stopped from the page"
    assert problem.length(warptsp.read_tour(instance.with_name("out.tour"), problem)) == result["length"]


def test_solve_may_be_watched_from_a_city_on(instance):
    process, client = start(
        instance, "--watch", "--from", "7", "-o", "out.npy", "--time-limit", "10m", command="solve"
    )
    with client.events() as messages:
        searching(messages)
        client.post("save")
        assert np.load(instance.with_name("out.npy"))[0] == 6
        client.post("stop")
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert "stopped from the page" in out


@needs_signals
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_as_without_a_page(instance, number):
    process, client = start(instance, "--no-browser", "--time-limit", "10m", "-o", "out.tour")
    with client.events() as messages:
        searching(messages)
        process.send_signal(number)
        ending(messages)
        if number == signal.SIGINT:  # this page does not close its stream
            process.wait()
    out, err = process.communicate()
    assert process.returncode == 128 + number, err
    assert "Traceback" not in err
    assert os.path.exists(instance.with_name("out.tour"))
    assert f"stopped by   {'Ctrl-C' if number == signal.SIGINT else 'SIGTERM'}" in out


@needs_signals
def test_the_wait_for_a_page_ends_by_ctrl_c(instance):
    process, client = start(instance, "--no-browser", "--kicks", "10", "-o", "out.tour", "--progress", "none")
    with client.events() as messages:
        ending(messages)
        assert "waiting until the page has the last tour; Ctrl-C" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 0, err
    assert err == ""
    assert "tour         out.tour" in out


def test_it_listens_on_this_machine_only(instance):
    psutil = pytest.importorskip("psutil", reason="an extra brings it: pip install 'warptsp[dask]'")
    process, client = start(instance, "--no-browser", "--time-limit", "10m", "-q")
    with client.events() as messages:
        searching(messages)
        me = psutil.Process(process.pid)
        tree = [me, *me.children(recursive=True)]
        open_ = [c for one in tree for c in one.net_connections("inet") if c.status == psutil.CONN_LISTEN]
        assert [f"{c.laddr.ip}:{c.laddr.port}" for c in open_] == [client.host]
        client.post("stop")
    process.communicate()
    assert process.returncode == 0
    assert not any(one.is_running() for one in tree)


def test_nobody_watches(instance, capsys):
    assert run(["solve", str(instance), "--watch", "--kicks", "10"]) == 0
    assert "watch        http://127.0.0.1:" in capsys.readouterr().err


def test_complaints(instance, capsys):
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        assert run(["watch", str(instance), "--no-browser", "--port", port]) == 2
    assert f"127.0.0.1:{port} is not available" in capsys.readouterr().err
    assert run(["solve", str(instance), "--port", "8000"]) == 2
    assert "--port: only --watch serves a page with a port" in capsys.readouterr().err


@pytest.mark.parametrize("display", [True, False])
def test_the_browser_is_opened_where_there_is_a_display(instance, monkeypatch, capsys, display):
    opened = threading.Event()

    def browse(ticket):
        host = ticket.split("/")[2]
        response = Client(f"http://{host}/x/").ask(path=ticket.partition(host)[2])
        assert response.status == 303
        client = Client(f"http://{host}{response.getheader('Location')}")
        assert client.token not in ticket
        assert client.ask(path=ticket.partition(host)[2]).status == 403  # once
        assert client.ask().status == 200
        with client.events() as messages:
            ending(messages)
        opened.set()

    monkeypatch.setattr("webbrowser.open", browse)
    monkeypatch.setattr("warptsp.watch.watch.has_display", lambda: display)
    assert run(["watch", str(instance), "--kicks", "10"]) == 0
    assert opened.is_set() == display
    assert ("no display here" in capsys.readouterr().err) == (not display)


def test_the_page_has_a_map_from_where_it_was_asked_for():
    tiles = Tiles("https://a.example/{z}/{x}/{y}.png")
    on_earth = warptsp.Problem.from_points([[52.5, 13.4], [48.9, 2.4]], "GREAT_CIRCLE")
    with Watch(on_earth, tiles=tiles) as watch:
        assert "connect-src 'self' https://a.example;" in unescape(watch._page().decode())
    with pytest.raises(InvalidOption, match="a map lies below latitudes"):
        Watch(warptsp.Problem.from_points([[0.0, 0.0], [1.0, 1.0]]), tiles=tiles)
