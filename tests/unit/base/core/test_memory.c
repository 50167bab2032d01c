/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/core/memory.h"

static void returns_zeroed_memory_even_for_size_0(void **state)
{
    FREE_AUTO unsigned char *bytes = memory_zeroed(64, 4);
    FREE_AUTO void *nothing = memory_zeroed(0, 8);

    (void)state;
    for (int i = 0; i < 256; i++)
        assert_int_equal(bytes[i], 0);
    assert_non_null(nothing);
}

static void keeps_the_content_when_it_grows(void **state)
{
    int *numbers = memory_resize(NULL, 2, sizeof *numbers);

    (void)state;
    numbers[0] = 7;
    numbers[1] = 8;
    numbers = memory_resize(numbers, 20000, sizeof *numbers);
    assert_int_equal(numbers[0], 7);
    assert_int_equal(numbers[1], 8);
    free(numbers);
}

static void copies_text(void **state)
{
    FREE_AUTO char *copy = memory_copy_text("gemma");

    (void)state;
    assert_string_equal(copy, "gemma");
}

static void ends_the_process_when_a_size_overflows(void **state)
{
    volatile size_t huge = SIZE_MAX / 2;
    int status;
    pid_t child = fork();

    (void)state;
    if (child == 0) {
        close(STDERR_FILENO);
        free(memory_resize(NULL, huge, 4));
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returns_zeroed_memory_even_for_size_0),
        cmocka_unit_test(keeps_the_content_when_it_grows),
        cmocka_unit_test(copies_text),
        cmocka_unit_test(ends_the_process_when_a_size_overflows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
