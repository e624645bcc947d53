"""A result as HTML, for notebooks: the picture beside the key numbers, a few hundred kilobytes at most.

Whatever colour the page has: the picture has no paper, and text has the colour of the page's text.
"""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING

from warptsp._facts import pairs_of
from warptsp._words import counted
from warptsp.plotting.colours import ON_ANY_PAGE
from warptsp.plotting.picture import Picture

if TYPE_CHECKING:
    from warptsp.result import Result

SIZE = 420  # pixels of the picture's longer side on the page
FINENESS = 1.5  # pixels of an image for each of them: screens have more than they say
VECTOR_CITIES = 2000  # an SVG takes some ten bytes a city, an image the same for any number


def result_as_html(result: Result) -> str:
    """Return a piece of a page with the picture, if the cities have coordinates, and the key numbers."""
    problem = result.problem
    name = escape(problem.name or "Tour")
    kind = "closed tour" if problem.open is None else "open path"
    what = f"{counted(problem.n)}, {problem.metric.words}, {kind}"
    rows = "".join(
        f'<tr><th style="text-align:left;font-weight:normal;opacity:.75;padding:2px 1em 2px 0">{escape(fact)}'
        f'</th><td style="text-align:left;padding:2px 0">{escape(value)}</td></tr>'
        for fact, value in pairs_of(result.told())
    )
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:center">'
        f"{_picture(result, f'{name}, {what}')}<div><b>{name}</b><br>{what}"
        f'<table style="border-collapse:collapse;color:inherit;margin:.5em 0 0">{rows}</table></div></div>'
    )


def _picture(result: Result, words: str) -> str:
    problem = result.problem
    if problem.plot_points is None:
        return ""
    if problem.n <= VECTOR_CITIES:
        svg = Picture.of(problem, result.tour, SIZE).svg(ON_ANY_PAGE, None)
        return f'<div role="img" aria-label="{words}">{svg}</div>'
    picture = Picture.of(problem, result.tour, int(SIZE * FINENESS))
    data = base64.b64encode(picture.png(ON_ANY_PAGE)).decode()
    width, height = (round(side / FINENESS) for side in (picture.view.width, picture.view.height))
    return f'<img width="{width}" height="{height}" alt="{words}" src="data:image/png;base64,{data}">'
