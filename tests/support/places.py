"""Files of the checkout that many tests use."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
DIGITS = EXAMPLES / "digits" / "digits_int8.tflite"
SEED_DEMO = EXAMPLES / "seed_demo.relay"
BYOC_GUIDE = EXAMPLES / "byoc_guide.relay"
# Smaller in code and in time than DIGITS, with the same ports: tests/support/small_network.py makes
# it.
SMALL = ROOT / "tests" / "data" / "small_int8.tflite"
