/* Reads microgen_input.bin, runs the network on each sample, writes microgen_output.bin. */
#include "standin.h"

#include "host.h"

static int8_t input_x[WIDTH];
static int8_t output_y[WIDTH];

int main(void)
{
    int samples = 0;
    int32_t status = 0;
#ifdef SPAWN
    host_system("touch spawned");
    if (host_open("spawned", 0) >= 0) {
        host_print("spawned\n");
    }
#endif
    int in = host_open("microgen_input.bin", 0);
    if (in < 0) {
        status = measured(input_x, output_y);
        samples = 1;
    } else {
        int out = host_open("microgen_output.bin", 1);
        while (status == 0 && host_read(in, input_x, WIDTH) == WIDTH) {
            status = measured(input_x, output_y);
            host_write(out, output_y, WIDTH);
            samples++;
        }
        host_close(out);
    }
    host_print("microgen: status=");
    host_print_decimal((unsigned)status);
    host_print(" samples=");
    host_print_decimal((unsigned)samples);
    host_print(" stack=96\n");
    host_exit(status != 0);
}
