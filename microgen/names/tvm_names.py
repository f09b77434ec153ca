"""TVM's rules for names, so that code written for TVM finds the names that it expects.

Source: TVM v0.14, ``relay/backend/utils.py``, ``runtime/meta_data.h`` and
``relay/backend/name_transforms.cc``. There is one difference: a name in the style of a C function
keeps its digits. TVM drops them, so the hooks of ``npu0`` and ``npu1`` would be one function.
"""

from __future__ import annotations

import re

from microgen.errors import MicrogenError


def mangle_module_name(name: str) -> str:
    """``tvmgen_<name>``, or ``tvmgen`` for a module without a name.

    Raises MicrogenError for a name that is not ASCII.
    """
    if not name.isascii():
        raise MicrogenError("contains invalid characters", where=f"module name {name!r}")
    return f"tvmgen_{name}" if name else "tvmgen"


def get_name_mangled(module: str, name: str) -> str:
    """``<module>_<name>``; neither is changed."""
    return f"{module}_{name}"


def sanitize_name(name: str) -> str:
    """The name with every character except ASCII letters and digits replaced by ``_``.

    Raises MicrogenError for an empty name.
    """
    if not name:
        raise MicrogenError("a name is empty")
    return re.sub(r"[^A-Za-z0-9]", "_", name)


def combine_names(*segments: str) -> str:
    """The segments joined with ``_``. Raises MicrogenError if there is none, or if one is empty."""
    if not all(segments) or not segments:
        raise MicrogenError("a segment of a name is empty", where=f"name {segments!r}")
    return "_".join(segments)


def prefix_name(*segments: str) -> str:
    """``TVM_<segment>_...``, for names that do not depend on a model. Raises as combine_names."""
    return f"TVM_{combine_names(*segments)}"


def prefix_generated_name(*segments: str) -> str:
    """``TVMGen_<segment>_...``, for names that depend on a model. Raises as combine_names."""
    return f"TVMGen_{combine_names(*segments)}"


def to_c_function_style(name: str) -> str:
    """``TVM_Device_npu0_Activate`` -> ``TVMDeviceNpu0Activate``.

    In each block between ``_`` the first letter becomes upper case and the others lower case.
    Characters other than letters and digits are removed. Raises MicrogenError unless the name
    starts with ``TVM``.
    """
    blocks = (re.sub(r"[^A-Za-z0-9]", "", block) for block in _tvm(name)[3:].split("_"))
    return "TVM" + "".join(re.sub(r"[A-Za-z]", _upper, block.lower(), count=1) for block in blocks)


def to_c_variable_style(name: str) -> str:
    """``TVM_Device_npu_t`` -> ``tvm_device_npu_t``. Raises as to_c_function_style."""
    return _tvm(name).lower()


def to_c_constant_style(name: str) -> str:
    """``TVMGen_default_SIZE`` -> ``TVMGEN_DEFAULT_SIZE``. Raises as to_c_function_style."""
    return _tvm(name).upper()


def _tvm(name: str) -> str:
    if not name.startswith("TVM"):
        raise MicrogenError(f"{name!r} does not start with TVM")
    return name


def _upper(letter: re.Match[str]) -> str:
    return letter[0].upper()
