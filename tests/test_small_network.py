"""The network of tests that need any network."""

from __future__ import annotations

from microgen import frontends
from tests.support import small_network
from tests.support.places import DIGITS, SMALL


def test_its_file_is_what_the_script_makes() -> None:
    assert SMALL.read_bytes() == small_network.tflite()


def test_its_ports_are_those_of_the_digits_network() -> None:
    small, digits = frontends.load(SMALL), frontends.load(DIGITS)
    assert (small.inputs, small.outputs) == (digits.inputs, digits.outputs)
    for names in (small.inputs, small.outputs):
        assert small.type_of(names) == digits.type_of(names)
