/* Files and console of the host. */
#ifndef HOST_H
#define HOST_H

int host_open(const char *path, int write);
int host_read(int file, void *data, int size);
void host_write(int file, const void *data, int size);
void host_close(int file);
void host_print(const char *text);
void host_print_decimal(unsigned value);
void host_system(const char *program); /* boards only */
void host_exit(int code) __attribute__((noreturn));

#endif
