// C++ code that runs the model, by TVM's names and by the project's own.
#include <tvm/runtime/crt/logging.h>
#include <tvm/runtime/crt/packed_func.h>
#include <tvm/runtime/crt/page_allocator.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/stack_allocator.h>
#include <tvmgen_detection.h>

#include <cstdio>
#include <cstdlib>

extern "C" {
#include "inputs.h"
#include "outputs.h"

void TVMPlatformAbort(tvm_crt_error_t error) {
  std::printf("abort %d\n", static_cast<int>(error));
  std::exit(1);
}

void TVMLogf(const char* fmt, ...) {
  va_list args;
  va_start(args, fmt);
  std::vprintf(fmt, args);
  va_end(args);
}
}

int main() {
  struct tvmgen_detection_inputs inputs = {.image = input};
  struct tvmgen_detection_outputs outputs = {.probabilities = output};

  CHECK_EQ(outputs.output, outputs.probabilities, "one pointer");
  CHECK_EQ(tvmgen_detection_run(&inputs, &outputs), 0, "run");
  for (size_t i = 0; i < output_len; i++) {
    LOG_INFO("%d ", output[i]);
  }
  LOG_INFO("\n");
  return 0;
}
