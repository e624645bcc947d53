"""The contents of a file in a new order: the one place that makes them, which verifies what it returns."""

from __future__ import annotations

from warptsp.strokes.files._memory import uncollected
from warptsp.strokes.files.drawing import Drawing
from warptsp.strokes.plan import Plan
from warptsp.strokes.verify import NotVerified, Rules, verify


@uncollected()
def rewritten(drawing: Drawing, plan: Plan, rules: Rules | None = None) -> bytes:
    """The contents of a drawing's file in the order of a plan, verified to do the same work.

    Parameters
    ----------
    drawing : Drawing
        As `read_drawing` returns it.
    plan : Plan
        From `warptsp.strokes.arrange` of its strokes.
    rules : Rules, optional
        What was asked for, which the verifier checks.

    Raises
    ------
    NotVerified
        The file would not do the same work; the message says why.
    """
    contents = drawing.rewrite(plan)
    try:
        verify(drawing.format, drawing.source, contents, rules or Rules())
    except NotVerified as error:
        raise NotVerified(error.message, file=drawing.file, line=error.line) from None
    return contents
