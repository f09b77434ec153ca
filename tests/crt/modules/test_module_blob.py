"""The C loader of module blobs: what it loads, finds, calls and refuses, under sanitizers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from microgen.compiler.codegens.module_pool import loader_pool_bytes
from tests.crt.modules import module_blob_cases as b
from tests.crt.modules.module_blob_cases import Array, Case, Lookup, Result

TOY_BYTES = 56  # module_blob_toy.c takes so much of the pool for a module, with 8-byte pointers


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return b.compiled(tmp_path_factory.mktemp("driver"), "module_blob_driver")


def run_one(driver: Path, case: Case) -> Result:
    (result,) = b.run(driver, [case])
    return result


def code(driver: Path, data: bytes) -> int:
    return run_one(driver, Case(data)).load


# What is loaded, found and called


def test_the_encoder_writes_tvms_bytes() -> None:
    assert b.blob([b.LIB, b.toy("f", "{}", (), "dnnl_json")], [[1], []]) == b.VECTOR
    assert len(b.VECTOR) == 140


def test_tvms_vector(driver: Path) -> None:
    names = ("f", "__init_f", "__init_", "g", "", "__init_f2", "_lib", "f\0", b"\\", "__init")
    lookups = [Lookup(0, name) for name in names]
    others = [Lookup(0, "f", False), Lookup(1, "f", False), Lookup(2, "f"), Lookup(2**32 - 1, "f")]
    result = run_one(driver, Case(b.VECTOR, [*lookups, *others], ["f", "g", "__init_f", ""]))
    assert result.load == 0
    assert result.used == loader_pool_bytes(2, 1, 8) + TOY_BYTES
    none = (b.NOT_FOUND, 77, 77, 0)
    assert result.found[:2] == ((0, 1, 0, 0), (0, 1, 0, 1))
    assert result.found[2:10] == (none,) * 8
    assert result.found[10:12] == (none, (0, 1, 0, 0))
    assert [found[0] for found in result.found[12:]] == [b.BAD_INDEX] * 2
    assert result.ran == ((0, 0, 5 + 2), *((b.NOT_FOUND, b.BAD_INDEX, 0),) * 3)


def test_a_const_loader_finds_what_it_imports_and_names_constants(driver: Path) -> None:
    lookups = [Lookup(0, "f", False), Lookup(0, "__init_g", False), Lookup(3, "f")]
    result = run_one(driver, Case(b.usual(), lookups, ["f", "g"]))
    assert result.load == 0
    assert result.found == ((0, 2, 0, 0), (0, 1, 0, 1), (b.NOT_FOUND, 77, 77, 0))
    assert result.ran == ((0, 0, 5 + 2 + 1 + 100), (0, 0, 5 + 4))


def test_arrays_in_the_blob_are_passed_over(driver: Path) -> None:
    result = run_one(driver, Case(b.older(), (), ["f"]))
    assert (result.load, result.ran) == (0, ((0, 0, 5 + 4 + 10),))


def test_a_blob_without_a_tree_is_of_imports_of_the_library(driver: Path) -> None:
    lookups = [Lookup(0, "f"), Lookup(0, "g"), Lookup(0, "g", False), Lookup(2, "f")]
    result = run_one(driver, Case(b.without_tree(), lookups, ["f", "g"]))
    assert result.load == 0
    assert result.found[:2] == ((0, 1, 0, 0), (0, 2, 1, 0))
    assert [found[:2] for found in result.found[2:]] == [(b.NOT_FOUND, 77), (0, 2)]
    assert result.ran == ((0, 0, 5), (0, 0, 6))
    # 3 groups, so 4 modules and 3 imports; "pair" takes 32 bytes.
    assert result.used == loader_pool_bytes(2, 3, 8) + TOY_BYTES + 32
    assert run_one(driver, Case(b.blob([]), [Lookup(0, "f")])).found[0][0] == b.NOT_FOUND


@pytest.mark.parametrize(
    ("lists", "consts", "codes"),
    [
        ({"f": ["c0", "c1"]}, ["c0", "c1"], (0, 0)),
        ({"f": ["c1", "c0"]}, ["c0", "c1"], (b.INVALID, b.BAD_INDEX)),
        ({"f": ["c0", "c1"]}, ["c0"], (b.WRONG_NUMBER, b.BAD_INDEX)),
        ({"f": ["c0"]}, ["c0", "c1"], (0, b.NOT_SET)),
        ({"g": ["c0"]}, ["c0"], (0, b.NOT_SET)),
        ({"f": ["c9"]}, ["c9"], (b.NO_CONSTANT, b.BAD_INDEX)),
        ({"f": ["c0\0"]}, ["c0\0"], (b.NO_CONSTANT, b.BAD_INDEX)),
        ({"f": ["c"]}, ["c"], (b.NO_CONSTANT, b.BAD_INDEX)),
    ],
)
def test_constants(
    driver: Path, lists: dict[str, list[str]], consts: list[str], codes: tuple[int, int]
) -> None:
    data = b.blob([b.const_loader(lists), b.LIB, b.toy("f", "", consts)], [[1, 2], [], []])
    result = run_one(driver, Case(data, (), ["f"]))
    assert result.load == 0
    assert result.ran[0][:2] == codes


def test_of_two_lists_for_a_symbol_the_last_counts(driver: Path) -> None:
    payload = b.strings([]) + b.u64(0) + b.strings(["f", "f"]) + b.u64(2)
    payload += b.strings(["c3"]) + b.strings(["c0"])
    data = b.blob([("const_loader", payload), b.toy("f", "", ["c0"])], [[1], []])
    assert run_one(driver, Case(data, (), ["f"])).ran == ((0, 0, 5 + 1),)


def test_names_are_bytes(driver: Path) -> None:
    """No byte of a name is an escape or ends the name."""
    for name in (b"\\", b"\\u12", b"a\0b", b"\xff\xfe", b'"', b"__init_", b"__init_f", b""):
        data = b.blob([b.LIB, b.toy(name)], [[1], []])
        lookups = [Lookup(0, name), Lookup(0, b"__init_" + name), Lookup(0, name + b"\0")]
        found = run_one(driver, Case(data, lookups)).found
        assert found == ((0, 1, 0, 0), (0, 1, 0, 1), (b.NOT_FOUND, 77, 77, 0)), name


def test_a_symbol_before_an_init_of_the_same_name(driver: Path) -> None:
    data = b.blob([b.LIB, b.pair("f", "__init_f")], [[1], []])
    lookups = [Lookup(0, "__init_f"), Lookup(0, "__init___init_f")]
    result = run_one(driver, Case(data, lookups, ["__init_f"]))
    assert result.found == ((0, 1, 1, 0), (0, 1, 1, 1))
    assert result.ran == ((0, 0, 6),)


# Trees


@dataclass
class Module:
    """A module in TVM's terms."""

    key: str
    symbols: tuple[str, ...] = ()
    imports: list[int] = field(default_factory=list)


