"""One place of each group, and a short tour through these: generalized problems.

Which entry of a block, which of several parking places, which shop of each kind. `owners` reads the groups,
`cycles` makes a problem with directions of them, `choosing` searches that.
"""

from warptsp.groups.choosing import Choice, choose

__all__ = ["Choice", "choose"]
