"""Drilling a circuit board in less time.

You learn to use the machine's own metric: both axes move at once, so the way from hole to hole takes as long
as the longer of the two movements, which is the metric MAX_2D. You also learn to let a tour begin and end at
a given place, and to compare orders by what counts, seconds of machine time. The board is made up.

    python examples/drilling_a_board.py OUT
"""

import argparse
from pathlib import Path

import numpy as np

import warptsp

SPEED = 200.0  # mm/s of each axis; ramps are left out
DRILLING = 0.12  # s for a hole
CHANGE = 8.0  # s for a drill
CHANGER = (-10.0, -10.0)  # mm; where the drills are changed

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("out", type=Path, help="output folder")
parser.add_argument("--small", action="store_true", help="one module of the board instead of six")
options = parser.parse_args()
options.out.mkdir(parents=True, exist_ok=True)


def pattern(x, y, columns, rows, pitch):
    """Return the holes of a component, in mm, row by row."""
    return [(x + pitch * column, y + pitch * row) for row in range(rows) for column in range(columns)]


def board(modules):
    """Return the holes for each drill, in the order in which a layout program lists them: by component."""
    random = np.random.default_rng(7)
    holes = {0.3: [], 0.8: [], 1.0: [], 3.2: []}
    for module in range(modules):
        left, bottom = 80.0 * (module % 3), 60.0 * (module // 3)
        holes[0.3] += pattern(left + 33, bottom + 22, 16, 16, 0.8)  # below a chip with a grid of contacts
        for x, y in random.uniform((5, 15), (70, 38), (8, 2)).round():
            holes[0.8] += pattern(left + x, bottom + y, 2, 7, 2.54)  # two rows of pins
        holes[1.0] += pattern(left + 9, bottom + 4, 24, 2, 2.54)  # a connector at the edge
        holes[0.3] += list(random.uniform((left + 4, bottom + 10), (left + 76, bottom + 56), (200, 2)))
        holes[3.2] += pattern(left + 4, bottom + 4, 2, 2, 72)[:2] + pattern(left + 4, bottom + 56, 2, 1, 72)
    return {diameter: np.array(places) for diameter, places in holes.items()}


def back_and_forth(points):
    """Return the order that a patient person would choose: strips of 3 mm, to the right and back in turn."""
    strip = np.floor(points[:, 1] / 3000)
    return np.lexsort((np.where(strip % 2 == 0, points[:, 0], -points[:, 0]), strip))


holes = board(1 if options.small else 6)
total = dict.fromkeys(("file order", "back and forth", "tour"), 0.0)
program = ["M48", "METRIC", *(f"T{tool}C{drill}" for tool, drill in enumerate(holes, start=1)), "%"]
print("seconds of travel" + "".join(f"{name:>16}" for name in total))
for tool, (drill, places) in enumerate(holes.items(), start=1):
    # City 0 is where drills are changed. Whole micrometres: TSPLIB's MAX_2D rounds to whole numbers.
    points = np.round(1000 * np.vstack([CHANGER, places]))
    problem = warptsp.Problem.from_points(points, "MAX_2D", name=f"{drill} mm")
    result = warptsp.solve(problem, **({"kicks": 2000} if options.small else {"time_limit": 3}), seed=1)
    orders = (range(problem.n), back_and_forth(points), result.tour)
    travel = [problem.length(order) / 1000 / SPEED for order in orders]
    print(f"{len(places):5d} of {drill} mm  " + "".join(f"{seconds:16.1f}" for seconds in travel))
    for name, seconds in zip(total, travel, strict=True):
        total[name] += CHANGE + DRILLING * len(places) + seconds
    result.save(options.out / f"drill_{tool}.svg")
    program += [f"T{tool}"]
    program += [
        f"X{x:.3f}Y{y:.3f}" for x, y in points[result.tour[1:]] / 1000
    ]  # a closed tour starts at city 0
(options.out / "board.drl").write_text("\n".join([*program, "T0", "M30", ""]))

print(f"whole board, with {DRILLING} s a hole and {CHANGE} s a drill:")
for name, seconds in total.items():
    print(f"{name:14} {seconds:6.0f} s, {seconds / total['file order']:.0%}")
