"""The HTTP server of a watched run: for browsers of this machine that know its token.

What it refuses is decided before anything else is read: names of other hosts (DNS rebinding), pages of
other origins, other methods, wrong tokens, requests that are too large or take too long.

Connections come in two kinds. Those whose request is not there yet are strangers: any program of this machine
can open them, so the oldest gives way to the newest, and none stays for long. Who has shown the token has one
of `CONNECTIONS` places, which no stranger can take.
"""

from __future__ import annotations

import json
import logging
import secrets
import socket
import socketserver
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from http.client import LineTooLong
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np

from warptsp.errors import WarpTSPError
from warptsp.watch.live import GRACE, RunEnded

if TYPE_CHECKING:
    from io import BufferedIOBase

    from warptsp.watch.live import LiveRun

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"
CONNECTIONS = 32  # served at once; a browser has about three for each page
STRANGERS = 64  # connections at once that have not sent their request
REQUEST = 16_384  # bytes that a request may have, headers included
REQUEST_TIME = 10.0  # seconds for a request to come in full
PATIENCE = 10.0  # seconds for a client to take a piece of the answer, and for a tour to be there
RETRY = "1"  # seconds after which who found no place may ask again
EVENT_PAUSE = 0.25  # seconds between two events for one client at least
HEARTBEAT = 15.0  # seconds after which a silent stream says that it is alive
PIECE = 1 << 18  # bytes that are handed to the system at once
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "origin",  # without the token; tile servers want to know who asks
    "X-Content-Type-Options": "nosniff",
}


