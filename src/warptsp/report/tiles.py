"""Map tiles below a tour: whose they are is said by who makes the page, and otherwise none are fetched."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from warptsp._checks import shown
from warptsp._words import as_called
from warptsp.errors import InvalidOption

# An origin as a Content Security Policy takes it, and a path of characters that addresses have.
_TEMPLATE = re.compile(
    r"https?://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]{1,5})?/[\w.~!$&'()*+,;=:@%/?{}-]*", re.ASCII | re.I
)


@dataclass(frozen=True, slots=True)
class Tiles:
    """A server of map tiles.

    Attributes
    ----------
    template : str
        An http or https address with ``{z}``, ``{x}`` and ``{y}``, as most maps in browsers take it.
    attribution : str
        Whom the map names as its makers, as text; if it is empty, the server, or for openstreetmap.org its
        contributors.

    Raises
    ------
    InvalidOption
        If the template is none.
    """

    template: str
    attribution: str = ""

    def __post_init__(self) -> None:
        found = _TEMPLATE.fullmatch(self.template)
        if found is None or sorted(re.findall(r"\{.*?\}|[{}]", self.template)) != ["{x}", "{y}", "{z}"]:
            raise InvalidOption(
                f"{as_called('tiles', '--tiles')}: {shown(self.template)} is no http or https address "
                "with {z}, {x} and {y} behind its host, once each, such as https://tile.openstreetmap.org/{z}/{x}/{y}.png"
            )

    @property
    def origin(self) -> str:
        """Scheme, host and port: all that the page may connect to."""
        return "{0.scheme}://{0.netloc}".format(urlsplit(self.template))

    @property
    def credit(self) -> str:
        """What the page says below the map."""
        host = urlsplit(self.template).hostname or ""
        own = host == "openstreetmap.org" or host.endswith(".openstreetmap.org")
        return self.attribution or ("© OpenStreetMap contributors" if own else f"Map: {host}")
