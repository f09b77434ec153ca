/* Checks of the C programs that tests run. */
#ifndef TESTS_EXECUTOR_CHECK_H
#define TESTS_EXECUTOR_CHECK_H

#include <stdio.h>

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            failures++;                                                                            \
            printf("line %d: %s\n", __LINE__, #condition);                                         \
        }                                                                                          \
    } while (0)

static int finish(void)
{
    if (failures == 0) {
        printf("ok\n");
    }
    return failures;
}

#endif
