"""Blobs are read back unchanged, and everything else is refused in one line."""

from __future__ import annotations

import contextlib
import struct
import tracemalloc

import pytest

from microgen.base.errors import ModelError
from microgen.base.formats import byte_stream
from microgen.relay.blob import LIBRARY, Module, dumps, loads
from microgen.relay.blob.payloads import ConstLoader
from microgen.tvm.codegens.json_graph import JsonRuntime
from tests.relay.blob.samples import ALL, GRAPH, KNOWN, LIB, NUMBERS, VECTOR, Number, json_module

_COUNTS = (2**20, 2**31, 2**32, 2**60, 2**61, 2**63, 2**64 - 1)


def _tree(row_ptr: list[int], children: list[int]) -> bytes:
    tree = byte_stream.numbers(row_ptr) + byte_stream.numbers(children)
    return byte_stream.string("_import_tree") + tree


def _blob(*entries: bytes, count: int | None = None) -> bytes:
    body = byte_stream.number(len(entries) if count is None else count) + b"".join(entries)
    return byte_stream.number(len(body)) + body


def _number(value: int) -> bytes:
    return byte_stream.string("k") + byte_stream.number(value)


_LIB = byte_stream.string(LIBRARY)


def test_the_vector() -> None:
    blob = loads(VECTOR, KNOWN)
    assert [m.type_key for m in blob.modules] == [LIBRARY, "dnnl_json"]
    assert blob.contents == (None, JsonRuntime("f", "{}"))
    assert blob.children == ((1,), ())
    assert blob.root.imports == (blob.modules[1],)
    assert blob.has_tree


@pytest.mark.parametrize("name", sorted(ALL.keys() - {"without_tree"}))
def test_what_is_read_is_written_again(name: str) -> None:
    blob = loads(ALL[name], KNOWN)
    assert dumps(blob.root) == ALL[name]
    for module, content in zip(blob.modules, blob.contents, strict=True):
        assert (content.dumps() if content else b"") == module.payload


def test_an_import_that_two_share_is_one_module() -> None:
    blob = loads(ALL["full"], KNOWN)
    by_key = {m.type_key: m for m in blob.modules}
    assert by_key["examplejson"] in by_key["c"].imports
    assert by_key["examplejson"] in by_key[LIBRARY].imports


def test_without_a_tree_all_modules_are_the_librarys_imports() -> None:
    blob = loads(ALL["without_tree"], KNOWN)
    assert not blob.has_tree
    assert [m.type_key for m in blob.modules] == [LIBRARY, "dnnl_json", "dnnl_json"]
    assert blob.root.imports == blob.modules[1:]
    assert blob.children == ((1, 2), (), ())
    assert [c.symbols for c in blob.contents if c] == [("f",), ("g",)]
    nothing = loads(dumps(LIB), KNOWN)
    assert [m.type_key for m in nothing.modules] == [LIBRARY]


def test_the_notes_older_form_with_metadata() -> None:
    """The offsets are those of ``readelf -p .rodata`` in the notes, for a library built by TVM."""
    zero, two = (f"tvmgen_default_dnnl_main_{i}" for i in (0, 2))
    texts = "{}".ljust(0x74C), GRAPH.ljust(0x2D8)[:0x2D8]
    modules = (LIB, json_module(two, texts[1]), json_module(zero, texts[0]))
    data = dumps(Module("metadata", ConstLoader({zero: (), two: ()}).dumps(), modules))
    listed = {
        *((0x18, "metadata"), (0x40, zero), (0x62, two)),
        *((0x9C, "dnnl_json"), (0xAD, zero), (0xCF, texts[0])),
        *((0x82B, "dnnl_json"), (0x83C, two), (0x85E, texts[1])),
        *((0xB46, "_lib"), (0xB52, "_import_tree")),
    }
    for offset, text in listed:
        assert data[offset : offset + len(text)].decode() == text, hex(offset)
    blob = loads(data, KNOWN)
    assert [m.type_key for m in blob.modules] == ["metadata", "dnnl_json", "dnnl_json", LIBRARY]
    loader = blob.contents[0]
    assert isinstance(loader, ConstLoader)
    assert loader.variables == {zero: (), two: ()}


def test_v0_7_lists_children_as_they_were_imported() -> None:
    """Its serializer did not sort them (``src/target/codegen.cc`` at v0.7.0)."""
    data = _blob(_number(0), _number(1), _number(2), _LIB, _tree([0, 3, 3, 3, 3], [3, 2, 1]))
    blob = loads(data, NUMBERS)
    assert blob.children[0] == (3, 2, 1)
    assert blob.root.imports == (blob.modules[3], blob.modules[2], blob.modules[1])


