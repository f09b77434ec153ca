"""A C program in microTVM's documented style, with its own driver and the generated files."""

from __future__ import annotations

import subprocess
from pathlib import Path

from microgen.options import Options
from tests.devices.networks import NPU, chain
from tests.kernels.conformance.conformance import WARNINGS
from tests.support.compiling import write_project
from tests.support.tools import NEEDS_CC, NEEDS_CXX

PROGRAM = """
#include <stdint.h>
#include <stdio.h>
#include <tvmgen_default.h>

typedef void tvm_device_npu0_t;
int32_t TVMDeviceNpu0Activate(tvm_device_npu0_t* context);
int32_t TVMDeviceNpu0Open(tvm_device_npu0_t* context);
int32_t TVMDeviceNpu0Close(tvm_device_npu0_t* context);
int32_t TVMDeviceNpu0Deactivate(tvm_device_npu0_t* context);

struct npu_driver {
  int calls;
};

static int32_t count(void* context) {
  if (context != NULL) {
    ((struct npu_driver*)context)->calls++;
  }
  return 0;
}

int32_t TVMDeviceNpu0Activate(tvm_device_npu0_t* context) { return count(context); }
int32_t TVMDeviceNpu0Open(tvm_device_npu0_t* context) { return count(context); }
int32_t TVMDeviceNpu0Close(tvm_device_npu0_t* context) { return count(context); }
int32_t TVMDeviceNpu0Deactivate(tvm_device_npu0_t* context) { return count(context); }

static int8_t input_data[TVMGEN_DEFAULT_INPUT0_SIZE];
static int8_t output_data[TVMGEN_DEFAULT_OUTPUT_SIZE];

int main(void) {
  struct npu_driver driver = {0};
  void* context = &driver;
  struct tvmgen_default_inputs inputs = {.input0 = input_data};
  struct tvmgen_default_outputs outputs = {.output = output_data};
  struct tvmgen_default_devices devices = {.npu0 = context};
  struct tvmgen_default_devices no_context = {.npu0 = NULL};

  printf("%d ", (int)tvmgen_default_run(&inputs, &outputs, &devices));
  printf("%d ", driver.calls);
  printf("%d ", (int)tvmgen_default_run(&inputs, &outputs, &no_context));
  printf("%d", (int)tvmgen_default_run(&inputs, &outputs, NULL));
  return 0;
}
"""


@NEEDS_CC
def test_it_compiles_unchanged_and_brings_its_own_driver(tmp_path: Path) -> None:
    """The driver decides about a NULL context; a NULL structure is an error code."""
    write_project(chain("npu0", "", "npu0"), tmp_path / "p", Options(targets=(NPU,)))
    host = tmp_path / "p" / "model" / "codegen" / "host"
    (tmp_path / "own.c").write_text(PROGRAM)
    includes = [f"-I{host / 'include'}", f"-I{tmp_path / 'p' / 'crt' / 'include'}"]
    sources = [*sorted((host / "src").glob("*.[cS]")), tmp_path / "own.c"]
    command = ["cc", *WARNINGS, *includes, "-o", str(tmp_path / "own"), *map(str, sources)]
    subprocess.run(command, check=True)
    done = subprocess.run([tmp_path / "own"], capture_output=True, text=True, check=True)
    assert done.stdout == f"0 6 0 {0x0801}"


@NEEDS_CXX
def test_the_header_is_c_plus_plus_too(tmp_path: Path) -> None:
    write_project(chain("npu0"), tmp_path / "p", Options(targets=(NPU,)))
    source = tmp_path / "x.cc"
    source.write_text('#include "tvmgen_default.h"\n#include "microgen/tracing_device.h"\n')
    include = f"-I{tmp_path / 'p' / 'model' / 'codegen' / 'host' / 'include'}"
    crt = f"-I{tmp_path / 'p' / 'crt' / 'include'}"
    subprocess.run(["g++", "-fsyntax-only", "-Wall", "-Werror", include, crt, source], check=True)


def test_a_network_without_devices_knows_nothing_of_them(tmp_path: Path) -> None:
    write_project(chain("dsp", ""), tmp_path / "p", Options(targets=("dsp",)))
    tvm = tmp_path / "p" / "crt" / "include" / "tvm"  # every project has TVM's headers
    files = [path for path in (tmp_path / "p").rglob("*.[ch]") if tvm not in path.parents]
    texts = [path.read_text() for path in files]
    assert texts
    assert not [text for text in texts if "TVMDevice" in text or "_devices" in text]
