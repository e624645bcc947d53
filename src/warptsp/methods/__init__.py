"""The registry of methods: a name, and the module that implements it.

A method module defines ``run(problem, run)`` (see `warptsp.run.Run`) and, if the method has parameters, a
frozen dataclass whose name ends in ``Params``; its fields are what ``solve(params={...})`` and ``--param
NAME=VALUE`` take. If a GPU cannot do every problem, ``gpu_lacks(problem)`` says what is missing; if the
method can use several GPUs, ``gpus_wanted(problem, seconds, there)`` says how many it is faster with. To add
a method: write the module, add a line to `METHODS`.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from warptsp._checks import shown
from warptsp._words import as_called
from warptsp.errors import InvalidOption

if TYPE_CHECKING:
    from warptsp.methods.protocol import Run
    from warptsp.problem import Problem


@dataclasses.dataclass(frozen=True, slots=True)
class Method:
    """A method by name: what it is, and where its code is; nothing is imported before it is used."""

    name: str
    module: str
    summary: str
    devices: tuple[str, ...] = ("cpu",)  # "cuda" if it looks at run.device and can use a GPU
    least_gpu_cities: int = 0  # from which "auto" takes a GPU, since it is faster
    ends: bool = False  # whether it comes to an end by itself, so that it needs no stopping criterion
    ends_with: tuple[str, ...] = ()  # parameters of which each brings it to an end
    asymmetric: bool = False  # whether it does asymmetric distances
    lengths: tuple[str, ...] = ()  # parameters and counters that are lengths

    @property
    def run(self) -> Callable[[Problem, Run], None]:
        """The function that does the work."""
        function: Callable[[Problem, Run], None] = import_module(self.module).run
        return function

    def gpu_lacks(self, problem: Problem) -> str | None:
        """Return what the method cannot do about this problem on a GPU, None if it can do all."""
        if "cuda" not in self.devices:
            return f"method {self.name} runs on the CPU only"
        lacks: Callable[[Problem], str | None] | None
        lacks = getattr(import_module(self.module), "gpu_lacks", None)
        return None if lacks is None else lacks(problem)

    @property
    def uses_several_gpus(self) -> bool:
        """Whether it can use more than one GPU."""
        return hasattr(import_module(self.module), "gpus_wanted")

    def gpus_wanted(self, problem: Problem, seconds: float | None, there: int) -> int:
        """Return how many of so many GPUs of one model make it faster, given the run's time limit; at least
        1."""
        if there < 2 or not self.uses_several_gpus:
            return 1
        wanted: int = import_module(self.module).gpus_wanted(problem, seconds, there)
        return wanted

    def parameters(self) -> type | None:
        """Return the dataclass of the method's parameters, None if it has none."""
        module = import_module(self.module)
        for value in vars(module).values():
            own = isinstance(value, type) and f"{value.__module__}.".startswith(f"{module.__name__}.")
            if own and value.__name__.endswith("Params") and dataclasses.is_dataclass(value):
                return cast(type, value)
        return None


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method(
            "lk",
            "warptsp.methods.lk",
            "iterated Lin-Kernighan: the main solver",
            ("cpu", "cuda"),
            5_000,
            asymmetric=True,
        ),
        Method(
            "two-opt",
            "warptsp.methods.two_opt",
            "best-improvement 2-opt over all pairs",
            ("cpu", "cuda"),
            8_000,
            ends=True,
        ),
        Method(
            "three-opt",
            "warptsp.methods.three_opt",
            "best-improvement 3-opt over all triples",
            ("cpu", "cuda"),
            800,
            ends=True,
        ),
        Method(
            "swap",
            "warptsp.methods.swap",
            "best-improvement swaps of two cities",
            ("cpu", "cuda"),
            8_000,
            ends=True,
        ),
        Method(
            "neighbor-two-opt",
            "warptsp.methods.neighbor_two_opt",
            "2-opt along neighbour lists",
            ("cpu", "cuda"),
            300_000,
            ends=True,
        ),
        Method(
            "neighbor-three-opt",
            "warptsp.methods.neighbor_three_opt",
            "3-opt along neighbour lists",
            ("cpu", "cuda"),
            100_000,
            ends=True,
        ),
        Method(
            "ils",
            "warptsp.methods.ils",
            "iterated local search with 3-opt along neighbour lists",
            ("cpu", "cuda"),
            10_000,
            ends=True,
        ),
        Method(
            "symmetric-two-opt",
            "warptsp.methods.symmetric_two_opt",
            "2-opt that applies any subset of the moves around one centre at once",
            ("cpu", "cuda"),
            3_500,
            ends=True,
            lengths=("least_gain",),
        ),
        Method(
            "symmetric-annealing",
            "warptsp.methods.symmetric_annealing",
            "simulated annealing with all moves around one centre at once",
            ("cpu", "cuda"),
            100,
            ends=True,
            lengths=("temperature",),
        ),
        Method(
            "hill-climbing",
            "warptsp.methods.hill_climbing",
            "random-restart hill climbing: 2-opt to a local optimum from random tours",
            ("cpu", "cuda"),
            500,
            ends_with=("climbers",),
            lengths=("best_optimum", "mean_optimum", "worst_optimum"),
        ),
        Method(
            "exact",
            "warptsp.methods.exact",
            "the optimum of up to 16 cities, by dynamic programming",
            asymmetric=True,
        ),
        Method("construct", "warptsp.methods.construct", "the start tour, as it is", asymmetric=True),
    )
}


