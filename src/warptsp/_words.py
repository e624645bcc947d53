"""Words of messages that depend on who reads them, or on a number."""

import unicodedata
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_DIGITS = str.maketrans({"2": "two-", "3": "three-", "_": "-"})  # as in the names of methods
_in_shell: ContextVar[bool] = ContextVar("warptsp_in_shell", default=False)


def as_called(python: str, shell: str) -> str:
    """Return how the caller writes something: in a Python program, or as an option of the command line.

    >>> as_called("asymmetric=True", "--asymmetric")
    'asymmetric=True'
    """
    return shell if _in_shell.get() else python


@contextmanager
def called_from_shell() -> Iterator[None]:
    """Have messages name options of the command line."""
    token = _in_shell.set(True)
    try:
        yield
    finally:
        _in_shell.reset(token)


def folded(name: str) -> str:
    """Return what names share that differ in case, blanks or accents, which macOS takes apart.

    >>> folded(" Köln  Süd") == folded("KO\u0308LN SÜD")
    True
    """
    return " ".join(unicodedata.normalize("NFC", name).casefold().split())


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """Return a question for the end of a message, with the name that is most like a mistyped one.

    >>> did_you_mean("3opt", ["two-opt", "three-opt"]), did_you_mean("lager", ["Lager Nord", "Werk"])
    ("; did you mean 'three-opt'?", "; did you mean 'Lager Nord'?")
    >>> did_you_mean("Rome", ["Paris"])
    ''
    """
    from difflib import get_close_matches

    if not isinstance(name, str):
        return ""
    known = {folded(one): one for one in names}
    asked = folded(name)
    parts = [one for one in known if _overlap(asked, one)]
    spelled = get_close_matches(asked.translate(_DIGITS), known, n=1, cutoff=0.85)
    close = spelled or get_close_matches(asked, known, n=1) or parts
    return f"; did you mean {known[close[0]]!r}?" if close else ""


def listed(names: Collection[str], asked: object) -> str:
    """Return the names that there are, for the end of a message about one that is none of them.

    >>> listed(["nearest", "greedy"], "gredy")
    "nearest, greedy; did you mean 'greedy'?"
    """
    return f"{', '.join(names)}{did_you_mean(asked, names)}"


def _overlap(one: str, two: str) -> bool:
    return min(len(one), len(two)) > 2 and (one in two or two in one)


def counted(number: int, one: str = "city", many: str = "cities") -> str:
    """Return a number with its noun.

    >>> counted(1), counted(2), counted(1, "thread", "threads")
    ('1 city', '2 cities', '1 thread')
    """
    return f"{number} {one if number == 1 else many}"
