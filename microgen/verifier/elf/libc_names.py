"""Names of C library functions, for the checks that no such function is linked.

Source: ISO/IEC 9899:1999, annex B; POSIX.1-2008 for newlib's additions; newlib for its heap.
"""

from __future__ import annotations


def _words(text: str) -> list[str]:
    return text.split()


_MATH = _words("""
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs
fdim floor fma fmax fmin fmod frexp hypot ilogb ldexp lgamma llrint llround log log10 log1p log2
logb lrint lround modf nan nearbyint nextafter nexttoward pow remainder remquo rint round scalbln
scalbn sin sinh sqrt tan tanh tgamma trunc
""")

_OTHERS = _words("""
abort abs asctime atexit atof atoi atol atoll bsearch clearerr clock ctime difftime div exit fclose
feof ferror fflush fgetc fgetpos fgets fgetwc fgetws fopen fprintf fputc fputs fputwc fputws fread
freopen fscanf fseek fsetpos ftell fwide fwprintf fwrite fwscanf getc getchar getenv gets gmtime
isalnum isalpha isblank iscntrl isdigit isgraph islower isprint ispunct isspace isupper isxdigit
labs ldiv llabs lldiv localeconv localtime longjmp mblen mbstowcs mbtowc memchr memcmp memcpy
memmove memset mktime perror printf putc putchar puts qsort raise rand remove rename rewind scanf
setbuf setjmp setlocale setvbuf signal snprintf sprintf srand sscanf strcat strchr strcmp strcoll
strcpy strcspn strerror strftime strlen strncat strncmp strncpy strpbrk strrchr strspn strstr
strtod strtof strtoimax strtok strtol strtold strtoll strtoul strtoull strtoumax strxfrm system
time tmpfile tmpnam tolower toupper ungetc vfprintf vfscanf vprintf vscanf vsnprintf vsprintf
vsscanf wcscpy wcslen wcstombs wctomb wmemcpy wmemset
""")

STANDARD = frozenset([*_OTHERS, *(n + suffix for n in _MATH for suffix in ("", "f", "l"))])

POSIX = frozenset(
    _words("""
    asprintf bcmp bcopy bzero close dprintf fdopen fileno fiprintf fork fstat getpid getopt
    iprintf isatty kill lseek memccpy mempcpy open printf_r read siprintf sniprintf stat stpcpy
    strcasecmp strdup strncasecmp strndup strnlen strtok_r times unlink viprintf wait write
    """)
)

HEAP = frozenset(
    _words("""
    malloc free calloc realloc reallocf aligned_alloc memalign posix_memalign valloc pvalloc cfree
    mallinfo malloc_stats malloc_trim malloc_usable_size mallopt
    _malloc_r _free_r _calloc_r _realloc_r _memalign_r _malloc_trim_r _malloc_usable_size_r
    __malloc_lock __malloc_unlock __env_lock __env_unlock sbrk_aligned
    sbrk _sbrk _sbrk_r __errno
    __retarget_lock_acquire __retarget_lock_acquire_recursive __retarget_lock_release
    __retarget_lock_release_recursive
    """)
)