def tvm_finds(modules: list[Module], at: int, name: str, query_imports: bool) -> int | None:
    """The module that TVM's recursive ModuleNode::GetFunction and ConstLoaderModuleNode's find."""
    module = modules[at]
    if name in module.symbols:
        return at
    if module.key == "const_loader":
        for child in module.imports:
            found = tvm_finds(modules, child, name, False)
            if found is not None:
                return found
    for child in module.imports if query_imports else ():
        found = tvm_finds(modules, child, name, True)
        if found is not None:
            return found
    return None


def random_modules(rng: random.Random) -> list[Module]:
    count = rng.randrange(1, 12)
    modules = [Module("pair", tuple(rng.sample("abcdef", rng.randrange(3)))) for _ in range(count)]
    modules[rng.randrange(count)] = Module("_lib")
    if rng.random() < 0.5:
        modules[0] = Module("const_loader")
    for i, module in enumerate(modules):
        after = range(i + 1, count)
        module.imports = rng.sample(after, rng.randrange(min(4, len(after)) + 1))
    for i in range(1, count):
        if not any(i in module.imports for module in modules):
            modules[rng.randrange(i)].imports.append(i)
    for module in modules:
        rng.choice((module.imports.sort, lambda: None))()
    return modules


def encoded(modules: list[Module]) -> bytes:
    groups = {"_lib": b.LIB, "const_loader": b.const_loader({})}
    return b.blob(
        [groups[m.key] if m.key in groups else b.pair(*m.symbols) for m in modules],
        [m.imports for m in modules],
    )