class WatchServer(ThreadingHTTPServer):
    """Serves the page, its events and tours, each connection in a thread of its own.

    `page` returns the page, and is called once, when it is first asked for; port 0 is any that is free.
    """

    daemon_threads = True
    # On Windows this would let two programs have one port.
    allow_reuse_address = sys.platform != "win32"
    request_queue_size = 128

    def __init__(self, live: LiveRun, page: Callable[[], bytes], port: int = 0) -> None:
        self.live = live
        self.token = secrets.token_urlsafe(24)
        self._make = page
        self._made: bytes | None = None
        self._making = threading.Lock()
        self._ticket = ""
        self._redeeming = threading.Lock()
        self.places = threading.BoundedSemaphore(CONNECTIONS)
        self._strangers: dict[socket.socket, float] = {}  # and since when, oldest first
        self._admitting = threading.Lock()
        super().__init__((HOST, port), WatchHandler)
        own = f":{self.server_port}"
        self.hosts = {f"{name}{own}" for name in (HOST, "localhost")}
        if self.server_port == 80:
            self.hosts |= {HOST, "localhost"}

    @property
    def url(self) -> str:
        """The address of the page, token included."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    def ticket(self) -> str:
        """Return an address that leads to the page once, for places where others may see it."""
        self._ticket = secrets.token_urlsafe(24)
        return f"http://{HOST}:{self.server_port}/open/{self._ticket}"

    def redeem(self, text: str) -> bool:
        """Whether this is the ticket; it is none any more after that."""
        with self._redeeming:
            valid = self._ticket != "" and secrets.compare_digest(_bytes(text), _bytes(self._ticket))
            if valid:
                self._ticket = ""
            return valid

    def is_token(self, text: str) -> bool:
        """Whether this is the token; takes as long whatever is wrong with it."""
        return secrets.compare_digest(_bytes(text), _bytes(self.token))

    def page(self) -> bytes:
        with self._making:
            if self._made is None:
                self._made = self._make()
            return self._made

    def server_bind(self) -> None:
        """Take the port, without the look-up of names that `http.server` does."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve a connection in a thread of its own, a stranger for now; the oldest one may have to go."""
        with self._admitting:
            self._strangers[request] = time.monotonic()
            if len(self._strangers) > STRANGERS:
                self._turn_away(next(iter(self._strangers)), HTTPStatus.SERVICE_UNAVAILABLE)
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """Turn away who has not sent a request in time; called twenty times a second."""
        latest = time.monotonic() - REQUEST_TIME
        with self._admitting:
            for stranger in [stranger for stranger, since in self._strangers.items() if since < latest]:
                self._turn_away(stranger, HTTPStatus.REQUEST_TIMEOUT)

    def shutdown_request(self, request: Any) -> None:
        self.admit(request)
        super().shutdown_request(request)

    def admit(self, request: Any) -> bool:
        """Whether this connection may still be answered; it is no stranger after that."""
        with self._admitting:
            return self._strangers.pop(request, None) is not None

    def _turn_away(self, stranger: socket.socket, status: HTTPStatus) -> None:
        # Its thread reads, and writes nothing before it is admitted: now it reads the end.
        del self._strangers[stranger]
        head = f"HTTP/1.0 {status.value} {status.phrase}\r\nRetry-After: {RETRY}\r\nContent-Length: 0\r\n\r\n"
        with suppress(OSError):  # it has gone
            stranger.sendall(head.encode())
        with suppress(OSError):
            stranger.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log what went wrong with a connection: mostly that a browser has gone."""
        logger.debug("watch: a connection broke", exc_info=True)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


class _Limited:
    """A stream that gives a request so many bytes and no more."""

    def __init__(self, stream: BufferedIOBase, left: int) -> None:
        self._stream = stream
        self._left = left

    def readline(self, limit: int = -1) -> bytes:
        line = self._stream.readline(self._left + 1)
        self._left -= len(line)
        if self._left < 0:
            raise LineTooLong("request")
        return line

    def close(self) -> None:
        self._stream.close()


class WatchHandler(BaseHTTPRequestHandler):
    """One request. HTTP 1.0: each has a connection of its own, so that nobody holds one without need."""

    server: WatchServer
    timeout = PATIENCE  # of each writing; for reading there is a limit on all of it
    server_version = "warptsp"
    sys_version = ""

    def setup(self) -> None:
        super().setup()
        self._is_in = False
        self.rfile = _Limited(self.rfile, REQUEST)  # type: ignore[assignment]

    def handle_one_request(self) -> None:
        """Serve a request, if its first line is not too long already."""
        try:
            super().handle_one_request()
        except LineTooLong:
            self.requestline, self.request_version, self.command = "", "", ""
            self._refuse(HTTPStatus.REQUEST_URI_TOO_LONG, "The address is too long.")

    def do_GET(self) -> None:
        pages: dict[str, Callable[[], None]] = {"": self._page, "events": self._events, "tour": self._tour}
        self._serve(pages)

    def do_POST(self) -> None:
        self._serve({"stop": self._stop, "save": self._save}, changes=True)

    def send_response(self, code: int, message: str | None = None) -> None:
        """Begin any answer, also to a request that could not be read to its end."""
        self._come_in()
        super().send_response(code, message)

    def _come_in(self) -> None:
        # Whoever was turned away in the meantime has got its answer.
        if not self._is_in and not self.server.admit(self.connection):
            raise ConnectionAbortedError
        self._is_in = True

    def log_message(self, format: str, *args: Any) -> None:
        """Log a request, without its address, which has the token in it."""
        logger.debug("watch: %s", self.command)

    def _serve(self, pages: Mapping[str, Callable[[], None]], *, changes: bool = False) -> None:
        self._come_in()
        server, headers = self.server, self.headers
        hosts, origins = headers.get_all("Host", []), headers.get_all("Origin", [])
        if len(hosts) != 1 or hosts[0].lower() not in server.hosts:
            self._refuse(
                HTTPStatus.MISDIRECTED_REQUEST, f"This is {HOST}:{server.server_port} and nobody else."
            )
            return
        own = [f"http://{hosts[0].lower()}"]
        if origins != own and (origins or changes):
            self._refuse(HTTPStatus.FORBIDDEN, "Pages of other origins are not served.")
            return
        if "Transfer-Encoding" in headers or headers.get("Content-Length", "0") != "0":
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "A request has no body here.")
            return
        path, _, query = self.path.partition("?")
        token, slash, name = path.removeprefix("/").partition("/")
        if token == "open" and not changes and server.redeem(name):
            server.live.expect()
            self._begin(HTTPStatus.SEE_OTHER, {"Location": f"/{server.token}/", "Content-Length": "0"})
            return
        sent = headers.get("X-Warptsp-Token", "") if changes else token
        if not (slash and server.is_token(token) and server.is_token(sent)):
            self._refuse(
                HTTPStatus.FORBIDDEN,
                "The token is missing or wrong: copy the whole address from the terminal.",
            )
            return
        if name not in pages:
            self._refuse(HTTPStatus.NOT_FOUND, "There is no such page.")
            return
        self._query = query
        if not server.places.acquire(blocking=False):
            text = "Too many pages are open."
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, text, {"Retry-After": RETRY})
            return
        try:
            with server.live.watcher():
                pages[name]()
        finally:
            server.places.release()

    # What is served

    def _page(self) -> None:
        self.server.live.expect()
        self._send("text/html; charset=utf-8", self.server.page())

    def _events(self) -> None:
        live = self.server.live
        live.expect(0.0)
        self._begin(HTTPStatus.OK, {"Content-Type": "text/event-stream"})
        self.wfile.write(b"retry: 1000\n\n")
        seen, points = -1, 0
        while not live.closed:
            now = live.news(seen, HEARTBEAT)
            if now == seen:
                self.wfile.write(b": still there\n\n")
                continue
            ended, seen = live.ended, now
            said, points = live.message(points)
            self.wfile.write(b"data: " + json.dumps(said).encode() + b"\n\n")
            if ended:
                self._await_end()
                return
            time.sleep(EVENT_PAUSE)

    def _await_end(self) -> None:
        """Wait until the client closes the stream: it has got the last tour."""
        self.connection.settimeout(GRACE)
        try:
            self.connection.recv(1)
        except OSError:
            logger.debug("watch: a client did not close its stream of events")

    def _tour(self) -> None:
        name, _, text = self._query.partition("=")
        after = int(text) if name == "after" and text.isascii() and text.isdigit() and len(text) < 10 else 0
        tour = self.server.live.tour(after, PATIENCE)
        if tour is None:
            self._begin(HTTPStatus.NO_CONTENT, {})
            return
        facts = {
            "X-Tour-Number": str(tour.number),
            "X-Tour-Seconds": repr(tour.seconds),
            "X-Tour-Length": repr(tour.length),
        }
        body = memoryview(np.ascontiguousarray(tour.cities, dtype="<i4").view(np.uint8))  # type: ignore[arg-type]
        self._send("application/octet-stream", body, facts)

    def _stop(self) -> None:
        self.server.live.request_stop()
        self._answer(HTTPStatus.ACCEPTED, {})

    def _save(self) -> None:
        try:
            tour, files = self.server.live.save()
        except RunEnded as error:
            self._answer(HTTPStatus.CONFLICT, {"error": str(error)})
        except WarpTSPError as error:
            self._answer(HTTPStatus.INTERNAL_SERVER_ERROR, {"error": str(error)})
        else:
            if files:
                self._answer(HTTPStatus.OK, {"files": list(files), "length": tour.length})
                return
            from warptsp.io.tsplib import tour_tsplib

            text = b"".join(tour_tsplib(self.server.live.problem, tour.cities))
            self._send("text/plain; charset=utf-8", text)

    # How it is sent

    def _begin(self, status: HTTPStatus, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in (HEADERS | dict(headers)).items():
            self.send_header(name, value)
        self.end_headers()

    def _send(
        self,
        kind: str,
        body: bytes | memoryview,
        headers: Mapping[str, str] | None = None,
        status: HTTPStatus = HTTPStatus.OK,
    ) -> None:
        self._begin(status, {"Content-Type": kind, "Content-Length": str(len(body)), **(headers or {})})
        view = memoryview(body)
        for begin in range(0, len(view), PIECE):  # so that patience is for each piece
            self.wfile.write(view[begin : begin + PIECE])

    def _answer(self, status: HTTPStatus, values: Mapping[str, Any]) -> None:
        self._send("application/json", json.dumps(values).encode(), status=status)

    def _refuse(self, status: HTTPStatus, text: str, headers: Mapping[str, str] | None = None) -> None:
        self._send("text/plain; charset=utf-8", f"{text}\n".encode(), headers, status)
