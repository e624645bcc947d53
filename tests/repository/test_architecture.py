"""The layers of docs/architecture.md: no import runs back up, and none goes in a circle.

Read from the source, so that imports inside functions and those for types alone count, too.
"""

import ast
import os
import re
import select
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import processes
import pytest

import warptsp

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


def test_imports_go_down():
    upwards = [
        f"{MODULES[name].relative_to(PACKAGE)}:{line}: {unit(name)} (layer {FLOOR[unit(name)]}) imports "
        f"{imported} (layer {FLOOR[unit(imported)]})"
        for name in sorted(MODULES)
        for imported, line in imports(name)
        if unit(name) != unit(imported) and FLOOR[unit(name)] <= FLOOR[unit(imported)]
    ]
    assert not upwards


def test_the_tallest_stack_of_imports_has_few_floors():
    below: dict[str, set[str]] = {name: set() for name in FLOOR}
    for name in MODULES:
        below[unit(name)] |= {unit(imported) for imported, _ in imports(name)} - {unit(name)}
    height: dict[str, int] = {}
    for name in sorted(FLOOR, key=FLOOR.__getitem__):
        height[name] = 1 + max((height[under] for under in below[name]), default=0)
    assert max(height.values()) <= 16, height


def test_no_imports_go_in_a_circle():
    graph = {name: {imported for imported, _ in imports(name) if imported != name} for name in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


# What is asked of layers above


# Methods of these objects do what only a layer above can; `solve` takes objects of other packages, and shows
# its progress.
OBJECTS = {"warptsp.problem.problem": "Problem", "warptsp.result": "Result", "warptsp.exports": "Exports"}
OF_SOLVE = {"warptsp.solver.inputs", "warptsp.solver.options"}


def calls(tree: ast.AST, name: str) -> list[tuple[str, ...]]:
    """The arguments of each call of this function."""
    return [
        tuple(ast.literal_eval(argument) for argument in node.args)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name
    ]


def asks_layers_above(tree: ast.AST) -> bool:
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "warptsp._offers"
        and "find" in {alias.name for alias in node.names}
        for node in ast.walk(tree)
    )


def test_only_methods_of_objects_ask_layers_above():
    """By `_offers`, which runs back up where no import may; what is below is imported."""
    texts = {name: path.read_text(encoding="utf-8") for name, path in MODULES.items()}
    trees = {name: ast.parse(text) for name, text in texts.items() if "_offers" in text}
    offered = {service: home for service, home, _ in calls(trees["warptsp"], "offer")}
    asked = set()
    for name, tree in trees.items():
        if not asks_layers_above(tree):
            continue
        assert name in OF_SOLVE or name in OBJECTS, f"{name} asks for what a layer above does"
        services = calls(tree, "find")
        for (service,) in services:
            asked.add(service)
            assert FLOOR[unit(offered[service])] > FLOOR[unit(name)], f"{name} can import {service}"
        if name in OBJECTS:
            kinds = (node for node in tree.body if isinstance(node, ast.ClassDef))
            of_object = next(kind for kind in kinds if kind.name == OBJECTS[name])
            assert sorted(services) == sorted(calls(of_object, "find"))
    assert asked == set(offered)


# How tests start processes


def test_tests_start_processes_in_one_place():
    tests = Path(__file__).parents[1]
    call = re.compile(r"subprocess\.(run|Popen|call|check_\w+)\(|os\.(posix_)?spawn\w*\(")
    paths = (path for path in tests.rglob("*.py") if path.name != "processes.py")
    assert [path.name for path in paths if call.search(path.read_text("utf-8"))] == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs groups of processes")
def test_a_process_ends_with_its_block_and_takes_its_own_with_it():
    reader, writer = os.pipe()
    with suppress(LookupError), processes.running(["bash", "-c", "sleep 99 & sleep 99"], pass_fds=[writer]):
        os.close(writer)
        raise LookupError  # on any way out
    # Nobody has the other end any more.
    assert select.select([reader], [], [], 60)[0]
    assert os.read(reader, 1) == b""
    os.close(reader)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_processes_begin_with_plain_signals():
    """Also where the tests themselves do not: under nohup, or in the background of a script."""
    signals = ["SIGHUP", "SIGINT", "SIGTERM", "SIGQUIT", "SIGTSTP"]
    asked = (
        f"import signal as s; print([s.getsignal(getattr(s, n)).name for n in {signals} if n != 'SIGINT'], "
        "s.getsignal(2) is s.default_int_handler, s.pthread_sigmask(s.SIG_BLOCK, []))"
    )
    code = (
        "import signal, sys\nimport processes\n"
        f"for name in {signals}: signal.signal(getattr(signal, name), signal.SIG_IGN)\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])\n"
        "processes.begin_with_plain_signals()\nprint(processes.run_code(sys.argv[1]).stdout)\n"
    )
    done = processes.run_code(code, asked, cwd=Path(__file__).parents[1])
    assert done.stdout.strip() == "['SIG_DFL', 'SIG_DFL', 'SIG_DFL', 'SIG_DFL'] True set()", done.stderr


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    stub = Path(warptsp.__file__).with_name("_native.pyi")  # of the build
    for path in [*MODULES.values(), stub]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{path.parent.name}/{path.name}:{node.lineno} {node.name}", node


def test_no_function_has_many_parameters():
    """What belongs together is one object, but in the calls that most people make, and in commands."""
    found = {}
    for place, function in functions():
        given = function.args
        names = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        count = sum(argument is not None and argument.arg not in ("self", "cls") for argument in names)
        is_command = any("as_command" in ast.unparse(decorator) for decorator in function.decorator_list)
        if count > 12 and not is_command and function.name not in ("solve", "prove", "solve_many"):
            found[place] = count
    assert not found
