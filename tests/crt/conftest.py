"""What several tests of this folder run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crt.dnnl import dnnl_json_cases


@pytest.fixture(scope="session")
def dnnl_driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return dnnl_json_cases.compiled(tmp_path_factory.mktemp("dnnl"))
