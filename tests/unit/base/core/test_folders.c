/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/folders.h"

static char top[] = "/tmp/opsbrain-folders-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(top) != NULL ? chdir(top) : -1;
}

static int tear_down(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", top);
    return chdir("/") == 0 ? system(command) : -1;
}

static void a_folder_is_made_with_its_parents_and_only_for_its_owner(void **state)
{
    static const char *const paths[] = { "a/b/c", "a/b/c/", "a//b", ".", "d" };
    struct stat status;
    struct error error;

    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_true(folders_make(paths[i], &error));
        assert_int_equal(stat(paths[i], &status), 0);
        assert_int_equal(status.st_mode & 0777, 0700);
    }
    assert_true(folders_make(top, &error));
}

static void refusals_name_the_folder_or_say_that_its_name_is_empty(void **state)
{
    struct error error;

    (void)state;
    close(open("file", O_CREAT | O_WRONLY, 0600));
    assert_false(folders_make("file/below", &error));
    assert_string_equal(error.message, "the folder file cannot be created: Not a directory");
    assert_false(folders_make("file", &error));
    assert_string_equal(error.message, "the folder file cannot be created: Not a directory");
    assert_false(folders_make("", &error));
    assert_string_equal(error.message, "the name of a folder is empty");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_is_made_with_its_parents_and_only_for_its_owner),
        cmocka_unit_test(refusals_name_the_folder_or_say_that_its_name_is_empty),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
