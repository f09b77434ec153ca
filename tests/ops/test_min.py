from pathlib import Path

from microgen.ops.min import MinAttrs
from tests.ops.reductions import check_kernels


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    check_kernels("min", MinAttrs, tmp_path, unchanged=True)
