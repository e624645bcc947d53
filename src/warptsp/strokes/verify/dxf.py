"""What a DXF file draws: its entities, as lines of bytes, each with its layer and colour."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from warptsp.strokes.verify.work import NotVerified, Rules, inner_first

_Pair = tuple[bytes, bytes]
_KINDS = {b"LINE", b"LWPOLYLINE", b"POLYLINE", b"ARC", b"CIRCLE", b"ELLIPSE", b"SPLINE", b"POINT"}
_PARTS = {b"VERTEX", b"SEQEND", b"ATTRIB"}
_PLAIN = (b"", b"BYLAYER", b"CONTINUOUS")
_CLOSED = 4  # vertices of a loop that encloses something, with the first once more


@dataclass(slots=True)
class _Stretch:
    """Entities that may change places, behind the pairs of lines that may not."""

    before: list[_Pair] = field(default_factory=list)
    entities: list[tuple[_Pair, ...]] = field(default_factory=list)


def verify(before: bytes, after: bytes, rules: Rules) -> None:
    """Compare the entities of two files: the same ones between those that stay, layer after layer.

    Raises `NotVerified`, which says where they differ.
    """
    first, second = _stretches(before), _stretches(after)
    if [stretch.before for stretch in first] != [stretch.before for stretch in second]:
        raise NotVerified("is not written: what is no line, curve or point would change, or change places")
    dashed = _dashed(first)
    for number, (one, two) in enumerate(zip(first, second, strict=True), start=1):
        works = [Counter(_work(e, rules, dashed) for e in stretch.entities) for stretch in (one, two)]
        if works[0] != works[1]:
            entity = next(iter((works[0] - works[1]) or (works[1] - works[0])))
            kind = entity[0].decode("latin-1")
            raise NotVerified(f"is not written: a {kind} of stretch {number} would be lost, added or changed")
        if not rules.ungrouped:
            _compare_groups([_group(e) for e in one.entities], [_group(e) for e in two.entities])
    if rules.inner_first:
        drawn = [_outline(e) for stretch in second for e in stretch.entities]
        outlines = [np.array(points, dtype=np.float64) for points in drawn if points]
        pair = inner_first(outlines, [0] * len(outlines))
        if pair is not None:
            x, y = outlines[pair[1]][0]
            raise NotVerified(
                f"is not written: what begins at ({x:g}, {y:g}) would be cut after the outline that it lies "
                "in: what stands between them keeps its place, and so do layers (--ungroup mixes these)"
            )


def _compare_groups(one: list[bytes], two: list[bytes]) -> None:
    """Whether the groups are whole, one after the other as they first appear; or as they were."""
    whole = sorted(one, key=list(dict.fromkeys(one)).index) if len(set(one)) < len(one) else one
    if two not in (one, whole):
        raise NotVerified("is not written: layers or colours would be mixed, or change places")


def _stretches(data: bytes) -> list[_Stretch]:
    lines = data.splitlines(keepends=True)  # of bytes: only \n, \r\n and \r end them
    pairs = list(zip(lines[::2], lines[1::2], strict=False))
    if len(lines) % 2:
        pairs.append((lines[-1], b""))
    found = [_Stretch()]
    section, movable = b"", False
    for number, (code, value) in enumerate(pairs):
        name = value.strip().upper()
        if code.strip() == b"0":
            if name in (b"ENDSEC", b"EOF"):
                section, movable = b"", False
            elif section == b"ENTITIES" and not (movable and name in _PARTS):
                movable = name in _KINDS and not _stays(name, pairs, number + 1)
                if movable:
                    found[-1].entities.append(())
                elif found[-1].entities:
                    found.append(_Stretch())
        elif code.strip() == b"2" and number and pairs[number - 1][1].strip().upper() == b"SECTION":
            section = name
        if movable:
            found[-1].entities[-1] += ((code, value),)
        else:
            if found[-1].entities:
                found.append(_Stretch())
            found[-1].before.append((code, value))
    return found


def _stays(name: bytes, pairs: list[_Pair], place: int) -> bool:
    """Whether an entity is on paper, or invisible, or a mesh."""
    while place < len(pairs) and pairs[place][0].strip() != b"0":
        code, value = pairs[place]
        key = code.strip()
        if key in (b"60", b"67") and value.strip() != b"0":
            return True
        if key == b"70" and name == b"POLYLINE" and int(float(value)) & 80:
            return True
        place += 1
    return False


def _dashed(stretches: list[_Stretch]) -> set[bytes]:
    """The layers whose lines have a pattern, which shows where they begin."""
    found, layer, inside = set(), b"", False
    for code, value in (pair for stretch in stretches for pair in stretch.before):
        key, text = code.strip(), value.strip().upper()
        if key == b"0":
            inside = text == b"LAYER"
        elif inside and key == b"2":
            layer = text
        elif inside and key == b"6" and text not in _PLAIN:
            found.add(layer)
    return found


def _value(entity: tuple[_Pair, ...], wanted: bytes, default: bytes = b"") -> bytes:
    return next((value.strip() for code, value in entity if code.strip() == wanted), default)


def _group(entity: tuple[_Pair, ...]) -> bytes:
    colour = _value(entity, b"62", b"256") + b" " + _value(entity, b"420")
    return _value(entity, b"8").upper() + b"\n" + colour


def _work(entity: tuple[_Pair, ...], rules: Rules, dashed: set[bytes]) -> tuple[bytes, ...]:
    """An entity's kind and its lines; those of a line or an open polyline as from its smaller end."""
    kind = entity[0][1].strip().upper()
    forwards = tuple(part for pair in entity for part in pair)
    style, layer = _value(entity, b"6").upper(), _value(entity, b"8").upper()
    patterned = style not in _PLAIN or (style in (b"", b"BYLAYER") and layer in dashed)
    if rules.keep_directions or patterned or kind not in (b"LINE", b"LWPOLYLINE"):
        return (kind, *forwards)
    if kind == b"LINE":
        ends = {code.strip(): value for code, value in entity}
        other = {b"10": b"11", b"20": b"21", b"30": b"31", b"11": b"10", b"21": b"20", b"31": b"30"}
        backwards = [(code, ends.get(other.get(code.strip(), b""), value)) for code, value in entity]
        return (kind, *min(forwards, tuple(part for pair in backwards for part in pair)))
    if int(float(_value(entity, b"70", b"0"))) % 2:
        return (kind, *forwards)
    return (kind, *min(_polyline(entity, False), _polyline(entity, True)))


