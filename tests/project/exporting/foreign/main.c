/* Somebody's application. It calls the model with the README's own code. */
#include "calling.h"
#include "console.h"
#include "pixels.h"

int main(void)
{
    static const int8_t pixels[TVMGEN_DEFAULT_IMAGE_COUNT] = PIXELS;
    int32_t status;

    for (int i = 0; i < TVMGEN_DEFAULT_IMAGE_COUNT; i++) {
        tvmgen_default_image_data[i] = pixels[i];
    }
    status = infer();
    for (int i = 0; i < TVMGEN_DEFAULT_OUTPUT_COUNT; i++) {
        console_print(tvmgen_default_output_data[i]);
    }
    console_end(status);
    return status;
}
