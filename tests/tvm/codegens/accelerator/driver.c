/* Runs command streams from a file on heap buffers of exact size.
 *
 * Usage: driver CASES OUTPUTS. CASES repeats the following uint32 numbers and bytes until it ends:
 * the count of memories; for each memory 1 if it may be written, its size and its bytes; the count
 * of streams; for each stream its size and its bytes. OUTPUTS gets, for each stream, the status and
 * the memories that may be written. These have their bytes from CASES again before each stream. */
#include "microgen/accelerator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MEMORIES 16

static uint32_t number(FILE *file)
{
    uint32_t value = 0;

    if (fread(&value, sizeof value, 1, file) != 1) {
        exit(3);
    }
    return value;
}

/* A buffer that ends where the data ends, so that AddressSanitizer finds every access past it. */
static void *read_bytes(FILE *file, size_t size)
{
    void *const bytes = malloc(size);

    if (bytes == NULL || fread(bytes, 1, size, file) != size) {
        exit(3);
    }
    return bytes;
}

static void run(FILE *file, FILE *outputs, const mg_accelerator_memory *memories, uint32_t count)
{
    void *originals[MAX_MEMORIES];
    uint32_t streams = number(file);
    uint32_t i;

    for (i = 0; i < count; i++) {
        originals[i] = malloc(memories[i].bytes);
        memcpy(originals[i], memories[i].read, memories[i].bytes);
    }
    for (; streams > 0; streams--) {
        const uint32_t size = number(file);
        uint8_t *const stream = read_bytes(file, size);
        mg_accelerator device = {MG_ACCELERATOR_OPEN, 0, 0, 0, 0};
        const int32_t status = mg_accelerator_run(&device, stream, size, memories, count);

        fwrite(&status, sizeof status, 1, outputs);
        for (i = 0; i < count; i++) {
            if (memories[i].write != NULL) {
                fwrite(memories[i].write, 1, memories[i].bytes, outputs);
                memcpy(memories[i].write, originals[i], memories[i].bytes);
            }
        }
        if (device.state != MG_ACCELERATOR_OPEN || device.streams != (status == 0 ? 1U : 0U)) {
            exit(4);
        }
        free(stream);
    }
    for (i = 0; i < count; i++) {
        free(originals[i]);
    }
}

int main(int argc, char **argv)
{
    FILE *const file = argc == 3 ? fopen(argv[1], "rb") : NULL;
    FILE *const outputs = argc == 3 ? fopen(argv[2], "wb") : NULL;
    uint32_t count;

    if (file == NULL || outputs == NULL) {
        return 2;
    }
    while (fread(&count, sizeof count, 1, file) == 1 && count <= MAX_MEMORIES) {
        mg_accelerator_memory memories[MAX_MEMORIES];
        void *blocks[MAX_MEMORIES];
        uint32_t i;

        for (i = 0; i < count; i++) {
            const uint32_t is_written = number(file);
            const uint32_t bytes = number(file);

            blocks[i] = read_bytes(file, bytes);
            memories[i].read = blocks[i];
            memories[i].write = is_written != 0 ? blocks[i] : NULL;
            memories[i].bytes = bytes;
        }
        run(file, outputs, memories, count);
        for (i = 0; i < count; i++) {
            free(blocks[i]);
        }
    }
    fclose(file);
    return fclose(outputs);
}
