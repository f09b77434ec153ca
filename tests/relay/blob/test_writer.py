"""Order, numbering and bytes of a blob, and what is never written."""

from __future__ import annotations

import random

import pytest

from microgen.base.errors import ModelError
from microgen.relay.blob import LIBRARY, Module, dumps, loads
from microgen.relay.blob.tree import arrange
from tests.relay.blob import model
from tests.relay.blob.samples import LIB, NUMBERS, VECTOR, built, by_chance, json_module


def _keyed(key: str, *imports: Module) -> Module:
    return Module(key, b"", imports)


def _keys(root: Module) -> list[str]:
    return [group[0].type_key for group in arrange(root).groups]


def test_the_vector() -> None:
    assert dumps(Module(LIBRARY, None, (json_module("f"),))) == VECTOR
    assert len(VECTOR) == 140


def test_the_last_import_stands_first_and_the_library_after_its_importers() -> None:
    root = _keyed("const_loader", LIB, _keyed("j1"), _keyed("j2"))
    assert _keys(root) == ["const_loader", "j2", "j1", LIBRARY]
    tree = dumps(root).partition(b"_import_tree")[2]
    words = [int.from_bytes(tree[i : i + 8], "little") for i in range(0, len(tree), 8)]
    assert words == [5, 0, 3, 3, 3, 3, 3, 1, 2, 3]


def test_what_only_the_library_imports_stands_after_it() -> None:
    below = _keyed("below")
    library = Module(LIBRARY, None, (below, Module(LIBRARY, None, (_keyed("deep"),))))
    assert _keys(_keyed("root", _keyed("a"), library)) == ["root", "a", LIBRARY, "deep", "below"]


def test_compiled_modules_are_one() -> None:
    first = Module(LIBRARY, None, (_keyed("a"),))
    second = Module(LIBRARY, None, (_keyed("b"), first))
    order = arrange(_keyed("root", first, second, LIB))
    assert [len(group) for group in order.groups] == [1, 3, 1, 1]
    assert order.children == ((1,), (2, 3), (), ())


def test_modules_are_told_apart_by_identity() -> None:
    one, two = json_module("f"), json_module("f")
    assert len(arrange(Module(LIBRARY, None, (one, two))).groups) == 3
    assert len(arrange(Module(LIBRARY, None, (one, one))).groups) == 2


@pytest.mark.parametrize("seed", range(20))
def test_the_independent_model_gives_the_same_bytes(seed: int) -> None:
    rng = random.Random(seed)
    written = refused = 0
    for _ in range(200):
        library, edges = by_chance(rng, rng.randint(2, 9))
        edges[0] = edges[0] or [1]
        wanted = model.blob(library, edges)
        root = built(library, edges)
        if wanted is None:
            with pytest.raises(ModelError, match="comes before it; imports must have no cycle"):
                dumps(root)
            refused += 1
        else:
            assert dumps(root) == wanted
            blob = loads(wanted, NUMBERS)
            # A library that imports only itself becomes a root without imports.
            if len(blob.modules) > 1:
                assert dumps(blob.root) == wanted
            written += 1
    assert min(written, refused) > 20


def test_a_cycle_through_the_library_is_refused() -> None:
    between = _keyed("between", Module(LIBRARY))
    with pytest.raises(ModelError, match=r"module 1 \(between\) imports module 0 \(_lib\), which"):
        dumps(Module(LIBRARY, None, (between,)))


def test_a_module_that_imports_itself_is_none_the_worse() -> None:
    module = json_module("f")
    object.__setattr__(module, "imports", (module,))
    assert dumps(Module(LIBRARY, None, (module,))) == VECTOR


def test_a_shared_import_can_be_listed_first_but_not_last() -> None:
    shared = _keyed("shared")
    user = _keyed("user", shared)
    assert _keys(_keyed("root", shared, user)) == ["root", "user", "shared"]
    with pytest.raises(ModelError, match="list a module that several import before the others"):
        dumps(_keyed("root", user, shared))


def test_a_library_without_imports_is_a_blob_of_nothing() -> None:
    assert dumps(LIB) == bytes.fromhex("0800000000000000 0000000000000000")


@pytest.mark.parametrize(
    ("root", "message"),
    [
        (_keyed("k"), r"module 0 \('k'\) is the root and imports nothing; make it an import"),
        (_keyed("k", Module("j")), r"module 1 \('j'\) is neither compiled in nor has a payload"),
        (_keyed("k", _keyed("")), r"module 1 \(''\) has no usable type key; a type key is"),
        (_keyed("k", _keyed("é")), r"module 1 \('é'\) has no usable type key"),
        (_keyed("k", _keyed("a\nb")), r"module 1 \('a\\nb'\) has no usable type key"),
        (_keyed("k", _keyed("_import_tree")), r"\('_import_tree'\) has no usable type key"),
        (_keyed("k", Module(LIBRARY, b"x")), r"\('_lib'\) is compiled in, and yet has a payload"),
    ],
)
def test_what_would_be_a_damaged_blob_is_refused(root: Module, message: str) -> None:
    with pytest.raises(ModelError, match=f"module blob: .*{message}"):
        dumps(root)


def test_a_chain_of_thousands_needs_no_stack() -> None:
    module = _keyed("k")
    for _ in range(5000):
        module = _keyed("k", module)
    assert len(arrange(module).groups) == 5001
