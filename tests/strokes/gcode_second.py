"""A second interpreter of G-code, for tests: it drives a tool over points and remembers what each saw.

It compares programs by what happens at every point: how deep it was cut, in which order, under which words.
Random programs for it are made here, too.
"""

import math
import re
from collections import Counter, defaultdict

UNKNOWN = ["G51.1 X0", "G50.1", "G74 X5 Y20 Z-5 R1", "G31 X3 F9", "G60", "G68.2 X1", "G28.1", "G33.1 Z-3 K1",
           "G32 Z-2", "G41 D1", "M777", "(no end"]  # fmt: skip
BETWEEN = ["M8", "T3 M6", ";TYPE:infill", "G43 H1", "G43 H2", "G64 P0.01", "M0", "(talk)", "G0 Z15", "G61",
           "G91\nG0 X1\nG90", "G54", "M104 S200", "F77"]  # fmt: skip
STEP = 0.5


def simulate(text):
    """What happens at each point: depths in order, words in any, crashes of rapid moves, the last state;
    and where that is, and how far rapid moves go in the plane.
    """
    depths, words, crashes = defaultdict(list), defaultdict(Counter), Counter()
    at, motion, state, relative, travel = [None, None, None], None, {"spindle": "M5"}, False, 0.0
    for line in text.lstrip("\ufeff").splitlines():
        if line.count("(") > line.count(")"):
            break
        code = re.sub(r"\([^)]*\)|;.*", "", line).upper()
        if any(code.strip().split(" ", 1)[-1] == u or u.split()[0] in code.split() for u in UNKNOWN):
            break
        found = [(a, float(b)) for a, b in re.findall(r"([A-Z])\s*([-+]?[\d.]+)", code)]
        values = {a: b for a, b in found if a not in "GM"}
        codes = [f"{a}{b:g}" for a, b in found if a in "GM"]
        if codes and codes[0][0] == "M" and float(codes[0][1:]) >= 100:  # the S of M104 is no power
            state[codes[0]] = True
            continue
        for name in codes:
            if name in ("G90", "G91"):
                relative = name == "G91"
            elif name in ("G0", "G1", "G2", "G3"):
                motion = int(name[1])
            elif name in ("M3", "M4", "M5"):
                state["spindle"] = name
            elif name in ("G43", "G49", "G61", "G64"):
                state[{"G4": "length", "G6": "path"}[name[:2]]] = (name, values.get("H"), values.get("P"))
            elif name in ("M0", "M1", "M6", "M60"):
                state["spindle"] = "M5"  # as most controls do
            elif name not in ("M2", "M30", "G4"):
                state[name] = True
        state |= {letter: values[letter] for letter in "FST" if letter in values}
        if "G4" in codes or "G28" in codes or not {"X", "Y", "Z"} & set(values):
            continue
        to = [
            (old or 0) * relative + values[axis] if axis in values else old
            for axis, old in zip("XYZ", at, strict=True)
        ]
        begin, at = at, to
        if None in begin[:2] or None in to[:2]:
            continue
        travel += math.dist(begin[:2], to[:2]) if motion == 0 else 0.0
        z0, z1 = begin[2], to[2]
        if begin[:2] == to[:2] and motion in (0, 1) and None not in (z0, z1):
            if motion == 0:
                continue
            z0 = z1 = min(z0, z1)  # straight down: what is left is the lower end
        for (x, y), part in points(begin, to, motion, values):
            spot = round(x, 3), round(y, 3)
            z = None if z0 is None or z1 is None else round(z0 + (z1 - z0) * part, 3)
            if motion:
                depths[spot].append(z)
                words[spot][(z, tuple(sorted(state.items(), key=str)))] += 1
            elif z is not None and not any(d is not None and d <= z for d in depths.get(spot, ())):
                crashes[(spot, z)] += 1
    orders = {
        spot: [d for k, d in enumerate(seen) if k == 0 or d != seen[k - 1]] for spot, seen in depths.items()
    }
    return orders, words, crashes, state, at, travel


def points(a, b, motion, values):
    """Points along a move: multiples of `STEP` on lines along the axes, evenly spaced on others."""
    if motion in (2, 3):
        centre = a[0] + values.get("I", 0), a[1] + values.get("J", 0)
        radius = math.dist(a[:2], centre)
        begin = math.atan2(a[1] - centre[1], a[0] - centre[0])
        turn = math.atan2(b[1] - centre[1], b[0] - centre[0]) - begin
        turn = turn % (2 * math.pi) or 2 * math.pi
        turn = (
            turn - 2 * math.pi
            if motion == 2 and turn < 2 * math.pi - 1e-9
            else turn
            if motion == 3
            else -turn
        )
        angles = [begin + turn * k / 48 for k in range(49)]
        return [
            ((centre[0] + radius * math.cos(t), centre[1] + radius * math.sin(t)), k / 48)
            for k, t in enumerate(angles)
        ]
    n = max(round(max(abs(b[0] - a[0]), abs(b[1] - a[1])) / STEP), 1)
    return [((a[0] + (b[0] - a[0]) * k / n, a[1] + (b[1] - a[1]) * k / n), k / n) for k in range(n + 1)]


