"""Calls on threads of their own."""

import threading

import pytest
from calls import raising

from warptsp.backends.beside import Beside


def test_what_a_call_returns_and_raises() -> None:
    assert Beside(divmod, 7, 2).result() == (3, 1)
    failed = Beside(divmod, 7, 0)
    failed.wait()
    assert failed.is_done()
    with pytest.raises(ZeroDivisionError):
        failed.result()


def test_a_call_goes_on_beside() -> None:
    event = threading.Event()
    call = Beside(event.wait, timeout=60.0)
    assert not call.is_done()
    event.set()
    assert call.result()
    assert call.is_done()


def test_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading.Thread, "start", raising(RuntimeError("can't start new thread")))
    call = Beside(divmod, 7, 2)
    assert call.is_done()
    assert call.result() == (3, 1)