def test_random_trees_are_searched_as_tvm_searches_them(driver: Path) -> None:
    rng = random.Random(1)
    trees = [random_modules(rng) for _ in range(400)]
    asked = [
        [(i, name, q) for i in range(len(tree)) for name in "abcdefg" for q in (True, False)]
        for tree in trees
    ]
    cases = [
        Case(encoded(tree), [Lookup(*lookup) for lookup in lookups])
        for tree, lookups in zip(trees, asked, strict=True)
    ]
    hits = 0
    for tree, lookups, result in zip(trees, asked, b.run(driver, cases), strict=True):
        assert result.load == 0
        for lookup, (error, module, function, is_init) in zip(lookups, result.found, strict=True):
            expected = tvm_finds(tree, *lookup)
            assert (error == 0) == (expected is not None), (tree, lookup)
            if expected is not None:
                place = tree[expected].symbols.index(lookup[1])
                assert (module, function, is_init) == (expected, place, 0), (tree, lookup)
                hits += expected != lookup[0]
    assert hits > 1000


def test_a_chain_of_a_thousand_modules(driver: Path) -> None:
    count = 1000
    modules = [Module("pair", (), [i + 1]) for i in range(count - 1)] + [Module("pair", ("f",))]
    result = run_one(driver, Case(encoded(modules), [Lookup(0, "f"), Lookup(0, "g")], (), 1 << 18))
    assert result.found == ((0, count - 1, 0, 0), (b.NOT_FOUND, 77, 77, 0))


def test_a_lattice_is_searched_once(driver: Path) -> None:
    """There are 3 ** 60 paths through it."""
    imports = [range(i + 1, min(i + 4, 180)) for i in range(180)]
    modules = [Module("pair", (), list(row)) for row in imports]
    assert run_one(driver, Case(encoded(modules), [Lookup(0, "f")], (), 1 << 16)).found[0][0]


# Pools


@pytest.mark.parametrize("make", [b.usual, b.older, b.deep, b.without_tree, lambda: b.VECTOR])
def test_every_pool_too_small_is_refused(driver: Path, make: Callable[[], bytes]) -> None:
    data = make()
    used = run_one(driver, Case(data)).used
    results = b.run(driver, [Case(data, (), ["f"], pool) for pool in range(used + 8)])
    assert [result.load for result in results] == [b.NO_MEMORY] * used + [0] * 8
    assert {result.ran[0][0] for result in results[:used]} == {b.BAD_INDEX}


@pytest.mark.parametrize("modules", range(1, 9))
@pytest.mark.parametrize("is_full", [True, False])
def test_the_loader_takes_what_python_says(driver: Path, modules: int, is_full: bool) -> None:
    """Modules have as many imports as possible, or as few."""
    imports = [
        list(range(i + 1, modules if is_full else min(i + 2, modules))) for i in range(modules)
    ]
    data = b.blob([b.const_loader({})] * (modules - 1) + [b.LIB], imports)
    result = run_one(driver, Case(data))
    expected = loader_pool_bytes(modules, sum(map(len, imports)), 8)
    assert (result.load, result.used) == (0, expected)


@pytest.mark.parametrize("nbytes", [2**14, 2**31 - 1, 2**31, 2**63, 2**64 - 1])
def test_a_module_that_takes_too_much(driver: Path, nbytes: int) -> None:
    expected = b.NO_MEMORY if nbytes < 2**31 else b.MALFORMED
    assert code(driver, b.blob([("greedy", b.u64(nbytes)), b.LIB], [[1], []])) == expected


# What is refused


@pytest.mark.parametrize("make", [b.usual, b.older, b.deep, b.without_tree, lambda: b.VECTOR])
def test_every_beginning_is_refused(driver: Path, make: Callable[[], bytes]) -> None:
    data = make()
    cut = [data[:end] for end in range(len(data))]
    consistent = [b.framed(data[8:end]) for end in range(8, len(data))]
    results = b.run(driver, map(Case, [*cut, *consistent]))
    assert {result.load for result in results} == {b.MALFORMED}


@pytest.mark.parametrize("more", [b"\0", b"\0" * 8, b.string("_lib"), b.u64(1)])
def test_what_follows_is_refused(driver: Path, more: bytes) -> None:
    for data in (b.usual(), b.without_tree(), b.VECTOR):
        assert code(driver, data + more) == b.MALFORMED
        assert code(driver, b.framed(data[8:] + more)) == b.MALFORMED


HUGE = (2**31 - 1, 2**31, 2**32, 2**61, 2**61 + 1, 2**63, 2**64 - 8, 2**64 - 1)


def test_every_number_made_huge_is_refused(driver: Path) -> None:
    """Every place is tried, because changing what is not a number must do no harm, either."""
    counts = {0, 8}
    for data in (b.VECTOR, b.usual(), b.older()):
        for value in HUGE:
            cases = [
                Case(data[:at] + b.u64(value) + data[at + 8 :], (), ["f"])
                for at in range(len(data) - 7)
            ]
            results = b.run(driver, cases)
            assert {result.load for result in results} <= {0, b.MALFORMED, b.UNSUPPORTED}
            assert all(results[at].load == b.MALFORMED for at in counts)


