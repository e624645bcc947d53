"""Parameters of methods, and of what else has them, as users give them."""

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from warptsp._checks import shown
from warptsp._words import as_called, listed
from warptsp.errors import InvalidOption

P = TypeVar("P")
# Of each dataclass: they are compiled from text, which takes a third of a millisecond.
_HINTS: dict[type, dict[str, Any]] = {}


def parse_params(kind: type[P], owner: str, given: Mapping[str, Any] | object | None) -> P:
    """Return the parameters that are given as a mapping or as their dataclass, which checks all but choices.

    Texts are converted to the types of its fields. The owner is for messages: ``"method lk"``. InvalidOption
    for an unknown name, which lists the valid ones, or an impossible value.
    """
    if given is None:
        return kind()
    hints = _hints(kind)
    if isinstance(given, kind):
        for name in (field.name for field in _fields(kind) if _choices(hints[field.name])):
            _converted(name, getattr(given, name), hints[name])
        return given
    if not isinstance(given, Mapping):
        raise InvalidOption(f"params: {shown(given)} is not a mapping such as {{'name': value}}")
    fields = [field.name for field in _fields(kind)]
    checked: dict[str, Any] = {}
    for name, value in given.items():
        if not fields:
            raise InvalidOption(
                f"{as_called('params', '--param')}: {owner} has no parameters, and {shown(name)} was given"
            )
        if name not in fields:
            raise InvalidOption(f"parameter {shown(name)}: {owner} has {listed(fields, name)}")
        checked[name] = _converted(name, value, hints[name])
    try:
        return kind(**checked)
    except InvalidOption:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidOption(f"parameters of {owner}: {error}") from error


def given_params(params: object, given: Mapping[str, Any] | object | None) -> dict[str, Any]:
    """Return by name those of the parsed parameters that were given."""
    if given is None:
        return {}
    names = given if isinstance(given, Mapping) else [field.name for field in _fields(type(params))]
    return {name: getattr(params, name) for name in names}


def changed_params(params: object) -> dict[str, Any]:
    """Return by name the parameters that are not as by default."""
    values = ((field, getattr(params, field.name)) for field in _fields(type(params)))
    return {field.name: value for field, value in values if value != _default(field)}


def describe_params(kind: type) -> list[tuple[str, str, Any]]:
    """Return (name, type, default) of each parameter."""
    hints = _hints(kind)
    return [(field.name, _type_name(hints[field.name]), _default(field)) for field in _fields(kind)]


def _hints(kind: type) -> dict[str, Any]:
    if kind not in _HINTS:
        _HINTS[kind] = typing.get_type_hints(kind)
    return _HINTS[kind]


def _fields(kind: type) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(kind)


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def _type_name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)


def _options(hint: Any) -> tuple[Any, ...]:
    return typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)


def _choices(hint: Any) -> list[Any]:
    """The values that a parameter is chosen from; none if it is of another type."""
    named = (option for option in _options(hint) if typing.get_origin(option) is typing.Literal)
    return [value for option in named for value in typing.get_args(option)]


def _converted(name: str, value: Any, hint: Any) -> Any:
    options = _options(hint)
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, str):
        # "none" is no text where None is a value.
        for option in sorted(options, key=lambda option: option is not type(None)):
            found, converted = _from_text(value, option)
            if found:
                return converted
    elif value is None and type(None) in options:
        return value
    elif isinstance(value, bool) and bool not in options and typing.get_origin(hint) is None:
        pass
    elif any(_fits(value, option) for option in options):
        if isinstance(value, list):
            return tuple(value)
        return float(value) if float in options and isinstance(value, int) and int not in options else value
    accepted = " or ".join(map(repr, _choices(hint))) or f"of type {_type_name(hint)}"
    raise InvalidOption(f"parameter {name}: {shown(value)} is not {accepted}")


def _fits(value: Any, hint: Any) -> bool:
    origin = typing.get_origin(hint)
    if origin is typing.Literal:
        return value in typing.get_args(hint)
    if origin is tuple:
        inner = typing.get_args(hint)[0]
        return isinstance(value, (list, tuple)) and all(_fits(part, inner) for part in value)
    if origin is not None:
        return isinstance(value, origin)
    if hint is float:
        return isinstance(value, (int, float))
    return not isinstance(hint, type) or isinstance(value, hint)


def _from_text(text: str, hint: Any) -> tuple[bool, Any]:
    """Return (whether the text is a value of this type, the value)."""
    if hint is type(None):
        return text.lower() == "none", None
    if hint is bool:
        known = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
        return text.lower() in known, known.get(text.lower())
    if hint is str:
        return True, text
    if typing.get_origin(hint) is typing.Literal:
        matches = [choice for choice in typing.get_args(hint) if str(choice) == text]
        return bool(matches), matches[0] if matches else None
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)[0]
        parts = [_from_text(part.strip(), inner) for part in text.split(",")]
        return all(found for found, _ in parts), tuple(value for _, value in parts)
    if hint in (int, float):
        try:
            return True, hint(text)
        except ValueError:
            return False, None
    return False, None
