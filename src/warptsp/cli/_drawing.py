"""How tours are drawn: which axis points where, and what map lies below them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from warptsp.cli._command import option
from warptsp.errors import InvalidOption

if TYPE_CHECKING:
    from warptsp.problem import Problem
    from warptsp.report import Tiles


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """Which axis of the coordinates points where."""

    swap_axes: Annotated[bool, option("Draw x upwards and y to the right.")]
    mirror: Annotated[bool, option("Draw left and right exchanged.")]

    @property
    def given(self) -> str | None:
        """The first of these options that was given, None if there is none."""
        return "--swap-axes" if self.swap_axes else "--mirror" if self.mirror else None

    def turned(self, problem: Problem) -> Problem:
        """Return the instance as it is drawn."""
        if self.given is None:
            return problem
        from warptsp.plotting.plane import city_plane, drawn_on_earth

        if drawn_on_earth(problem):
            raise InvalidOption(
                f"{self.given}: latitudes and longitudes are drawn as a map, north above; leave it out"
            )
        points = city_plane(problem)[:, :: -1 if self.swap_axes else 1]
        return replace(problem, display=points * [-1.0 if self.mirror else 1.0, 1.0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Map:
    """The map that a page can show below the tour."""

    tiles: Annotated[
        str | None,
        option(
            "Let the page load map tiles from this address with {z}, {x} and {y}; else it loads nothing.",
            "URL",
        ),
    ]
    attribution: Annotated[
        str | None, option("Makers of the map, as the page names them.", "TEXT", "--tiles-attribution")
    ]

    def chosen(self) -> Tiles | None:
        """Return where tiles come from, if anywhere."""
        if self.tiles is None:
            if self.attribution is not None:
                raise InvalidOption("--tiles-attribution: of which map? Name its address with --tiles")
            return None
        from warptsp.report import Tiles

        return Tiles(self.tiles, self.attribution or "")
