"""The meaning of names while a text is read.

A variable is known until the end of its block. A temporary (``%0``) remains known, because a
printer that shares values names a value where it is first used, which may be in an inner block. If
that temporary hid another one, the other one is known again after the block.
"""

from __future__ import annotations

from microgen.relay.expr import Expr, Var

Mark = tuple[int, int, int]


class Scopes:
    """The names of one function of the module."""

    def __init__(self) -> None:
        self._vars: dict[str, Var] = {}
        self._temporaries: dict[str, tuple[Expr, int]] = {}  # with the block that defined each
        self._hidden_vars: list[tuple[str, Var | None]] = []
        self._hidden: list[tuple[str, tuple[Expr, int]]] = []
        self._blocks = 0
        self._block = 0

    def enter(self) -> Mark:
        """Begin a block. Returns the mark with which ``leave`` ends it."""
        mark = (self._block, len(self._hidden_vars), len(self._hidden))
        # Each block has a number of its own, because another block of the same depth may have
        # defined a temporary of that name.
        self._blocks += 1
        self._block = self._blocks
        return mark

    def leave(self, mark: Mark) -> None:
        """End the block that ``enter`` began with ``mark``."""
        self._block, vars_, temporaries = mark
        while len(self._hidden_vars) > vars_:
            name, before = self._hidden_vars.pop()
            if before is None:
                del self._vars[name]
            else:
                self._vars[name] = before
        while len(self._hidden) > temporaries:
            number, hidden = self._hidden.pop()
            self._temporaries[number] = hidden

    def var(self, name: str) -> Var | None:
        """The variable called ``name``, if there is one."""
        return self._vars.get(name)

    def bind(self, name: str, var: Var) -> None:
        """Bind a variable to its name until the block ends."""
        self._hidden_vars.append((name, self._vars.get(name)))
        self._vars[name] = var

    def temporary(self, number: str) -> Expr | None:
        """The expression that a temporary such as ``%0`` means."""
        found = self._temporaries.get(number)
        return found[0] if found else None

    def define(self, number: str, expr: Expr) -> bool:
        """Define a temporary. False if this block has already defined it."""
        before = self._temporaries.get(number)
        if before is not None:
            if before[1] == self._block:
                return False
            self._hidden.append((number, before))
        self._temporaries[number] = (expr, self._block)
        return True

    @property
    def names(self) -> list[str]:
        """The names of all variables known here, with their ``%``."""
        return list(self._vars)
