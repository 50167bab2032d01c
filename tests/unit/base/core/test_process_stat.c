/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/process_stat.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Starts a child process that takes this name and then waits to be killed. */
static pid_t begin_child(const char *name)
{
    int ends[2];
    pid_t child;
    char named;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0)
        _exit(prctl(PR_SET_NAME, name) != 0 || write(ends[1], "", 1) != 1 || pause() == 0);
    assert_int_equal(read(ends[0], &named, 1), 1);
    close(ends[0]);
    close(ends[1]);
    return child;
}

static void a_process_is_read_whatever_its_name_is(void **state)
{
    static const char *const names[] = {
        "a", "a b", "a) Z 1 1", "a\n) Z 1 1\n", "(((", ")))\n", ""
    };
    struct process_stat own, stat;

    (void)state;
    assert_true(process_stat_read(getpid(), &own));
    assert_int_equal(own.parent, getppid());
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        pid_t child = begin_child(names[i]);
        bool found = process_stat_read(child, &stat);

        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        assert_true(found);
        assert_false(process_stat_has_ended(&stat));
        assert_int_equal(stat.parent, getpid());
        assert_int_equal(stat.group, getpgrp());
        assert_true(stat.start >= own.start);
    }
}

static void a_zombie_has_ended(void **state)
{
    pid_t child = begin_child("x");
    struct process_stat stat;
    siginfo_t ended;

    (void)state;
    kill(child, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
    assert_true(process_stat_read(child, &stat));
    assert_true(process_stat_has_ended(&stat));
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(process_stat_read(child, &stat));
}

static void zero_and_negative_pids_are_not_processes(void **state)
{
    struct process_stat stat;

    (void)state;
    assert_false(process_stat_read(0, &stat));
    assert_false(process_stat_read(-1, &stat));
}

static void the_boot_id_stays_the_same(void **state)
{
    char once[PROCESS_STAT_BOOT_SIZE], again[PROCESS_STAT_BOOT_SIZE];

    (void)state;
    process_stat_boot(once);
    process_stat_boot(again);
    assert_int_equal(strlen(once), 36);
    assert_string_equal(once, again);
}

static void reads_as_much_of_a_file_as_fits(void **state)
{
    char whole[256], some[8];

    (void)state;
    assert_true(process_stat_file("/proc/version", whole, sizeof whole) > 0);
    assert_int_equal(process_stat_file("/proc/version", some, sizeof some), sizeof some - 1);
    assert_memory_equal(some, whole, sizeof some - 1);
    assert_int_equal(some[sizeof some - 1], '\0');
    assert_int_equal(process_stat_file("/proc/nothing", some, sizeof some), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_is_read_whatever_its_name_is),
        cmocka_unit_test(a_zombie_has_ended),
        cmocka_unit_test(zero_and_negative_pids_are_not_processes),
        cmocka_unit_test(the_boot_id_stays_the_same),
        cmocka_unit_test(reads_as_much_of_a_file_as_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
