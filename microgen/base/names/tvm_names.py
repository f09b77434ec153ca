"""TVM's rules for names, so that code written for TVM finds the names that it expects.

Source: TVM v0.14, ``relay/backend/name_transforms.cc``. One difference: a name in the style of a C
function keeps its digits, which TVM drops, so that the hooks of ``npu0`` and ``npu1`` have two
names.
"""

from __future__ import annotations

import re

from microgen.base.errors import MicrogenError


def sanitize_name(name: str) -> str:
    """The name with every character except ASCII letters and digits replaced by ``_``.

    Raises MicrogenError for an empty name.
    """
    if not name:
        raise MicrogenError("a name is empty")
    return re.sub(r"[^A-Za-z0-9]", "_", name)


def prefix_name(*segments: str) -> str:
    """``TVM_<segment>_...``. Raises MicrogenError if there is no segment, or an empty one."""
    if not all(segments) or not segments:
        raise MicrogenError("a segment of a name is empty", where=f"name {segments!r}")
    return "_".join(("TVM", *segments))


def to_c_function_style(name: str) -> str:
    """``TVM_Device_npu0_Activate`` -> ``TVMDeviceNpu0Activate``.

    In each block between ``_`` the first letter becomes upper case and the others lower case.
    Characters other than letters and digits are removed. Raises MicrogenError unless the name
    starts with ``TVM``.
    """
    if not name.startswith("TVM"):
        raise MicrogenError(f"{name!r} does not start with TVM")
    blocks = (re.sub(r"[^A-Za-z0-9]", "", block) for block in name[3:].split("_"))
    # Not capitalize(), because a block may begin with a digit.
    first = re.compile("[a-z]")
    return "TVM" + "".join(first.sub(lambda m: m[0].upper(), b.lower(), count=1) for b in blocks)
