from pathlib import Path

from microgen.ops.argmin import ArgMinAttrs
from tests.ops.arg_extremes import check_kernels


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    check_kernels("argmin", ArgMinAttrs, tmp_path)
