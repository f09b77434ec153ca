from pathlib import Path

from microgen.ops.max import MaxAttrs
from tests.ops.reductions import check_kernels


def test_kernels_equal_the_reference(tmp_path: Path) -> None:
    check_kernels("max", MaxAttrs, tmp_path, unchanged=True)
