"""Files that are written whole or not at all."""

import errno
import os
import shutil
import stat
import tempfile
import threading

import pytest
from calls import raising
from processes import run_code

from warptsp.errors import OutputError
from warptsp.outputs import atomic_write, check_writable


def write(path, content=b"new"):
    with atomic_write(path) as stream:
        stream.write(content)


def refused(path, message):
    """Make sure that a file is not written, and that this is known before."""
    for use in (check_writable, write):
        with pytest.raises(OutputError, match=message):
            use(path)


def test_check_leaves_no_trace_and_names_what_is_wrong(tmp_path):
    check_writable(tmp_path / "tour.csv")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    for path, message in (("", "is a directory"), ("none/a", "no directory"), ("file/a", "not a directory")):
        with pytest.raises(OutputError, match=message):
            check_writable(tmp_path / path)
    with pytest.raises(OutputError, match="cannot write"):
        write(tmp_path / "none" / "a")


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


def test_a_link_goes_on_pointing_to_the_file_and_other_hard_links_keep_the_old_one(tmp_path):
    path, link, other = tmp_path / "tour.csv", tmp_path / "link.csv", tmp_path / "other.csv"
    path.write_text("old")
    link.symlink_to(path)
    os.link(path, other)
    write(link)
    assert link.is_symlink()
    assert (path.read_text(), other.read_text()) == ("new", "old")


def test_devices_are_written_directly():
    write(os.devnull)
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
        run_code(code, stdout=log, check=True)
    assert path.read_text() == "before -/dev/stdout"


def partial_name(path):
    """The name that a file has while it is being written."""
    with atomic_write(path) as stream:
        return stream.name


def test_partial_names_cannot_be_guessed(tmp_path):
    path = tmp_path / "tour.csv"
    names = {partial_name(path) for _ in range(20)}
    assert len(names) == 20
    assert {os.path.dirname(name) for name in names} == {str(tmp_path)}


def test_a_planted_link_is_not_followed(tmp_path, monkeypatch):
    """Not even under the very name that is chosen."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    monkeypatch.setattr("secrets.token_hex", lambda size: "0" * 16)
    planted = tmp_path / ".tour.csv.0000000000000000.partial"
    planted.symlink_to(victim)
    with pytest.raises(OutputError, match="cannot write"):
        write(tmp_path / "tour.csv")
    assert victim.read_text() == "mine"


def test_a_link_that_the_system_would_not_follow_is_refused(tmp_path, monkeypatch):
    """As Linux does with links of others in /tmp: their target is not ours to choose."""
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("mine")
    link.symlink_to(target)
    stat_of = os.stat

    def refuse(path, *more, **options):
        if str(path) == str(link) and options.get("follow_symlinks", True):
            raise PermissionError(13, "Permission denied")
        return stat_of(path, *more, **options)

    monkeypatch.setattr(os, "stat", refuse)
    refused(link, "link: cannot write: Permission denied")
    assert target.read_text() == "mine"


def test_a_pipe_waits_for_its_reader(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=write, args=(pipe,))
    writer.start()
    assert pipe.read_bytes() == b"new"
    writer.join()


def of_another(link):
    """Give a link to somebody else, as only root can."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        pytest.skip("only root can make a link of somebody else")
    os.lchown(link, 12345, 12345)


@pytest.mark.parametrize("way", ["link", "folder", "behind"])
@pytest.mark.parametrize(
    ("mode", "owner", "is_refused"),
    [(0o1777, 0, True), (0o777, 0, True), (0o2775, 0, True), (0o755, 0, False), (0o1777, 12345, False)],
)
def test_a_link_of_another_user_in_a_shared_folder_is_refused(tmp_path, way, mode, owner, is_refused):
    """As a name, as a folder on the way to it, and behind a link of one's own."""
    shared, own = tmp_path / "shared", tmp_path / "own"
    shared.mkdir()
    own.mkdir()
    (own / "out.csv").write_text("old")
    link = shared / "link"
    link.symlink_to(own if way == "folder" else own / "out.csv")
    of_another(link)
    shared.chmod(mode)
    os.chown(shared, owner, -1)
    path = link / "out.csv" if way == "folder" else link
    if way == "behind":
        path = tmp_path / "mine.csv"
        path.symlink_to("shared/../shared/link")
    if not is_refused:
        write(path)
        assert (own / "out.csv").read_text() == "new"
        return
    refused(path, "link is a link that another user has put into a shared")
    assert (own / "out.csv").read_text() == "old"
    assert os.listdir(own) == ["out.csv"]


