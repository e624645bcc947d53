"""The colours of all pictures. Blue and vermilion are Okabe and Ito's, which the colour-blind tell apart."""

from dataclasses import dataclass

Colour = tuple[int, int, int]

BLUE: Colour = (0, 114, 178)
VERMILION: Colour = (213, 94, 0)
BLACK: Colour = (34, 34, 34)
GREY: Colour = (150, 150, 150)
WHITE: Colour = (255, 255, 255)


def css(colour: Colour) -> str:
    """Return a colour as SVG, HTML and matplotlib write it."""
    return "#{:02x}{:02x}{:02x}".format(*colour)


@dataclass(frozen=True)
class Theme:
    """What is drawn in which colour; without `paper` the page behind the picture is seen."""

    line: Colour
    dot: Colour
    fixed: Colour
    ink: str  # of texts
    paper: Colour | None = None
    land: Colour | None = None  # none is drawn without
    coast: Colour = GREY


ON_PAPER = Theme(
    BLUE, VERMILION, BLACK, ink=css(BLACK), paper=WHITE, land=(243, 241, 234), coast=(213, 209, 197)
)
ON_ANY_PAGE = Theme(line=(47, 134, 204), dot=(226, 109, 23), fixed=(128, 128, 128), ink="currentColor")
"""Light or dark behind it, each stands out."""
