"""The meaning of names while a text is read.

A variable is known until the end of its block. A temporary (``%0``) remains known, because a
printer that shares values names a value where it is first used, which may be in an inner block. If
that temporary hid another one, the other one is known again after the block.
"""

from __future__ import annotations

from microgen.relay.expr import Expr, Var

Mark = tuple[int, int]
_Known = tuple[Expr, int]  # with the block that defined it


class Scopes:
    """The names of one function of the module, with their ``%``."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}
        # The earlier meaning of each name that an open block defines; None if it had none.
        self._hidden: list[tuple[str, _Known | None]] = []
        self._blocks = 0
        self._block = 0

    def enter(self) -> Mark:
        """Begin a block. Returns the mark with which ``leave`` ends it."""
        mark = (self._block, len(self._hidden))
        # Each block has a number of its own, because another block of the same depth may have
        # defined a temporary of that name.
        self._blocks += 1
        self._block = self._blocks
        return mark

    def leave(self, mark: Mark) -> None:
        """End the block that ``enter`` began with ``mark``."""
        self._block, count = mark
        # The last one first, because a name may have been hidden several times.
        while len(self._hidden) > count:
            name, before = self._hidden.pop()
            if before is None:
                del self._known[name]
            else:
                self._known[name] = before

    def find(self, name: str) -> Expr | None:
        """The variable called ``name``, or the expression that a temporary means."""
        known = self._known.get(name)
        return known[0] if known else None

    def bind(self, name: str, var: Var) -> None:
        """Bind a variable to its name until the block ends."""
        self._hidden.append((name, self._known.get(name)))
        self._known[name] = (var, self._block)

    def define(self, name: str, expr: Expr) -> bool:
        """Define a temporary. False if this block has already defined it."""
        before = self._known.get(name)
        if before is not None:
            # Only here: an inner block may hide a temporary of an outer one.
            if before[1] == self._block:
                return False
            self._hidden.append((name, before))
        self._known[name] = (expr, self._block)
        return True

    @property
    def variables(self) -> list[str]:
        """The names of all variables known here."""
        return [name for name in self._known if not name[1:].isdigit()]
