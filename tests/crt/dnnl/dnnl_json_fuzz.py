"""Damaged modules of type dnnl_json, from a seed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence

from microgen.base.formats import byte_stream
from microgen.tvm.codegens import json_graph
from microgen.tvm.codegens.dnnl import codegen
from tests.crt.dnnl.dnnl_json_cases import FITTED, Case
from tests.crt.dnnl.dnnl_json_numpy import DRAWS, drawn
from tests.crt.mutations import LENGTHS, Json, changed, damaged
from tests.tvm.codegens.dnnl.random_functions import random_function

WORDS = (
    *("", "0", "1", "2", "3", "-1", "-2", "4", "7", "65535", "65536", "2147483647", "2147483648"),
    *("4294967297", "1e-05", "-1e38", "1e39", "inf", "nan", "0.5", "float32", "int8", "NCHW"),
    *("NHWC", "OIHW", "HWIO", "HWOI", "NCWH", "NCHH", "NCHW4c", "input", "const", "kernel", "a"),
    *("strides", "padding", "axis", "shape", "num_inputs", "dnnl_f_const_0", "\u00e9", '"', "\x00"),
    *(*DRAWS, "dnnl.conv2d_bias_relu", "dnnl.dense_bias_sum", "dnnl.conv2d_sum_swish"),
)


def originals() -> list[tuple[Json, tuple[str, ...]]]:
    """Graphs and the names of their constants: one for each operator, and networks of several."""
    graphs = [drawn(name, seed).graph(seed) for name in DRAWS for seed in range(2)]
    for seed in range(20):
        module = random_function(seed)
        assert module.types is not None
        graphs.append(codegen.serialize("f", module["main"], module.types).graph)
    return [(json.loads(json_graph.dumps(graph)), graph.named("const")) for graph in graphs]


def mutations(seed: int, count: int) -> Iterator[Case]:
    """Cases that differ from an original in a few places, and get the memory that they ask for."""
    rng = random.Random(seed)
    trees = originals()
    for _ in range(count):
        tree, names = rng.choice(trees)
        kind = rng.random()
        if kind < 0.35:
            text = json.dumps(changed(rng, tree, WORDS))
        elif kind < 0.75:
            text = json.dumps(_attributes(rng, tree))
        else:
            text = json.dumps(tree)
        payload = _payload(rng, text, names, kind)
        pool = rng.randrange(1, 3000) if rng.random() < 0.05 else 1 << 14
        yield Case(payload, pool=pool, flags=FITTED)


def _payload(rng: random.Random, text: str, names: Sequence[str], kind: float) -> bytes:
    data = text.encode()
    if 0.75 <= kind < 0.9:
        data = damaged(rng, data)
    tail = byte_stream.strings(names)
    payload = byte_stream.string("f") + byte_stream.number(len(data)) + data + tail
    if kind < 0.9:
        return payload
    if kind < 0.95:
        return damaged(rng, payload, tuple(byte_stream.number(n) for n in LENGTHS))
    at = rng.choice((0, 9, rng.randrange(len(payload) - len(tail), len(payload) - 7)))
    return payload[:at] + byte_stream.number(rng.choice(LENGTHS)) + payload[at + 8 :]


def _attributes(rng: random.Random, tree: Json) -> Json:
    """The tree with attributes and shapes of one or two kernels replaced.

    They are replaced by others of their kind, so that many results are consistent.
    """
    tree = json.loads(json.dumps(tree))
    kernels = [node for node in tree["nodes"] if node["op"] == "kernel"]
    for _ in range(rng.randrange(1, 3)):
        node = rng.choice(kernels)
        key = rng.choice(sorted(node["attrs"]))
        if key == "shape":
            _shape(rng, rng.choice(tree["nodes"]))
        elif isinstance(node["attrs"][key], list):
            texts = node["attrs"][key][0]
            texts[rng.randrange(len(texts))] = rng.choice(WORDS)
        if rng.random() < 0.2:
            node["name"] = rng.choice((*DRAWS, "dnnl.conv2d_bias", "dnnl.dense_relu"))
        if rng.random() < 0.2:
            rng.choice(node["inputs"])[0] = rng.randrange(len(tree["nodes"]))
    return dict(tree)


def _shape(rng: random.Random, node: Json) -> None:
    shape = rng.choice(node["attrs"]["shape"][0])
    if shape and rng.random() < 0.8:
        shape[rng.randrange(len(shape))] = rng.choice((0, 1, 2, 3, 4, 5, 8, 2**16, 2**31 - 1))
    else:
        shape.insert(0, rng.choice((1, 2)))
