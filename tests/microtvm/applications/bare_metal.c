/* A demo for a bare board: the input is an array, fields are set by TVM's names. */
#include <stdio.h>
#include <tvm_runtime.h>
#include <tvmgen_detection.h>

/* Written by a script, as the demos' convert_image.py does. */
#include "inputs.h"
#include "outputs.h"

int main(int argc, char** argv) {
  size_t i;
  size_t best = 0;

  (void)argc;
  (void)argv;
  struct tvmgen_detection_outputs detection_outputs = {
      .probabilities = output,
  };
  struct tvmgen_detection_inputs detection_inputs = {
      .image = input,
  };
  _Static_assert(sizeof(output) == TVMGEN_DETECTION_PROBABILITIES_SIZE, "by either name");

  if (tvmgen_detection_run(&detection_inputs, &detection_outputs) != 0) {
    TVMPlatformAbort(kTvmErrorPlatformCheckFailure);
  }
  for (i = 0; i < output_len; i++) {
    best = output[i] > output[best] ? i : best;
    TVMLogf("%d ", output[i]);
  }
  printf("best %u\n", (unsigned)best);
  return 0;
}