TOYS = [b.LIB, b.toy("f"), b.toy("g")]


def _with_tree(rows: list[int], children: list[int], groups: list[b.Group] | None = None) -> bytes:
    tree = ("_import_tree", b.numbers(rows) + b.numbers(children))
    return b.blob([*(TOYS if groups is None else groups), tree])


@pytest.mark.parametrize(
    ("rows", "children", "expected"),
    [
        ([0, 2, 2, 2], [1, 2], 0),
        ([0, 2, 2, 2], [2, 1], 0),
        ([0, 2, 3, 3], [1, 2, 2], 0),
        ([0, 0, 0, 0], [], b.MALFORMED),  # nobody imports them
        ([0, 1, 1, 1], [1], b.MALFORMED),
        ([0, 0, 1, 1], [2], b.MALFORMED),
        ([0, 3, 3, 3], [1, 2, 2], b.MALFORMED),  # imported twice
        ([0, 3, 3, 3], [2, 1, 2], b.MALFORMED),
        ([0, 2, 2, 2], [1, 3], b.MALFORMED),  # there is no such module
        ([0, 3, 3, 3], [1, 2, 3], b.MALFORMED),
        ([0, 2, 2, 2], [1, 2**31 - 1], b.MALFORMED),
        ([0, 2, 2, 2], [1, 2**32 + 2], b.MALFORMED),
        ([0, 2, 2, 2], [1, 2**64 - 1], b.MALFORMED),
        ([0, 2, 2, 2], [0, 2], b.MALFORMED),  # imports itself
        ([0, 1, 2, 2], [1, 0], b.MALFORMED),  # a cycle
        ([0, 1, 2, 3], [1, 2, 1], b.MALFORMED),
        ([1, 2, 2, 2], [1, 2], b.MALFORMED),
        ([0, 2, 1, 2], [1, 2], b.MALFORMED),
        ([0, 2, 2, 1], [1, 2], b.MALFORMED),
        ([0, 1, 1, 1], [1, 2], b.MALFORMED),
        ([0, 2, 2, 3], [1, 2], b.MALFORMED),
        ([0, 2**64 - 1, 2, 2], [1, 2], b.MALFORMED),
        ([0, 2, 2], [1, 2], b.MALFORMED),
        ([0, 2, 2, 2, 2], [1, 2], b.MALFORMED),
        ([], [], b.MALFORMED),
        ([0], [], b.MALFORMED),
    ],
)
def test_trees(driver: Path, rows: list[int], children: list[int], expected: int) -> None:
    assert code(driver, _with_tree(rows, children)) == expected


@pytest.mark.parametrize(
    ("rows", "children", "more"),
    [
        ([0, 2, 2, 2], [1], [2]),
        ([0, 2, 1, 2], [1, 2], [2]),
        ([0, 2, 1, 3], [1, 2, 2], [2]),
        ([0, 1, 1, 1], [1, 2], []),
        ([1, 3, 3, 3], [1, 2, 2], []),
    ],
)
def test_rows_that_ask_for_more_or_fewer_than_the_children(
    driver: Path, rows: list[int], children: list[int], more: list[int]
) -> None:
    data = _with_tree(rows, children)
    assert code(driver, b.framed(data[8:] + b.u64(*more))) == b.MALFORMED


def test_rows_that_descend_over_what_follows(driver: Path) -> None:
    data = _with_tree([0, 3, 2, 3, 3], [1, 2, 3], [*TOYS, b.toy("h")])
    assert code(driver, b.framed(data[8:] + b.u64(3))) == b.MALFORMED


