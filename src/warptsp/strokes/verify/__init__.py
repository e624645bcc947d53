"""Nothing is written that was not verified to do the same work.

For each format of files an interpreter of its own, slow and obvious, runs the file as it was and as it
would be written. It shares no code with `strokes.files`, which reads and rewrites: a mistake there must not
be made here, too.
"""

from __future__ import annotations

from importlib import import_module

from warptsp.strokes.verify.work import NotVerified, Rules

__all__ = ["NotVerified", "Rules", "verify"]


def verify(format: str, before: bytes, after: bytes, rules: Rules) -> None:
    """Compare what two files of a format do; each format has a module with a function of this name.

    Parameters
    ----------
    format : str
        The name of the format, such as ``"gcode"``.
    before, after : bytes
        The contents as they were read, and as they would be written.
    rules : Rules
        What was asked for.

    Raises
    ------
    NotVerified
        They do not do the same work, or not in an order that is as good.
    """
    import_module(f"{__name__}.{format}").verify(before, after, rules)
