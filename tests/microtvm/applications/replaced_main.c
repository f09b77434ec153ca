/* An application in place of a project's src/main.c. It brings no platform of its own. */
#include <tvm/runtime/crt/crt.h>
#include <tvm/runtime/crt/logging.h>
#include <tvm/runtime/crt/page_allocator.h>
#include <tvm/runtime/crt/platform.h>
#include <tvm/runtime/crt/stack_allocator.h>
#include <tvmgen_detection.h>

#include "inputs.h"
#include "outputs.h"

static uint8_t g_workspace[1024];
static uint8_t g_pool[1024];
static tvm_workspace_t app_workspace;

int main(void) {
  struct tvmgen_detection_inputs inputs = {.image = input};
  struct tvmgen_detection_outputs outputs = {.probabilities = output};
  MemoryManagerInterface* manager;
  DLDevice dev = {kDLCPU, 0};
  double seconds = -1;
  uint8_t random[4];
  void* block;
  size_t i;

  CHECK_EQ(TVMPlatformInitialize(), kTvmErrorNoError, "platform");
  CHECK_EQ(TVMInitializeRuntime(), kTvmErrorNoError, "runtime");
  CHECK_EQ(StackMemoryManager_Init(&app_workspace, g_workspace, sizeof(g_workspace)),
           kTvmErrorNoError, "stack");
  CHECK_EQ(StackMemoryManager_Allocate(&app_workspace, 100, &block), kTvmErrorNoError, "block");
  CHECK_EQ(PageMemoryManagerCreate(&manager, g_pool, sizeof(g_pool), 6), kTvmErrorNoError, "pages");
  CHECK_EQ(manager->Allocate(manager, 100, dev, &block), kTvmErrorNoError, "page");
  CHECK_EQ(TVMPlatformMemoryAllocate(4, dev, &block), kTvmErrorPlatformNoMemory, "no pool");
  CHECK_EQ(TVMPlatformGenerateRandom(random, sizeof(random)), kTvmErrorFunctionCallNotImplemented,
           "random");
  CHECK_EQ(TVMPlatformBeforeMeasurement(), kTvmErrorNoError, "before");
  CHECK_EQ(TVMPlatformTimerStart(), kTvmErrorNoError, "timer");
  CHECK_EQ(tvmgen_detection_run(&inputs, &outputs), 0, "run");
  CHECK_EQ(TVMPlatformTimerStop(&seconds), kTvmErrorNoError, "timer");
  CHECK_EQ(TVMPlatformAfterMeasurement(), kTvmErrorNoError, "after");
  for (i = 0; i < output_len; i++) {
    LOG_INFO("%d ", output[i]);
  }
  LOG_ERROR("%s %5d|%-5d|%05d|%x|%lu|%zu\n", "end", -7, 7, -42, 0xbeefU, 123UL, sizeof(random));
  CHECK_EQ(output_len, 11, "found %d", 77);
  return 0;
}
