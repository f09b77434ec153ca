"""Modules, and the order and numbering that TVM's serializer gives them.

Source: TVM v0.14, ``src/target/codegen.cc``, ModuleSerializer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from microgen.base.errors import MicrogenError, ModelError
from microgen.base.names import cnames

LIBRARY = "_lib"  # the code that is compiled into the firmware, which TVM calls DSO-exportable
IMPORT_TREE = "_import_tree"


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A node of the module tree; two modules are one only if they are the same object.

    ``payload`` has the bytes that the loader of ``type_key`` reads; ``LIBRARY`` has no payload.
    Another module without a payload cannot be serialised, and a blob refuses it.
    """

    type_key: str
    payload: bytes | None = field(default=None, repr=False)
    imports: tuple[Module, ...] = field(default=(), repr=False)

    @property
    def is_library(self) -> bool:
        """Whether the module is compiled into the firmware."""
        return self.type_key == LIBRARY


@dataclass(frozen=True, slots=True)
class Order:
    """Modules by index, the root first, and the indices that each imports, ascending.

    A group is one module, except that all ``LIBRARY`` modules form one group.
    """

    groups: tuple[tuple[Module, ...], ...]
    children: tuple[tuple[int, ...], ...]


def arrange(root: Module) -> Order:
    """Number the modules that ``root`` reaches, which may share imports.

    First come modules that are reached without passing through the library, with the last import
    before the others; then the library; then modules that only the library reaches.

    Raises ModelError if a module would come before one that imports it: in a cycle, in a cycle
    that arises because the library's modules become one, or if a module is listed after another
    one that imports it.
    """
    seen = {root}
    outside: list[Module] = []
    boundary: list[Module] = []
    # This walk does not enter the library, whose own imports are numbered after it.
    for module in _walk([root], seen, lambda m: not m.is_library):
        (boundary if module.is_library else outside).append(module)
    library: list[Module] = []
    others: list[Module] = []
    for module in _walk(boundary, seen, lambda _: True):
        (library if module.is_library else others).append(module)
    # All compiled modules are one library on the board.
    merged = [tuple(library)] if library else []
    groups = (*((m,) for m in outside), *merged, *((m,) for m in others))
    return Order(groups, _children(groups))


def _walk(
    stack: list[Module], seen: set[Module], is_entered: Callable[[Module], bool]
) -> Iterator[Module]:
    """Depth first. A module is marked when it is put on the stack; the last import comes first."""
    while stack:
        module = stack.pop()
        yield module
        for imported in module.imports if is_entered(module) else ():
            if imported not in seen:
                # Marked before its visit, as in TVM, which decides the order of shared imports.
                seen.add(imported)
                stack.append(imported)


def _children(groups: Sequence[tuple[Module, ...]]) -> tuple[tuple[int, ...], ...]:
    index = {module: i for i, group in enumerate(groups) for module in group}
    children = []
    for parent, group in enumerate(groups):
        imported = sorted({index[child] for m in group for child in m.imports} - {parent})
        if imported and imported[0] < parent:
            raise _is_cyclic(groups, parent, imported[0])
        children.append(tuple(imported))
    return tuple(children)


def _is_cyclic(groups: Sequence[tuple[Module, ...]], parent: int, child: int) -> MicrogenError:
    above, below = (cnames.short(groups[i][0].type_key) for i in (parent, child))
    return ModelError(
        f"module {parent} ({above}) imports module {child} ({below}), which comes before it",
        where="module blob",
        hint="imports must have no cycle when all compiled modules are one; list a module that "
        "several import before the others",
    )
