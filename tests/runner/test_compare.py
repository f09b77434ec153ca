"""The first difference, and how it is said."""

from __future__ import annotations

import numpy as np
import pytest

from microgen.errors import InternalError
from microgen.ir.graph import Array
from microgen.runner.compare import compare
from microgen.runner.trace import Layer
from tests.runner import standin

MANIFEST = standin.manifest("native")


def layers(samples: int) -> list[Layer]:
    ramp = np.arange(8, dtype=np.int8).reshape(2, 4)
    return [
        Layer(sample, call, f"layer{call}", ramp + np.int8(10 * call + sample))
        for sample in range(samples)
        for call in range(4)
    ]


def expected(samples: int) -> list[dict[str, Array]]:
    found: list[dict[str, Array]] = [{} for _ in range(samples)]
    for layer in layers(samples):
        found[layer.sample][layer.tensor] = layer.array.copy()
    return found


def test_equal_layers_have_no_difference() -> None:
    found = compare(MANIFEST, layers(2), expected(2))
    assert (found.first, found.compared, found.absent) == (None, 8, ())


def test_the_first_differing_layer_and_element_are_named() -> None:
    reference = expected(2)
    reference[1]["layer2"][1, 1] += 1
    reference[1]["layer2"][1, 3] -= 7
    reference[1]["layer3"][0, 0] += 50  # later, so not the first
    found = compare(MANIFEST, layers(2), reference).first
    assert found is not None
    assert (found.sample, found.call, found.index) == (1, 2, (1, 1))
    assert (found.found, found.expected) == (26, 27)
    assert str(found) == (
        'sample 1, call 2, layer "model/copy2": layer2[1,1] is 26, expected 27; '
        "2 of 8 elements differ, by 7 at most"
    )


def test_distances_do_not_wrap_around() -> None:
    reference = expected(1)
    reference[0]["layer0"][0, 0] = -128
    found = compare(MANIFEST, [Layer(0, 0, "layer0", np.full((2, 4), 127, np.int8))], reference)
    assert found.first is not None
    assert found.first.largest == 255


def test_an_expected_tensor_may_have_another_shape() -> None:
    reference = expected(1)
    reference[0]["layer0"] = reference[0]["layer0"].reshape(8)
    assert compare(MANIFEST, layers(1), reference).first is None


def test_layers_without_an_expected_tensor_are_named() -> None:
    reference = expected(2)
    for sample in reference:
        del sample["layer1"]
    found = compare(MANIFEST, layers(2), reference)
    assert (found.first, found.compared, found.absent) == (None, 6, ("layer1",))


def test_comparing_nothing_is_an_error() -> None:
    with pytest.raises(InternalError, match="no traced layer has an expected tensor"):
        compare(MANIFEST, layers(1), [{}])


def test_another_size_is_an_error() -> None:
    reference: list[dict[str, Array]] = [{"layer0": np.zeros(7, np.int8)}]
    with pytest.raises(InternalError, match=r"layer0 has shape \(2, 4\), the reference's \(7,\)"):
        compare(MANIFEST, layers(1), reference)
