"""Every message that the package's exceptions can have, read from its source.

A template is the text with `GAP` wherever a value comes in. Three ways lead from a text to an exception: it
is the first argument of one, an argument of a function that passes it on, or what a function returns that
one of these calls.
"""

import ast
from collections.abc import Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple

from warptsp import errors

SOURCE = Path(errors.__file__).parent
GAP = "\0"


class Message(NamedTuple):
    template: str
    place: str


def templates(node: ast.expr, names: dict[str, ast.expr]) -> Iterator[str]:
    """The texts that an expression can be; none if nothing is known of it."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(piece(part, names) for part in parts)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            for first in templates(left, names) or [GAP]:
                yield from (first + second for second in list(templates(right, names)) or [GAP])
        case ast.IfExp(body=body, orelse=orelse):
            yield from templates(body, names)
            yield from templates(orelse, names)
        case ast.Name(id=name) if name in names:
            yield from templates(names[name], {})


def piece(part: ast.expr, names: dict[str, ast.expr]) -> str:
    """A part of an f-string: a text, a text that has a name, or a gap."""
    match part:
        case ast.Constant(value=str(text)):
            return text
        case ast.FormattedValue(value=ast.Name(id=name)) if name in names:
            return next(templates(names[name], {}), GAP)
        case ast.FormattedValue(value=ast.Call(func=ast.Name(id="as_called"), args=[python, _])):
            return next(templates(python, {}), GAP)
    return GAP


def called(node: ast.AST) -> str | None:
    """The name of what is called, without the object that it belongs to."""
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name
    return None


def functions(nodes: list[ast.AST]) -> dict[str, ast.FunctionDef]:
    return {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}


def passing_on(nodes: list[ast.AST], raising: set[str]) -> set[str]:
    """The functions of a module that are given an exception's message, or the beginning of one."""
    calls = [
        (name, called(call))
        for name, function in functions(nodes).items()
        for parameter in function.args.args
        if parameter.arg in ("message", "otherwise")
        for call in ast.walk(function)
        if isinstance(call, ast.Call)
        for argument in call.args
        if any(isinstance(used, ast.Name) and used.id == parameter.arg for used in ast.walk(argument))
    ]
    found: set[str] = set()
    while more := {name for name, other in calls if other in raising | found} - found:
        found |= more
    return found


def exceptions(nodes: list[ast.AST]) -> set[str]:
    """The names of the package's exceptions, and of those that a module makes of them."""
    own = {
        node.name
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for base in node.bases
        if isinstance(base, ast.Name) and base.id in errors.__all__
    }
    return {*errors.__all__, *own}


@lru_cache(maxsize=100)  # more than a folder has, whose modules are read one after the other
def nodes_of(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


@cache
def passing_of(path: Path) -> set[str]:
    return passing_on(nodes_of(path), exceptions(nodes_of(path)))


def messages_of(path: Path) -> Iterator[Message]:
    nodes = nodes_of(path)
    names = {
        target.id: node.value
        for node in nodes[0].body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    raising = exceptions(nodes)
    # Modules of one folder call each other's.
    passing = {name for other in path.parent.glob("*.py") for name in passing_of(other)}
    helpers = functions(nodes)
    for call in nodes:
        name = called(call)
        if name in raising:
            arguments = call.args[:1]
        elif name in passing:
            arguments = [a for a in call.args if " " in "".join(templates(a, names))]
        else:
            continue
        for argument in arguments:
            texts = [(text, argument.lineno) for text in templates(argument, names)]
            helper = helpers.get(called(argument) or "")
            for node in ast.walk(helper) if helper else ():
                if isinstance(node, ast.Return) and node.value is not None:
                    texts += [(text, node.lineno) for text in templates(node.value, names)]
            for text, line in texts:
                yield Message(text, f"{path.relative_to(SOURCE)}:{line}")


class Said(NamedTuple):
    """What the source says."""

    messages: list[Message]  # each at the first place that has it
    words_of_callers: list[tuple[str, str, str]]  # of Python and of the command line, and where that is said
    texts: list[str]  # all with a blank in them


@cache
def said() -> Said:
    found: dict[str, Message] = {}
    words, texts = [], []
    for path in sorted(SOURCE.rglob("*.py")):
        for message in messages_of(path):
            if len(message.template.replace(GAP, "")) > 10:  # what is shorter frames another message
                found.setdefault(message.template, message)
        for node in nodes_of(path):
            if isinstance(node, (ast.Constant, ast.JoinedStr, ast.BinOp)):
                texts += [text for text in templates(node, {}) if " " in text]
            elif called(node) == "as_called":
                python, shell = (next(templates(argument, {}), "") for argument in node.args)
                words.append((python, shell, f"{path.relative_to(SOURCE)}:{node.lineno}"))
    nodes_of.cache_clear()
    return Said(list(found.values()), words, texts)


def is_known(entry: str, known: list[str]) -> bool:
    """Whether the source still has the longest text of an entry."""
    longest = max(entry.split("..."), key=len)
    return any(longest in text for text in known)