TREE = b.tree([[1, 2], [], []])


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ([*TOYS, TREE], 0),
        ([b.LIB, b.toy("f"), b.LIB, TREE], b.MALFORMED),
        ([b.LIB, b.LIB], b.MALFORMED),
        ([b.LIB, b.toy("f")], b.MALFORMED),  # they have no place in a tree
        ([b.toy("f"), b.LIB], b.MALFORMED),
        ([TREE, *TOYS], b.MALFORMED),
        ([*TOYS[:2], TREE, TOYS[2]], b.MALFORMED),
        ([*TOYS, TREE, TREE], b.MALFORMED),
        ([b.tree([])], b.MALFORMED),
        ([("_import_tree", b.numbers([]) * 2)], b.MALFORMED),
        ([b.LIB, ("toys", b""), TREE], b.UNSUPPORTED),
        ([b.LIB, ("to", b""), TREE], b.UNSUPPORTED),
        ([b.LIB, ("", b""), TREE], b.UNSUPPORTED),
        ([b.LIB, ("toy\0", b.toy("f")[1]), TREE], b.UNSUPPORTED),
        ([("_lib\0", b""), TREE], b.UNSUPPORTED),
        ([("_LIB", b""), TREE], b.UNSUPPORTED),
        ([("_li", b""), TREE], b.UNSUPPORTED),
        ([("loadbinary_toy", b""), TREE], b.UNSUPPORTED),
        ([("runtime.module.loadbinary_toy", b""), TREE], b.UNSUPPORTED),
        ([("metadata_module", b""), TREE], b.UNSUPPORTED),
        ([("t" * 5000, b""), TREE], b.UNSUPPORTED),
        ([b.LIB, ("toy", b.string("f")), TREE], b.MALFORMED),
        ([b.LIB, ("pair", b.u64(9) + b.string("f")), TREE], b.MALFORMED),
    ],
)
def test_groups(driver: Path, groups: list[b.Group], expected: int) -> None:
    assert code(driver, b.blob(groups)) == expected


@pytest.mark.parametrize("count", [0, 1, 2, 4, 5, 2**31, 2**63, 2**64 - 1])
def test_a_wrong_number_of_groups(driver: Path, count: int) -> None:
    assert code(driver, b.framed(b.u64(count) + b.VECTOR[16:])) == b.MALFORMED


ARRAYS = [
    (Array(), 0),
    (Array(()), 0),
    (Array((0, 5)), 0),
    (Array((2**31 - 1, 2**31 - 1, 0)), 0),
    (Array((3,), 1, 1), 0),
    (Array((3,), 0, 64), 0),
    (Array((3,), 4, 16), 0),
    (Array(magic=0xDD5E40F096B4A13E), b.MALFORMED),
    (Array(device=2), b.MALFORMED),
    (Array(code=5), b.MALFORMED),
    (Array(bits=0), b.MALFORMED),
    (Array(bits=65), b.MALFORMED),
    (Array(lanes=0), b.MALFORMED),
    (Array(lanes=4), b.MALFORMED),
    (Array(nbytes=23), b.MALFORMED),
    (Array(nbytes=25, data=bytes(25)), b.MALFORMED),
    (Array(nbytes=2**63, data=b""), b.MALFORMED),
    (Array(ndim=2**32 - 1), b.MALFORMED),
    (Array(ndim=2**31), b.MALFORMED),
    (Array(ndim=1), b.MALFORMED),
    (Array(ndim=3), b.MALFORMED),
    (Array((2**32, 2**32), nbytes=0, data=b""), b.MALFORMED),
    (Array((2**31, 2**31), bits=32, nbytes=0, data=b""), b.MALFORMED),
    (Array((2**16, 2**16), nbytes=0, data=b""), b.MALFORMED),
    (Array((2**16, 2**16, 2**16, 2**16), nbytes=0, data=b""), b.MALFORMED),
    (Array((2**30, 2), 0, 8, nbytes=2**31, data=b""), b.MALFORMED),
    (Array((2**64 - 1, 2**64 - 24), nbytes=24, data=bytes(24)), b.MALFORMED),
]


@pytest.mark.parametrize(("array", "expected"), ARRAYS)
def test_arrays(driver: Path, array: Array, expected: int) -> None:
    loader = b.const_loader({"f": []}, {"c0": Array((1,)), "c1": array})
    assert code(driver, b.blob([loader, b.LIB], [[1], []])) == expected


@pytest.mark.parametrize(
    "payload",
    [
        b.strings(["c0"]) + b.u64(0) + b.strings([]) + b.u64(0),
        b.strings([]) + b.u64(1) + Array().packed() + b.strings([]) + b.u64(0),
        b.strings([]) + b.u64(0) + b.strings(["f"]) + b.u64(0),
        b.strings([]) + b.u64(0) + b.strings([]) + b.u64(1) + b.strings([]),
        b.strings([]) + b.u64(0) + b.strings(["f"]) + b.u64(2) + b.strings([]) * 2,
        b.strings([]) + b.u64(0) + b.strings(["f"]) + b.u64(1) + b.u64(2**63),
    ],
)
def test_const_loaders_whose_counts_differ(driver: Path, payload: bytes) -> None:
    data = b.blob([("const_loader", payload), b.LIB], [[1], []])
    assert code(driver, data) in {b.MALFORMED, b.UNSUPPORTED}