def test_the_umask_decides_for_new_files_and_the_old_one_for_others(tmp_path):
    path = tmp_path / "tour.csv"
    old = os.umask(0o027)
    try:
        write(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o600)
        with atomic_write(path) as stream:
            assert stat.S_IMODE(os.fstat(stream.fileno()).st_mode) == 0o600
        path.chmod(0o666)
        write(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o666
    finally:
        os.umask(old)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_stays(tmp_path):
    path = tmp_path / "tour.csv"
    path.write_text("old")
    os.chown(path, 65534, 65534)
    write(path)
    assert (path.stat().st_uid, path.stat().st_gid) == (65534, 65534)


def test_names_may_be_as_long_as_the_system_allows(tmp_path):
    for name in (
        "x" * 251 + ".csv",
        os.fsdecode("\N{SNOWMAN}".encode() * 83 + b".csv"),
        os.fsdecode(b"\xff" * 200 + b".csv"),
    ):
        path = tmp_path / name
        check_writable(path)
        write(path)
        assert path.read_bytes() == b"new"
    refused(tmp_path / ("x" * 252 + ".csv"), "cannot write: File name too long")


@pytest.mark.parametrize("name", ["a\0b.csv", "\ud800.csv"])
def test_what_is_no_name(name):
    refused(name, "cannot be the name of a file")


def test_a_loop_of_links_is_refused(tmp_path):
    path = tmp_path / "tour.csv"
    path.symlink_to(path)
    refused(path, "cannot write: Too many")
    assert path.is_symlink()


def test_what_a_killed_process_left_is_swept_and_what_is_being_written_is_not(tmp_path):
    path = tmp_path / "tour.csv"
    stale = tmp_path / ".tour.csv.0123456789abcdef.partial"
    stale.write_text("half")
    others = [tmp_path / ".other.csv.0123456789abcdef.partial", tmp_path / ".tour.csv.mine.partial"]
    for other in others:
        other.write_text("half")
    victim = tmp_path / "victim"
    victim.write_text("mine")
    link = tmp_path / ".tour.csv.fedcba9876543210.partial"
    link.symlink_to(victim)
    with atomic_write(path) as stream:
        stream.write(b"new")
        check_writable(path)
        assert os.path.exists(stream.name)
        assert not stale.exists()
    assert path.read_text() == "new"
    assert victim.read_text() == "mine"
    assert sorted(tmp_path.iterdir()) == sorted([path, *others, victim, link])


def test_what_is_swept_before_it_is_locked_is_made_again(tmp_path, monkeypatch):
    import fcntl

    path, lock, swept = tmp_path / "tour.csv", fcntl.flock, []

    def sweep(stream, operation):
        if not swept:
            swept.append(stream.name)
            os.unlink(stream.name)
        lock(stream, operation)

    monkeypatch.setattr(fcntl, "flock", sweep)
    write(path)
    assert swept
    assert path.read_text() == "new"


def test_a_file_among_the_devices_is_replaced(tmp_path):
    """Only names of open files, such as /dev/stdout, are written to their end."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("needs /dev/shm")
    path = f"/dev/shm/warptsp-{os.getpid()}.csv"
    try:
        write(path, b"a long one")
        write(path)
        with open(path, "rb") as file:
            assert file.read() == b"new"
    finally:
        os.unlink(path)


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="needs /dev/stdout")
def test_a_link_to_an_open_file(tmp_path):
    link, log = tmp_path / "link.csv", tmp_path / "log"
    link.symlink_to("/dev/stdout")
    code = f"from warptsp.outputs import atomic_write as w\nwith w({str(link)!r}) as s:\n    s.write(b'new')"
    with open(log, "wb") as stream:
        stream.write(b"before ")
        stream.flush()
        run_code(code, stdout=stream, check=True)
    assert log.read_text() == "before new"
    assert link.is_symlink()


def test_what_is_read_only_is_named(tmp_path, monkeypatch):
    """The file, or else the whole file system, which nobody can make writable by the file."""
    (tmp_path / "tour.csv").write_text("old")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(OutputError, match="the file exists and is read-only"):
        check_writable(tmp_path / "tour.csv")
    monkeypatch.setattr(tempfile, "TemporaryFile", raising(OSError(errno.EROFS, "Read-only file system")))
    with pytest.raises(OutputError, match=r"cannot write in .*: Read-only file system"):
        check_writable(tmp_path / "tour.csv")


@pytest.fixture
def foreign_folder():
    """A folder that this process may read and not write, also if it is root's."""
    folder = tempfile.mkdtemp(dir="/tmp")  # not where only root may look
    os.chmod(folder, 0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        os.chmod(folder, 0o755)
        shutil.rmtree(folder)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="needs POSIX")
def test_denied_permission(foreign_folder):
    refused(f"{foreign_folder}/tour.csv", "cannot write.*Permission denied")
    assert os.listdir(foreign_folder) == []
