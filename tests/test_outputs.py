"""Files that are written whole or not at all."""

import os
import stat
import subprocess
import sys

import pytest

from warptsp.errors import OutputError
from warptsp.outputs import atomic_write, check_writable


def test_check_leaves_no_trace(tmp_path):
    check_writable(tmp_path / "tour.csv")
    assert list(tmp_path.iterdir()) == []


def test_check_names_what_is_wrong(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="is a directory"):
        check_writable(tmp_path)
    with pytest.raises(OutputError, match="no directory"):
        check_writable(tmp_path / "none" / "tour.csv")
    with pytest.raises(OutputError, match="not a directory"):
        check_writable(tmp_path / "file" / "tour.csv")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_check_sees_permissions(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(OutputError, match="cannot write"):
            check_writable(tmp_path / "tour.csv")
    finally:
        tmp_path.chmod(0o700)


def test_the_new_file_takes_the_place_of_the_old_one(tmp_path):
    path = tmp_path / "tour.csv"
    path.write_text("old")
    path.chmod(0o640)
    with atomic_write(path) as stream:
        stream.write(b"new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "tour.csv"
    path.write_text("old")

    def fail():
        with atomic_write(path) as stream:
            stream.write(b"half")
            raise RuntimeError("disk on fire")

    with pytest.raises(RuntimeError, match="disk on fire"):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_goes_on_pointing_to_the_file(tmp_path):
    path = tmp_path / "tour.csv"
    path.write_text("old")
    link = tmp_path / "link.csv"
    link.symlink_to(path)
    with atomic_write(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert path.read_text() == "new"


def test_devices_are_written_directly():
    with atomic_write(os.devnull) as stream:
        stream.write(b"gone")
    assert check_writable(os.devnull)


def test_standard_output(tmp_path, capsysbinary):
    assert check_writable("-")
    print("before")
    with atomic_write("-") as stream:
        stream.write(b"bytes\n")
    print("after")
    assert capsysbinary.readouterr().out == b"before\nbytes\nafter\n"


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
def test_a_redirected_standard_output_is_not_replaced(tmp_path):
    path = tmp_path / "log"
    code = (
        "from warptsp.outputs import atomic_write\n"
        "for name in ('-', '/dev/stdout'):\n"
        "    with atomic_write(name) as stream:\n        stream.write(name.encode())"
    )
    with open(path, "ab") as log:
        log.write(b"before ")
        log.flush()
        subprocess.run([sys.executable, "-c", code], stdout=log, check=True)
    assert path.read_text() == "before -/dev/stdout"


def test_no_directory_is_an_output_error(tmp_path):
    with pytest.raises(OutputError, match="cannot write"), atomic_write(tmp_path / "none" / "x") as stream:
        stream.write(b"")
