"""A module tree as the bytes of ``__tvm_dev_mblob``."""

from __future__ import annotations

from itertools import accumulate

from microgen.base.errors import MicrogenError, ModelError
from microgen.base.formats import byte_stream
from microgen.base.names import cnames
from microgen.relay.blob.tree import IMPORT_TREE, LIBRARY, Module, Order, arrange


def dumps(root: Module) -> bytes:
    """The blob, preceded by its length, exactly as TVM v0.14 would write it.

    Raises ModelError if TVM would write a damaged blob (for a module without a payload, a type
    key that is not its own, or a root that neither is the library nor imports anything), and for
    imports that cannot be numbered.
    """
    order = arrange(root)
    entries = [_entry(i, group[0]) for i, group in enumerate(order.groups)]
    if root.imports:
        return _framed([*entries, _import_tree(order)])
    if not root.is_library:
        raise _refused(0, root, "is the root and imports nothing", "make it an import of the root")
    return _framed([])


def _framed(entries: list[bytes]) -> bytes:
    body = byte_stream.number(len(entries)) + b"".join(entries)
    return byte_stream.number(len(body)) + body


def _entry(index: int, module: Module) -> bytes:
    key = module.type_key
    if not (key.isascii() and key.isprintable() and key) or key == IMPORT_TREE:
        hint = f"a type key is printable ASCII and not {IMPORT_TREE!r}"
        raise _refused(index, module, "has no usable type key", hint)
    if module.is_library and module.payload:
        hint = f"leave the payload of {LIBRARY!r} empty"
        raise _refused(index, module, "is compiled in, and yet has a payload", hint)
    if not module.is_library and module.payload is None:
        hint = "compile it in or give it a payload"
        raise _refused(index, module, "is neither compiled in nor has a payload", hint)
    return byte_stream.string(key) + (module.payload or b"")


def _import_tree(order: Order) -> bytes:
    row_ptr = [0, *accumulate(len(children) for children in order.children)]
    indices = [child for children in order.children for child in children]
    tree = byte_stream.numbers(row_ptr) + byte_stream.numbers(indices)
    return byte_stream.string(IMPORT_TREE) + tree


def _refused(index: int, module: Module, what: str, hint: str) -> MicrogenError:
    key = cnames.short(module.type_key)
    return ModelError(f"module {index} ({key!r}) {what}", where="module blob", hint=hint)
