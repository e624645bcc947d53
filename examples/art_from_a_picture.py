"""A picture drawn with a single closed line through a million cities.

You learn what a large instance needs: points generated in bulk with NumPy (weighted Voronoi stippling, after
A. Secord 2002: every point moves to the centre of the ink that is nearest to it), a proportionate time limit,
and a picture of the tour. After R. Bosch and A. Herman 2004, who were the first to draw with tours.

    python examples/art_from_a_picture.py OUT
    python examples/art_from_a_picture.py OUT --picture cat.jpg --cities 200000    # needs Pillow
"""

import argparse
from pathlib import Path

import numpy as np
from scipy.spatial import KDTree

import warptsp

PIXELS = 2000  # of the longer side of the picture

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("out", type=Path, help="output folder")
parser.add_argument("--picture", type=Path, help="photograph to draw; default: a planet with a ring")
parser.add_argument("--cities", type=int, help="default: 1 000 000, or 5000 with --small")
parser.add_argument("--small", action="store_true", help="5000 cities, a third of a second of search")
options = parser.parse_args()
options.out.mkdir(parents=True, exist_ok=True)
cities = options.cities or (5_000 if options.small else 1_000_000)


def planet(size):
    """Return a planet with a ring, in the light from the upper left: ink between 0 and 1 for each pixel."""
    y, x = np.mgrid[0.55 : -0.55 : size * 0.55j, -1 : 1 : size * 1j]
    x, y = 0.94 * x + 0.34 * y, 0.94 * y - 0.34 * x  # tilted
    light = np.array([-0.62, 0.45, 0.64])
    z = np.sqrt(np.clip(0.42**2 - x**2 - y**2, 0, None))  # of the ball, towards us
    lit = np.clip((x * light[0] + y * light[1] + z * light[2]) / 0.42, 0, 1)
    ball = np.where(z > 0, 1 - lit**0.8 * (0.8 + 0.1 * np.sin(55 * y + 12 * z)), 0)
    back = -3.4 * y  # of the ring, which lies in a plane: above the middle it is behind the ball
    radius = np.sqrt(x**2 + y**2 + back**2)
    along = x * light[0] + y * light[1] + back * light[2]
    shaded = (along < 0) & (radius**2 - along**2 < 0.42**2)
    ring = np.where(shaded, 1, 0.45 + 0.25 * np.sin(60 * radius))
    is_ring = (radius > 0.55) & (radius < 0.95) & (np.abs(radius - 0.79) > 0.015)
    return np.where(is_ring & ((z == 0) | (y < 0)), ring, ball)


def picture(size):
    """Return the ink of the user's picture, its longer side so many pixels."""
    from PIL import Image

    with Image.open(options.picture) as image:
        scale = size / max(image.size)
        grey = image.convert("L").resize([max(1, round(scale * side)) for side in image.size])
    return 1 - np.asarray(grey) / 255


def stipple(ink, count, steps):
    """Return so many places, close together where there is much ink, and spread evenly."""
    random = np.random.default_rng(1)
    row, column = np.nonzero(ink)
    pixels = np.column_stack([column, row])
    # Squared: a tour through k times as many places is only the root of k times as long.
    weight = ink[row, column] ** 2
    drops = np.cumsum(weight / weight.sum() * min(50 * count, 20_000_000))
    drops = pixels[np.repeat(np.arange(len(pixels)), np.diff(np.floor(drops), prepend=0).astype(int))]
    places = random.choice(drops, count, replace=False) + random.random((count, 2))
    for _ in range(steps):
        spread = drops + random.random(drops.shape)  # anywhere in their pixels
        nearest = KDTree(places).query(spread, workers=-1)[1]
        number = np.bincount(nearest, minlength=count)
        total = np.transpose([np.bincount(nearest, axis, count) for axis in spread.T])
        places[number > 0] = total[number > 0] / number[number > 0, None]
    return places


ink = picture(PIXELS) if options.picture else planet(PIXELS)
places = stipple(ink, cities, steps=15)
limit = 0.3 if options.small else max(10, cities / 10_000)
upright = warptsp.Problem.from_points(places * (1, -1), name="art")  # pixels count downwards
result = warptsp.solve(upright, time_limit=limit, seed=1)
print(f"{cities:,} cities, a line {result.length:,.0f} pixels long, after {result.seconds:.0f} s of search")

height, width = ink.shape
pen = 0.24 * width / cities**0.5
line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places[result.tour])
(options.out / "art.svg").write_text(
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}">'
    '<rect width="100%" height="100%" fill="white"/>'
    f'<polygon points="{line}" fill="none" stroke="black" stroke-width="{pen:.2f}" stroke-linejoin="round"/>'
    "</svg>\n"
)
result.save(options.out / "art.png")  # for many cities, whose SVG takes long to show
result.save(options.out / "art.npy")
