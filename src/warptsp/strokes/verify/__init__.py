"""Nothing is written that was not verified to do the same work.

For each format of files an interpreter of its own, slow and obvious, runs the file as it was and as it
would be written. It shares no code with `strokes.files`, which reads and rewrites: a mistake there must not
be made here, too. What is no reasoning but a fact, such as the words of G-code, stands once, beside both.
"""

from importlib import import_module

from warptsp.strokes.verify.work import NotVerified, Rules

__all__ = ["NotVerified", "Rules", "verify"]


def verify(format: str, before: bytes, after: bytes, rules: Rules) -> None:
    """Compare what a file does as it was read and as it would be written, by the rules that were asked for.

    Each format has a module with a function of this name. Raises `NotVerified` if the two do not do the same
    work, or not in an order that is as good.
    """
    import_module(f"{__name__}.{format}").verify(before, after, rules)
