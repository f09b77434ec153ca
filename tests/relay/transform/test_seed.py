"""The demo of the notes, partitioned: the text as printed there, to the letter."""

from __future__ import annotations

import pytest

from microgen import relay
from microgen.relay.transform import AnnotateTarget, PartitionGraph
from tests.relay import seed
from tests.relay.transform.checks import check_text, check_types, same_value, support


@pytest.mark.parametrize(
    ("codegen", "ops", "expected"),
    [
        ("dnnl", ("nn.conv2d", "nn.relu"), seed.PARTITIONED),
        ("my", ("nn.conv2d",), seed.PARTITIONED_FOR_MY),
    ],
)
def test_the_text_of_the_notes(codegen: str, ops: tuple[str, ...], expected: str) -> None:
    demo = seed.demo()
    annotated = AnnotateTarget([support(codegen, *ops)])(demo)
    partitioned = PartitionGraph()(annotated)
    assert relay.show(partitioned) == expected
    for module in (annotated, partitioned):
        check_types(module)
        check_text(module)
        assert same_value(module, demo)


def test_annotations_as_text() -> None:
    text = relay.show(AnnotateTarget([support("my", "nn.conv2d")])(seed.demo()))
    lines = [line.split(" /*")[0].strip() for line in text.splitlines()[1:6]]
    assert lines == [
        '%0 = annotation.compiler_begin(%d1, compiler="my")',
        '%1 = annotation.compiler_begin(%w1, compiler="my")',
        "%2 = nn.conv2d(%0, %1, padding=[1, 1, 1, 1])",
        '%3 = annotation.compiler_end(%2, compiler="my")',
        '%4 = annotation.compiler_begin(%3, compiler="default")',
    ]
