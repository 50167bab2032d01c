/* SPDX-License-Identifier: Apache-2.0 */
/* For tests: runs the simserve binary as a process on a free port. On errors, the functions fail
 * the running cmocka test. */
#pragma once

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SIMSERVE_ARGUMENTS 32

struct simserve {
    pid_t pid;
    int port;
};

/* Starts the binary at the path SIMSERVE with the given flags and their values (NULL-terminated, at
 * most 30), and waits until it listens. */
static inline struct simserve simserve_start(const char *const *flags)
{
    struct simserve server = { 0 };
    char *argv[SIMSERVE_ARGUMENTS] = { (char *)(uintptr_t)SIMSERVE };
    char line[128] = { 0 };
    int pipes[2], count = 1;
    FILE *out;

    while (flags && *flags && count < SIMSERVE_ARGUMENTS - 1)
        argv[count++] = (char *)(uintptr_t)*flags++;
    assert_true(flags == NULL || *flags == NULL);
    assert_int_equal(pipe(pipes), 0);
    server.pid = fork();
    assert_true(server.pid >= 0);
    if (server.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* so that a failed test leaves no server behind */
        dup2(pipes[1], STDOUT_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        execv(SIMSERVE, argv);
        _exit(127);
    }
    close(pipes[1]);
    out = fdopen(pipes[0], "r");
    assert_non_null(fgets(line, sizeof line, out));
    fclose(out);
    assert_int_equal(sscanf(line, "listening on 127.0.0.1:%d", &server.port), 1);
    return server;
}

/* Sends SIGTERM and waits until the process ends. Returns the exit status, or 128 + the number of
 * the signal that ended the process. */
static inline int simserve_stop(struct simserve *server)
{
    int status = 0;

    kill(server->pid, SIGTERM);
    assert_int_equal(waitpid(server->pid, &status, 0), server->pid);
    *server = (struct simserve){ 0 };
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