def _polyline(entity: tuple[_Pair, ...], turned: bool) -> tuple[bytes, ...]:
    """The head and the tail of a polyline, its points, and for each segment between them how it runs."""
    rest: list[bytes] = []
    points: list[list[bytes]] = []
    widths: list[dict[bytes, bytes]] = []
    for code, value in entity:
        key = code.strip()
        if key == b"10":
            points.append([])
            widths.append({})
        if key in (b"10", b"20", b"91") and points:
            points[-1].append(key + b"=" + value)
        elif key in (b"40", b"41", b"42") and points:
            widths[-1][key] = value.strip()
        else:
            rest += [code, value]
    if turned:
        points.reverse()
        behind = [_turned_segment(width) for width in widths[:-1]]
        widths = [*behind[::-1], _turned_segment(widths[-1])] if widths else []
    else:
        widths = [_signed(width) for width in widths]
    flat = [part for point in points for part in point]
    return (*rest, *flat, *(repr(sorted(width.items())).encode() for width in widths))


def _turned_segment(width: dict[bytes, bytes]) -> dict[bytes, bytes]:
    swapped = {{b"40": b"41", b"41": b"40"}.get(key, key): value for key, value in width.items()}
    bulge = swapped.get(b"42")
    if bulge is not None:
        swapped[b"42"] = bulge[1:] if bulge.startswith(b"-") else b"-" + bulge.removeprefix(b"+")
    return _signed(swapped)


def _signed(width: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Zeros and signs in one form."""
    found = dict(width)
    bulge = found.get(b"42", b"").removeprefix(b"+")
    if b"42" in found:
        found[b"42"] = bulge.removeprefix(b"-") if not bulge.strip(b"-0.") else bulge
    return found


def _outline(entity: tuple[_Pair, ...]) -> list[tuple[float, float]]:
    """The points of a line, a polyline or a circle; nothing for what encloses and is seen otherwise."""
    kind = entity[0][1].strip().upper()
    xs = [float(value) for code, value in entity if code.strip() == b"10"]
    ys = [float(value) for code, value in entity if code.strip() == b"20"]
    flags = int(float(_value(entity, b"70", b"0")))
    in_own_plane = kind in (b"CIRCLE", b"LWPOLYLINE") or (kind == b"POLYLINE" and not flags & 8)
    if in_own_plane:
        if any(float(_value(entity, code, b"0")) for code in (b"210", b"220")):
            return []
        xs = [-x for x in xs] if float(_value(entity, b"230", b"1")) < 0 else xs  # as mirrored ones have
    points = list(zip(xs, ys, strict=False))
    if kind == b"CIRCLE" and points:
        radius = float(_value(entity, b"40", b"0"))
        turns = np.linspace(0.0, 2 * np.pi, 65)
        ring = [(xs[0] + radius * float(np.cos(t)), ys[0] + radius * float(np.sin(t))) for t in turns]
        return [*ring[:-1], ring[0]]
    if kind == b"POLYLINE":
        points = points[1:]  # the first belongs to no vertex
    closed = flags % 2 == 1
    bent = any(code.strip() == b"42" and value.strip().strip(b"-+0.") for code, value in entity)
    if kind in (b"LWPOLYLINE", b"POLYLINE") and not bent:
        return [*points, points[0]] if closed and len(points) + 1 >= _CLOSED else points
    if kind == b"LINE":  # which crosses what only one of its ends lies in
        return [*points[:1], (float(_value(entity, b"11", b"0")), float(_value(entity, b"21", b"0")))]
    return points[:1] if kind == b"POINT" else []
