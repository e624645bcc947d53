"""The cache of compiled kernels: found again, and never in the way."""

import logging
import os
from pathlib import Path

import pytest

from warptsp.backends.cuda import cache
from warptsp.backends.cuda.cache import Code

CODE = Code("cubin", bytes(range(256)) * 10, {"f<int>": "_Z1fi"})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache" / "kernels"


def test_what_was_stored_is_loaded(folder):
    assert cache.load("key") is None
    cache.store("key", CODE)
    assert cache.load("key") == CODE
    assert [path.name for path in folder.iterdir()] == ["key"]  # and nothing half written


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:20],
        lambda content: content[:-1],
        lambda content: content + b"x",
        lambda content: content[:100] + bytes([content[100] ^ 1]) + content[101:],
        lambda content: b"another program's file",
    ],
)
def test_a_damaged_entry_is_removed_and_made_again(folder, caplog, damage):
    cache.store("key", CODE)
    path = folder / "key"
    path.write_bytes(damage(path.read_bytes()))
    with caplog.at_level(logging.WARNING):
        assert cache.load("key") is None
    assert "is damaged" in caplog.text
    assert not path.exists()
    cache.store("key", CODE)
    assert cache.load("key") == CODE


def test_a_folder_that_cannot_be_made_costs_a_warning(tmp_path, monkeypatch, caplog):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(cache.VARIABLE, str(tmp_path / "file"))
    with caplog.at_level(logging.WARNING):
        cache.store("key", CODE)
        assert cache.load("key") is None
    assert "cannot be written" in caplog.text
    assert cache.VARIABLE in caplog.text


def test_an_entry_that_cannot_be_read_costs_a_warning(folder, caplog):
    (folder / "key").mkdir(parents=True)
    with caplog.at_level(logging.WARNING):
        assert cache.load("key") is None
    assert "cannot be read" in caplog.text
    cache.store("key", CODE)  # cannot replace a folder
    assert [path.name for path in folder.iterdir()] == ["key"]


def test_old_entries_are_removed(folder, monkeypatch):
    monkeypatch.setattr(cache, "MAX_ENTRIES", 3)
    for k in range(5):
        cache.store(f"key{k}", CODE)
        os.utime(folder / f"key{k}", (k, k))
    cache.store("last", CODE)
    assert {path.name for path in folder.iterdir()} == {"last", "key4", "key3"}


def test_the_folder(monkeypatch, tmp_path):
    monkeypatch.delenv(cache.VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.folder() == tmp_path / "warptsp" / "kernels"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # the standard says: ignore it
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache.folder() == tmp_path / ".cache" / "warptsp" / "kernels"
    monkeypatch.setenv(cache.VARIABLE, "/elsewhere")
    assert cache.folder() == Path("/elsewhere/kernels")


def test_no_cache_at_all(monkeypatch, caplog):
    monkeypatch.setenv(cache.VARIABLE, "")
    cache.store("key", CODE)
    assert cache.load("key") is None
    assert caplog.text == ""


def test_the_digest_tells_parts_apart():
    assert cache.digest("ab", "c") != cache.digest("a", "bc")
    assert cache.digest("a", ["b"], 1) == cache.digest("a", ["b"], 1)
