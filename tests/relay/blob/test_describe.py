"""What ``inspect`` shows of a blob, and the files that it writes."""

from __future__ import annotations

import hashlib
import json
import re

from microgen.relay.blob import LIBRARY, Module, describe, dumps, loads
from microgen.tvm.codegens.examplejson.payload import ExampleJson
from tests.relay.blob.samples import ALL, GRAPH, GUIDE, KNOWN, VECTOR, json_module


def test_a_listing_names_keys_functions_sizes_constants_and_graphs() -> None:
    assert describe.listing(loads(ALL["firmware"], KNOWN)).lines == (
        "module blob: 4 modules, 625 bytes of payload",
        "0 metadata: 86 bytes; imports: 1, 2, 3; initialises: j1 (a, b), j2 ()",
        "  1 dnnl_json: 28 bytes; provides: j2; "
        "malformed: the text is not JSON with nodes and heads",
        "  2 dnnl_json: 511 bytes; provides: j1; constants: a, b; nodes: 3; inputs: 1; "
        "kernels: add; outputs: 1",
        "  3 _lib: 0 bytes",
    )


def test_a_shared_module_is_listed_once() -> None:
    blob = loads(ALL["full"], KNOWN)
    lines = describe.listing(blob).lines
    assert len(lines) == 1 + len(blob.modules)
    assert any("arrays: dnnl_f_const_0 (float32[3]), flag (bool[])" in line for line in lines)


def test_the_same_as_data() -> None:
    blob = loads(VECTOR, KNOWN)
    data = describe.listing(blob).data
    assert json.loads(json.dumps(data)) == data
    module = data["modules"][1]
    assert module["sha256"] == hashlib.sha256(blob.modules[1].payload or b"").hexdigest()
    assert (module["index"], module["key"], module["symbols"]) == (1, "dnnl_json", ["f"])
    assert data["modules"][0]["imports"] == [1]


def test_the_oldest_form_is_said_to_be_that() -> None:
    assert (
        describe.listing(loads(ALL["without_tree"], KNOWN))
        .lines[0]
        .endswith("without an import tree")
    )


def test_each_payload_is_a_file_and_its_text_another() -> None:
    symbol = "tvmgen_default_dnnl_main_0"
    example = Module("examplejson", ExampleJson(GUIDE).dumps())
    blob = loads(dumps(Module(LIBRARY, None, (example, json_module(symbol, GRAPH)))), KNOWN)
    files = describe.extract(blob)
    assert files == {
        f"1_dnnl_json_{symbol}.json": GRAPH.encode(),
        f"1_dnnl_json_{symbol}.bin": blob.modules[1].payload,
        "2_examplejson_subgraph_0.txt": GUIDE.encode(),
        "2_examplejson_subgraph_0.bin": blob.modules[2].payload,
    }


def test_names_of_files_are_safe_whatever_the_symbols() -> None:
    hostile = ("../../etc/passwd", "a/b", "a\\b", "C:x", ".", "~", "$(x)", "x" * 500, 'a b*?"<>|')
    imports = tuple(json_module(symbol) for symbol in hostile)
    example = Module("examplejson", ExampleJson("../é\n").dumps())
    files = describe.extract(loads(dumps(Module(LIBRARY, None, (example, *imports))), KNOWN))
    assert len(files) == 2 * len(hostile) + 2
    for name in files:
        assert re.fullmatch(r"\d+_[A-Za-z0-9_-]+\.(bin|json|txt)", name)
        assert len(name) <= 110


def test_lines_have_no_control_characters() -> None:
    text = GRAPH.replace('"add"', '"\\u001b[31m\\nadd\\u202e"')
    blob = loads(dumps(Module(LIBRARY, None, (json_module("f", text),))), KNOWN)
    assert all(line.isprintable() for line in describe.listing(blob).lines)