def differences(before, after):
    """What the second program does otherwise, in words; empty if nothing that matters."""
    one, two = simulate(before), simulate(after)
    found = []
    if one[1] != two[1]:
        found.append("other cuts, or under other words")
    if one[0] != two[0]:
        found.append("depths in another order")
    top = max(
        (z for z, *_ in ((d,) for seen in one[0].values() for d in seen if d is not None)), default=-1e9
    )
    crashed = {key for key in two[2] - one[2] if key[1] < top}
    if crashed and len({z for seen in one[0].values() for z in seen}) > 1:
        found.append(f"rapid moves at depth {sorted(crashed)[:2]}")
    if one[3] | {"F": 0, "S": 0} != two[3] | {"F": 0, "S": 0}:
        found.append("another state at the end")
    for word in UNKNOWN:
        place = before.find("\n" + word)
        if place >= 0 and not after.endswith(before[place:]):
            found.append(f"other bytes behind {word}")
    return found


def program(rng):
    """A random program of blocks, passes, groups and things that stand between them."""
    dot = "." if rng.random() < 0.3 else ""
    numbered, sep = rng.random() < 0.2, rng.choice([" ", " ", ""])
    lines = ["G21 G90", *(["G17 G40 G49 G80"] if rng.random() < 0.5 else [])]
    laser = rng.random() < 0.2
    if not laser:
        lines += ["M3 S10000", "G0 Z5"]
    lines += ["G0 X0 Y0"] * int(rng.integers(0, 2))
    places = rng.integers(0, 12, (int(rng.integers(3, 9)), 2)) * rng.choice([1, 5])
    passes = [-1] if rng.random() < 0.4 else [-1, -2, -3][: rng.integers(1, 4)]
    todo = [(p, z) for z in passes for p in places]
    if rng.random() < 0.5:
        todo.sort(key=lambda pair: pair[0].tolist())
    feed = True
    for (x, y), z in todo:
        rapids = [f"G0{sep}X{x}{dot}{sep}Y{y}{dot}"] * 7
        rapids += [f"G00 X{x}{dot}\nY{y}{dot}", f"X{x}{dot} Y{y}{dot}", f"G0 X{x}{dot} (part {x})"]
        lines.append(rapids[rng.integers(0, 10)])
        if laser:
            lines += [f"G1 F{rng.choice([200, 3000])}", f"M3 S{rng.choice([200, 1000])}"]
        else:
            lines.append(f"G1{sep}Z{z}{dot}" + (" F100" if feed or rng.random() < 0.4 else ""))
        feed = False
        for _ in range(rng.integers(0, 4)):
            lines.append(rng.choice([f"G1 X{x + 3}{dot}", f"Y{y + 2}{dot} F300", f"G1 X{y} Y{x}", "G2 I2 J0",
                                     f"G3 X{x + 4} Y{y} I2 J0", f"G1 Y{y + 6}", "G4 P1"]))  # fmt: skip
            if lines[-1].startswith("G3"):
                lines[-1:] = [f"G1 X{x} Y{y}", lines[-1]]
        if rng.random() < 0.06 and not laser:
            lines += [f"G0 X{x + 1} Y{y + 9}", f"G1 X{x + 2} F200"]  # at depth
        lines.append("M5" if laser else "G0 Z5")
        if rng.random() < 0.12:
            lines.append(rng.choice(BETWEEN))
        if rng.random() < 0.015:
            lines.append(rng.choice(UNKNOWN))
    ends = ["G0 X0 Y0", "G0 X0", "G91\nG0 X-5\nG90", "G0 Z20\nG0 X0 Y0"]
    lines += ["M5", *rng.choice(ends).split("\n"), "M30", ""]
    whole = "\n".join(lines)
    if numbered:
        whole = "\n".join(f"N{10 * k} {line}" if line and not line.startswith(("(", ";")) else line
                          for k, line in enumerate(whole.split("\n")))  # fmt: skip
    if rng.random() < 0.3:  # 0 is the table
        whole = re.sub(r"(?<=Z)-?\d+", lambda z: str(int(z[0]) + 10), whole)
    return whole
