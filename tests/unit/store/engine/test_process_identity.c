/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine/process_identity.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/core/text.h"

static void a_running_process_is_not_gone(void **state)
{
    char own[PROCESS_IDENTITY_SIZE];

    (void)state;
    process_identity_write(own);
    assert_true(strlen(own) > 40);
    assert_false(process_identity_is_gone(own));
}

/* Starts a child that waits until it is killed, and writes the child's identity to `out`. */
static pid_t begin_child(char out[PROCESS_IDENTITY_SIZE])
{
    int ends[2];
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        process_identity_write(out);
        _exit(write(ends[1], out, PROCESS_IDENTITY_SIZE) < 0 || pause() == 0);
    }
    assert_int_equal(read(ends[0], out, PROCESS_IDENTITY_SIZE), PROCESS_IDENTITY_SIZE);
    close(ends[0]);
    close(ends[1]);
    return child;
}

static void a_killed_process_is_gone(void **state)
{
    char identity[PROCESS_IDENTITY_SIZE];
    pid_t child = begin_child(identity);
    siginfo_t ended;

    (void)state;
    assert_false(process_identity_is_gone(identity));
    kill(child, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT), 0);
    assert_true(process_identity_is_gone(identity)); /* although it is still a zombie */
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(process_identity_is_gone(identity));
}

/* Replaces one part of this process's identity with `value`, and returns whether a process with
 * the resulting identity is reported as gone. The parts are: 0: the boot; 1: the PID namespace;
 * 2: the PID; 3: the start time. */
static bool is_gone_with(int part, const char *value)
{
    char own[PROCESS_IDENTITY_SIZE], parts[4][64], other[PROCESS_IDENTITY_SIZE * 2];

    process_identity_write(own);
    assert_int_equal(sscanf(own, "%63s %63s %63s %63s", parts[0], parts[1], parts[2], parts[3]), 4);
    text_copy(parts[part], sizeof parts[part], value);
    snprintf(other, sizeof other, "%s %s %s %s", parts[0], parts[1], parts[2], parts[3]);
    return process_identity_is_gone(other);
}

static void a_process_whose_pid_was_reused_is_gone(void **state)
{
    (void)state;
    assert_true(is_gone_with(3, "1"));
}

static void a_process_whose_identity_cannot_be_checked_is_not_reported_as_gone(void **state)
{
    (void)state;
    assert_false(is_gone_with(0, "01234567-89ab-cdef-0123-456789abcdef"));
    assert_false(is_gone_with(1, "pid:[1]"));
    assert_false(is_gone_with(2, "-1"));
    assert_false(process_identity_is_gone(""));
    assert_false(process_identity_is_gone("host process 12 (34567)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_running_process_is_not_gone),
        cmocka_unit_test(a_killed_process_is_gone),
        cmocka_unit_test(a_process_whose_pid_was_reused_is_gone),
        cmocka_unit_test(a_process_whose_identity_cannot_be_checked_is_not_reported_as_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
