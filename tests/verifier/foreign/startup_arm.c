/* Vectors and start-up as vendors write them, and the system calls that newlib needs. */
#include <stdint.h>
#include <sys/stat.h>

extern uint32_t _estack[], _sidata[], _sdata[], _edata[], _sbss[], _ebss[];
extern char _heap_start[], _heap_end[];
int main(void);

static void hang(void)
{
    for (;;) {
    }
}

void boot(void)
{
    const uint32_t *from = _sidata;

    for (uint32_t *to = _sdata; to < _edata; to++) {
        *to = *from++;
    }
    for (uint32_t *to = _sbss; to < _ebss; to++) {
        *to = 0;
    }
    (void)main();
    hang();
}

__attribute__((section(".isr_vector"), used)) void *const g_vectors[16] = {
    _estack, (void *)boot, (void *)hang, (void *)hang, (void *)hang, (void *)hang, (void *)hang,
};

void *_sbrk(int more)
{
    static char *end = _heap_start;
    char *old = end;

    if (more > _heap_end - end) {
        return (void *)-1;
    }
    end += more;
    return old;
}

int _write(int file, const char *data, int size)
{
    (void)file;
    (void)data;
    return size;
}

int _read(int file, char *data, int size)
{
    (void)file;
    (void)data;
    (void)size;
    return 0;
}

int _close(int file)
{
    return file;
}

int _lseek(int file, int offset, int whence)
{
    (void)file;
    (void)whence;
    return offset;
}

int _fstat(int file, struct stat *about)
{
    (void)file;
    about->st_mode = S_IFCHR;
    return 0;
}

int _isatty(int file)
{
    return file < 3;
}

int _getpid(void)
{
    return 1;
}

int _kill(int process, int number)
{
    (void)process;
    (void)number;
    return -1;
}

void _exit(int status)
{
    (void)status;
    hang();
}
