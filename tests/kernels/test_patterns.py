"""Every kernel of several ops has tests: nothing else demands them, because no op names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from microgen import kernels

ROOT = Path(__file__).resolve().parents[1]
PATTERNS = ["+".join(pattern) for pattern in kernels.joint_ops()]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_kernel_of_a_pattern_is_named_by_a_test(pattern: str) -> None:
    texts = [
        path.read_text()
        for folder in ("kernels", "compiler/schedule")
        for path in (ROOT / folder).rglob("test_*.py")
    ]
    for kernel in kernels.registry()[pattern]:
        name = f"mg_{kernel.family}_" if kernel.family else kernel.symbol
        assert any(name in text for text in texts), (
            f"no test names {name}: a test has to run it, and to compare its results"
        )
