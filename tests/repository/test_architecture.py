"""The layers of docs/architecture.md: no import runs back up, and none goes in a circle.

Read from the source, so that imports inside functions and those for types alone count, too.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PACKAGE = REPOSITORY / "src" / "warptsp"


def layers() -> list[list[str]]:
    """The units of each layer, from the bottom up, as the table of docs/architecture.md has them."""
    page = (REPOSITORY / "docs" / "architecture.md").read_text(encoding="utf-8")
    rows = page.split("| layer | modules |")[1].split("\n\n")[0].splitlines()[2:]
    return [re.findall(r"`(\w+)`", row.split("|")[2]) for row in reversed(rows)]


FLOOR = {unit: floor for floor, units in enumerate(layers()) for unit in units}
MODULES = {
    ".".join(("warptsp", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in PACKAGE.rglob("*.py")
}


@cache
def imports(name: str) -> tuple[tuple[str, int], ...]:
    """The modules of the package that a module imports, and the lines in which it does."""
    return tuple(found_imports(name))


def found_imports(name: str) -> Iterator[tuple[str, int]]:
    path = MODULES[name]
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names if alias.name.startswith("warptsp"))
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            if base.split(".")[0] != "warptsp":
                continue
            for alias in node.names:
                found = f"{base}.{alias.name}"
                yield (found if found in MODULES or found == "warptsp._native" else base), node.lineno


def unit(module: str) -> str:
    """The file or folder directly in the package that a module is, or lies in."""
    return [*module.split("."), "__init__"][1]


def test_every_file_and_folder_has_a_layer():
    assert {unit(name) for name in MODULES} | {"_native"} == set(FLOOR)


@pytest.mark.parametrize("name", sorted(MODULES))
def test_imports_go_down(name):
    for imported, line in imports(name):
        above, below = unit(name), unit(imported)
        assert above == below or FLOOR[above] > FLOOR[below], (
            f"{MODULES[name].relative_to(PACKAGE)}:{line}: {above} (layer {FLOOR[above]}) imports "
            f"{imported} (layer {FLOOR[below]})"
        )


def test_no_imports_go_in_a_circle():
    graph = {name: {imported for imported, _ in imports(name) if imported != name} for name in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))