@pytest.mark.parametrize("name", ALL)
def test_every_truncation_is_refused(name: str) -> None:
    """Truncations are tried with the old length, and with one that fits."""
    data = ALL[name]
    for cut in range(len(data)):
        with pytest.raises(ModelError, match="module blob"):
            loads(data[:cut], KNOWN)
        if cut >= 8:
            with pytest.raises(ModelError, match="module blob"):
                loads(byte_stream.number(cut - 8) + data[8:cut], KNOWN)


@pytest.mark.parametrize("name", ALL)
def test_bytes_after_the_end_are_refused(name: str) -> None:
    data = ALL[name]
    with pytest.raises(ModelError, match="the number of bytes after the first 8 is"):
        loads(data + b"\0", KNOWN)
    with pytest.raises(ModelError, match="1 bytes follow the last module"):
        loads(byte_stream.number(len(data) - 7) + data[8:] + b"\0", KNOWN)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (_blob(_LIB, _LIB, _tree([0, 0, 0], [])), r"module 1 \(_lib\): found a second '_lib'"),
        (_blob(_LIB), "found '_lib', but no import tree that says where it is"),
        (_blob(_LIB, _number(1), count=3), "needs 8 bytes"),
        (_blob(_number(1), _number(2), count=1), "17 bytes follow the last module"),
        (_blob(_LIB, _tree([0, 0], []), _number(1)), "the import tree comes before 1 modules"),
        (_blob(_tree([0], [])), "found a tree of no modules"),
        (_blob(_number(1), _tree([], [])), "found 0 row pointers, expected 2"),
        (_blob(_number(1), _tree([0, 0, 0], [])), "found 3 row pointers, expected 2"),
        (_blob(_number(1), _number(2), _tree([1, 1, 1], [1])), "do not ascend from 0 to 1"),
        (_blob(_number(1), _number(2), _tree([0, 1, 0], [1])), "do not ascend from 0 to 1"),
        (_blob(_number(1), _number(2), _tree([0, 2, 1], [1])), "do not ascend from 0 to 1"),
        (_blob(_number(1), _number(2), _tree([0, 1, 1], [1, 1])), "do not ascend from 0 to 2"),
        (
            _blob(_number(1), _number(2), _tree([0, 2**64 - 1, 1], [1])),
            "do not ascend from 0 to 1",
        ),
        (
            _blob(_number(1), _number(2), _tree([0, 1, 1], [2])),
            "module 0 imports module 2, expected more than 0 and less than 2",
        ),
        (_blob(_number(1), _number(2), _tree([0, 1, 1], [2**64 - 1])), "imports module 1844674"),
        (_blob(_number(1), _number(2), _tree([0, 1, 1], [0])), "module 0 imports module 0"),
        (_blob(_number(1), _number(2), _tree([0, 1, 2], [1, 0])), "module 1 imports module 0"),
        (_blob(_number(1), _number(2), _tree([0, 2, 2], [1, 1])), "imports a module twice"),
        (_blob(_number(1), _number(2), _tree([0, 0, 0], [])), r"nothing imports module 1 \(k\)"),
        (_blob(byte_stream.string("npu")), "found the type key 'npu', expected one of k;"),
        (_blob(byte_stream.string("")), "found the name '', expected printable ASCII"),
        (_blob(byte_stream.string("é")), "found the name 'é', expected printable ASCII"),
        (_blob(byte_stream.string("a\tb")), r"found the name 'a\\tb', expected printable ASCII"),
        (_blob(byte_stream.number(2) + b"\xff\xfe"), "offset 26 is not UTF-8"),
    ],
)
def test_what_is_malformed_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ModelError, match=f"^module blob.*{message}") as caught:
        loads(data, NUMBERS)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name", [*sorted(ALL.keys() - {"full"}), pytest.param("full", marks=pytest.mark.slow)]
)
def test_no_number_makes_the_reader_allocate(name: str) -> None:
    data = ALL[name]
    tracemalloc.start()
    try:
        for at in range(len(data) - 8):
            for count in _COUNTS:
                damaged = data[:at] + struct.pack("<Q", count) + data[at + 8 :]
                tracemalloc.reset_peak()
                before = tracemalloc.get_traced_memory()[0]
                with contextlib.suppress(ModelError):
                    loads(damaged, KNOWN)
                assert tracemalloc.get_traced_memory()[1] - before < 50 * len(data) + 20_000
    finally:
        tracemalloc.stop()


def test_keys_are_known_by_being_passed() -> None:
    data = dumps(Module(LIBRARY, None, (Module("k", Number(7).dumps()),)))
    assert loads(data, NUMBERS).contents == (None, Number(7))
    with pytest.raises(ModelError, match="found the type key 'k', expected one of c, const_loader"):
        loads(data, KNOWN)


def test_a_chain_of_thousands_needs_no_stack() -> None:
    module = Module("k", Number(0).dumps())
    for i in range(5000):
        module = Module("k", Number(i).dumps(), (module,))
    data = dumps(module)
    assert dumps(loads(data, NUMBERS).root) == data
