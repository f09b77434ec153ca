/* A stand-alone application: commands arrive byte by byte and end with '%'. */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <tvm/runtime/c_runtime_api.h>
#include <tvm/runtime/crt/logging.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/stack_allocator.h>

#include "crt_config.h"
#include "inputs.h"
#include "outputs.h"
#include "tvmgen_detection.h"

#define CMD_TERMINATOR '%'

static const char serial[] = "init%infer%bye%infer%";
static char g_cmd_buf[TVM_CRT_MAX_PACKET_SIZE_BYTES / 16];
static size_t g_cmd_buf_ind;

void TVMLogf(const char* msg, ...) {
  char buffer[256];
  size_t size;
  va_list args;
  va_start(args, msg);
  size = TVMPlatformFormatMessage(buffer, sizeof(buffer), msg, args);
  va_end(args);
  fwrite(buffer, 1, size, stdout);
}

static void Infer(void) {
  struct tvmgen_detection_inputs inputs = {
      .image = input,
  };
  struct tvmgen_detection_outputs outputs = {
      .probabilities = output,
  };
  double elapsed_time = -1;
  void* scratch = NULL;
  DLDevice dev = {kDLCPU, 0};

  CHECK_EQ(TVMPlatformMemoryAllocate(64, dev, &scratch), kTvmErrorNoError, "no %d bytes", 64);
  CHECK_EQ(TVMPlatformBeforeMeasurement(), kTvmErrorNoError, "before");
  TVMPlatformTimerStart();
  int ret_val = tvmgen_detection_run(&inputs, &outputs);
  TVMPlatformTimerStop(&elapsed_time);
  CHECK_EQ(TVMPlatformAfterMeasurement(), kTvmErrorNoError, "after");
  if (ret_val != 0) {
    TVMLogf("Error: %d\n", ret_val);
    TVMPlatformAbort(kTvmErrorPlatformCheckFailure);
  }
  CHECK(elapsed_time >= 0);
  CHECK_EQ(TVMPlatformMemoryFree(scratch, dev), kTvmErrorNoError, "free");

  int max_ind = -1;
  int max_val = -1000;
  for (size_t i = 0; i < output_len; i++) {
    if (output[i] >= max_val) {
      max_ind = (int)i;
      max_val = output[i];
    }
  }
  TVMLogf("best %d:%d\n", max_ind, max_val);
}

static void command_ready(const char* command) {
  if (strncmp(command, "init", sizeof(g_cmd_buf)) == 0) {
    LOG_INFO("wakeup\n");
  } else if (strncmp(command, "infer", sizeof(g_cmd_buf)) == 0) {
    Infer();
  } else {
    LOG_DEBUG("not a command: %s\n", command);
  }
}

int main(void) {
  CHECK_EQ(TVMPlatformInitialize(), kTvmErrorNoError, "cannot start");
  memset(g_cmd_buf, 0, sizeof(g_cmd_buf));
  for (size_t i = 0; i + 1 < sizeof(serial); i++) {
    CHECK_LT(g_cmd_buf_ind, sizeof(g_cmd_buf), "command too long");
    if (serial[i] == CMD_TERMINATOR) {
      g_cmd_buf[g_cmd_buf_ind] = (char)0;
      command_ready(g_cmd_buf);
      g_cmd_buf_ind = 0;
    } else {
      g_cmd_buf[g_cmd_buf_ind] = serial[i];
      g_cmd_buf_ind += 1;
    }
  }
  return 0;
}
