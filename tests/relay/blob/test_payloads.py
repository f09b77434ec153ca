"""The payload of each type key: its bytes, and what is refused."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microgen.base.errors import MicrogenError, ModelError, ProjectError
from microgen.base.formats import byte_stream
from microgen.base.formats.byte_stream import Stream
from microgen.graph.ir.graph import DType
from microgen.relay.blob import payloads
from microgen.relay.blob.payloads import (
    OF_FORMAT,
    ConstLoader,
    CSourceModule,
    Payload,
    PayloadReader,
)
from microgen.tvm.codegens.examplejson.payload import ExampleJson
from microgen.tvm.codegens.json_graph import JsonRuntime
from tests.relay.blob.samples import GRAPH, GUIDE, KNOWN, NUMBERS

_NAME = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=12)
_NAMES = st.lists(_NAME, unique=True, max_size=4).map(tuple)
_TEXT = st.text(st.characters(codec="utf-8"), max_size=40)


def _stream(data: bytes) -> Stream:
    return Stream(data, ModelError, "payload", "")


def _again(payload: Payload, read: PayloadReader) -> Payload:
    """The payload after it was written and read. Every truncation is refused."""
    data = payload.dumps()
    stream = _stream(data + b"rest")
    found = read(stream)
    assert stream.left == 4
    assert found.dumps() == data
    for cut in range(len(data)):
        with pytest.raises(ModelError):
            read(_stream(data[:cut]))
    return found


@settings(deadline=None, derandomize=True)
@given(_NAME, _TEXT, _NAMES)
def test_json_runtimes_come_back(symbol: str, text: str, consts: tuple[str, ...]) -> None:
    payload = JsonRuntime(symbol, text, consts)
    assert _again(payload, KNOWN["dnnl_json"]) == payload
    assert (payload.symbols, payload.constants) == ((symbol,), consts)


@settings(deadline=None, derandomize=True)
@given(_TEXT, _NAME, _NAMES, _NAMES)
def test_c_sources_come_back(
    code: str, form: str, functions: tuple[str, ...], consts: tuple[str, ...]
) -> None:
    payload = CSourceModule(code, form, functions, consts)
    assert _again(payload, KNOWN["c"]) == payload


@settings(deadline=None, derandomize=True)
@given(_TEXT)
def test_example_json_comes_back(graph: str) -> None:
    assert _again(ExampleJson(graph), KNOWN["examplejson"]) == ExampleJson(graph)


@settings(deadline=None, derandomize=True)
@given(
    st.dictionaries(_NAME, _NAMES, max_size=3),
    st.lists(st.integers(0, 3), max_size=3),
    st.sampled_from(list(DType)),
    st.sampled_from(["const_loader", "metadata"]),
)
def test_const_loaders_come_back(
    variables: dict[str, tuple[str, ...]], shape: list[int], dtype: DType, key: str
) -> None:
    without = _again(ConstLoader(variables), KNOWN[key])
    assert isinstance(without, ConstLoader)
    assert (list(without.variables.items()), without.arrays) == (list(variables.items()), {})
    array = np.ones(shape, dtype.numpy)
    arrays = {name: array for names in variables.values() for name in names}
    found = _again(ConstLoader(variables, arrays), KNOWN[key])
    assert isinstance(found, ConstLoader)
    assert list(found.arrays) == list(arrays)
    for name in arrays:
        np.testing.assert_array_equal(found.arrays[name], array, strict=True)
        assert not found.arrays[name].flags.writeable


def test_bytes_of_a_json_runtime() -> None:
    data = JsonRuntime("f", "{}", ("ab",)).dumps()
    assert data == struct.pack("<Q1sQ2sQQ2s", 1, b"f", 2, b"{}", 1, 2, b"ab")


def test_bytes_of_a_const_loader() -> None:
    """The bytes were written by hand from TVM v0.14's const_loader_module.cc; v0.7's
    metadata_module.cc is the same."""
    payload = ConstLoader({"f": ("c", "c2")}, {"c": np.int16([[-2]]), "c2": np.int16([[3]])})
    array = struct.pack("<QQiiiBBHqqq", 0xDD5E40F096B4A13F, 0, 1, 0, 2, 0, 16, 1, 1, 1, 2)
    assert payload.dumps() == b"".join(
        [
            struct.pack("<QQ1sQ2s", 2, 1, b"c", 2, b"c2"),
            struct.pack("<Q", 2) + array + b"\xfe\xff" + array + b"\x03\x00",
            struct.pack("<QQ1s", 1, 1, b"f"),
            struct.pack("<QQQ1sQ2s", 1, 2, 1, b"c", 2, b"c2"),
        ]
    )


def _loader(names: list[str], symbols: list[str], *lists: list[str]) -> bytes:
    array = struct.pack("<QQiiiBBHq", 0xDD5E40F096B4A13F, 0, 1, 0, 0, 0, 8, 1, 1) + b"\x07"
    head = byte_stream.strings(names) + byte_stream.number(len(names)) + array * len(names)
    table = byte_stream.strings(symbols) + byte_stream.number(len(lists))
    return head + table + b"".join(map(byte_stream.strings, lists))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (_loader(["a", "a"], []), "the name 'a' is listed twice"),
        (_loader([], ["f", "f"], [], []), "the name 'f' is listed twice"),
        (_loader([], ["f"], ["a", "a"]), "the name 'a' is listed twice"),
        (_loader(["a"], ["f"], ["b"]), "the constant 'b' has no array"),
        (_loader([], ["f"]), "the number of lists of constants is 0x0, expected 0x1"),
        (_loader([], [], []), "the number of lists of constants is 0x1, expected 0x0"),
        (byte_stream.strings(["a"]) + byte_stream.number(0), "the number of arrays is 0x0"),
        (_loader([], ["é"], []), "found the name 'é', expected printable ASCII"),
        (_loader([], [""], []), "found the name '', expected printable ASCII"),
        (_loader(["a"], []).replace(b"\x3f\xa1", b"\x3f\xa2"), "array's magic number"),
    ],
)
def test_what_is_malformed_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        ConstLoader.loads(_stream(data))


def test_arrays_of_a_dtype_that_is_not_ours_are_not_written() -> None:
    with pytest.raises(ProjectError, match=r"constant 'a': cannot write .* float64"):
        ConstLoader({}, {"a": np.zeros(1)}).dumps()


def test_texts_that_are_not_utf_8_are_refused() -> None:
    with pytest.raises(ModelError, match="the string that ends at offset 9 is not UTF-8"):
        ExampleJson.loads(_stream(byte_stream.number(1) + b"\xff"))


def test_facts_of_a_graph() -> None:
    found = JsonRuntime("f", GRAPH).facts
    assert found == {"nodes": 3, "inputs": 1, "kernels": ["add"], "outputs": 1}


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[]", "1", '{"nodes": 1}', '{"nodes": [1]}', "[" * 100_000, "9" * 5000),
        *('{"nodes": [{"op": 1}]}', '{"nodes": [], "heads": 1}', '{"nodes": {"op": "op"}}'),
    ],
)
def test_facts_of_what_is_no_graph(text: str) -> None:
    assert JsonRuntime("f", text).facts.keys() == {"malformed"}


def test_subgraphs_of_the_guides_text() -> None:
    payload = ExampleJson(GUIDE + "\n" + GUIDE.replace("subgraph_0", "subgraph_1"))
    assert payload.symbols == ("subgraph_0", "subgraph_1")
    assert payload.facts == {"inputs": 8, "kernels": ["add", "sub", "mul"] * 2}


def test_further_keys_join_the_table() -> None:
    assert payloads.table(NUMBERS).keys() == OF_FORMAT.keys() | {"k"}
    for key in ("const_loader", "_lib", "_import_tree"):
        with pytest.raises(MicrogenError, match=f"the type key '{key}' is taken"):
            payloads.table({key: ExampleJson.loads})