def get_method(name: str) -> Method:
    """Return the method of this name.

    Raises
    ------
    InvalidOption
        If there is none; lists those there are.
    """
    if not isinstance(name, str) or name not in METHODS:
        raise InvalidOption(f"method: {shown(name)} is unknown; there are {', '.join(METHODS)}")
    return METHODS[name]


def check_params(method: Method, params: Mapping[str, Any] | object | None) -> dict[str, Any]:
    """Check a method's parameters, given as a mapping or as its dataclass; texts are converted to the
    fields' types.

    Returns
    -------
    dict
        The given parameters by name.

    Raises
    ------
    InvalidOption
        For an unknown name or an impossible value; lists the valid ones.
    """
    return checked_fields(method.parameters(), f"method {method.name}", params)


def checked_fields(
    kind: type | None, owner: str, params: Mapping[str, Any] | object | None
) -> dict[str, Any]:
    """Check what is given for the fields of a dataclass, None for one without fields; see `check_params`.

    Parameters
    ----------
    kind : type or None
    owner : str
        Whose parameters they are, for messages: ``"method lk"``.
    params : mapping or dataclass
    """
    if params is None:
        return {}
    if kind is not None and isinstance(params, kind):
        return {f.name: getattr(params, f.name) for f in dataclasses.fields(kind)}
    if not isinstance(params, Mapping):
        raise InvalidOption(f"params: {shown(params)} is not a mapping such as {{'name': value}}")
    if not params:
        return {}
    if kind is None:
        given = shown(next(iter(params)))
        raise InvalidOption(
            f"{as_called('params', '--param')}: {owner} has no parameters, and {given} was given"
        )
    fields = {f.name: f for f in dataclasses.fields(kind)}
    hints = typing.get_type_hints(kind)
    checked: dict[str, Any] = {}
    for name, value in params.items():
        if name not in fields:
            raise InvalidOption(f"parameter {shown(name)}: {owner} has {', '.join(fields)}")
        checked[name] = _converted(name, value, hints[name])
    try:
        kind(**checked)
    except InvalidOption:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidOption(f"parameters of {owner}: {error}") from error
    return checked


def describe_params(method: Method) -> list[tuple[str, str, Any]]:
    """Return (name, type, default) of each parameter of a method."""
    kind = method.parameters()
    if kind is None:
        return []
    hints = typing.get_type_hints(kind)
    return [(f.name, _type_name(hints[f.name]), _default(f)) for f in dataclasses.fields(kind)]


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return None if field.default is dataclasses.MISSING else field.default


def _type_name(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)


def _converted(name: str, value: Any, hint: Any) -> Any:
    options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
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
    raise InvalidOption(f"parameter {name}: {shown(value)} is not of type {_type_name(hint)}")


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
