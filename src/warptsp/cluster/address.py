"""The names that a cluster can have, checked before anything is connected or started."""

from __future__ import annotations

import re

from warptsp.errors import InvalidOption

MAX_WORKERS = 1024  # of local:N and threads:N; larger numbers are ports
PROTOCOLS = ("tcp", "tls", "ws", "wss", "ucx", "inproc")  # of Dask
FORM = "an address such as tcp://10.0.0.1:8786, local, local:8, threads, threads:8 or devices"


def named_cluster(cluster: str) -> tuple[str, int | None]:
    """Return the kind of cluster, "" for an address, and how many workers it shall have.

    Raises
    ------
    InvalidOption
        If it is no name of a cluster: what is wrong with it.
    """
    kind, colon, count = cluster.partition(":")
    if kind not in ("local", "threads", "devices") or count.startswith("//"):
        _check_address(cluster)
        return "", None
    if not colon:
        return kind, None
    if kind == "devices":
        raise InvalidOption(f"cluster {cluster!r}: devices are all GPUs of this machine and take no number")
    if not (_is_number(count) and 1 <= int(count) <= MAX_WORKERS):
        raise InvalidOption(
            f"cluster {cluster!r}: local:N and threads:N take a number of workers from 1 to {MAX_WORKERS}; "
            f"a scheduler on a host of that name is tcp://{cluster}"
        )
    return kind, int(count)


def _check_address(address: str) -> None:
    protocol, separator, place = address.rpartition("://")
    if not address or (separator and not place) or re.search(r"\s|[^\x21-\x7e]", address):
        raise InvalidOption(f"cluster {address!r}: give {FORM}")
    if separator and protocol not in PROTOCOLS:
        raise InvalidOption(
            f"cluster {address!r}: {protocol!r} is not a protocol of Dask, which are {', '.join(PROTOCOLS)}; "
            f"give {FORM}"
        )
    if protocol == "inproc":  # a scheduler in this process; the rest is Dask's own affair
        return
    match = re.fullmatch(r"(?P<host>\[[0-9A-Za-z:.%]+\]|[^\[\]/:@?#]+)(?::(?P<port>[^:/]*))?/?", place)
    if match is None:
        raise InvalidOption(
            f"cluster {address!r}: {place!r} is not a host and port, such as 10.0.0.1:8786 or [::1]:8786; "
            f"give {FORM}"
        )
    port = match["port"]
    if not port:
        raise InvalidOption(
            f"cluster {address!r}: the port is missing, as in {protocol or 'tcp'}://{match['host']}:8786; "
            f"give {FORM}"
        )
    if not (_is_number(port) and 1 <= int(port) <= 65535):
        raise InvalidOption(f"cluster {address!r}: port {port!r} is not a number from 1 to 65535")


def _is_number(text: str) -> bool:
    # Bounded, since Python refuses to read numbers of thousands of digits.
    return re.fullmatch(r"[0-9]{1,9}", text) is not None
