/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/machine/machine_process.h"

#include <ctype.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/core/process_stat.h"
#include "base/core/text.h"
#include "base/json/json.h"

#define POLL_MS 20
#define KILLED_MS 5000 /* how long a killed process may take to end */
#define ENVIRONMENT_BYTES 65536

bool machine_process_find(pid_t pid, struct machine_process *out)
{
    struct process_stat stat;

    *out = (struct machine_process){ .pid = pid };
    if (!process_stat_read(pid, &stat))
        return false;
    out->ticks = stat.start;
    process_stat_boot(out->boot);
    return true;
}

/* Returns true if the process still exists, even as a zombie, which keeps its number until it is
 * reaped. */
static bool is_there(const struct machine_process *process, struct process_stat *stat)
{
    char boot[PROCESS_STAT_BOOT_SIZE];

    process_stat_boot(boot);
    return process->pid > 1 && process_stat_read(process->pid, stat)
           && stat->start == process->ticks && strcmp(boot, process->boot) == 0;
}

bool machine_process_lives(const struct machine_process *process)
{
    struct process_stat stat;

    return is_there(process, &stat) && !process_stat_has_ended(&stat);
}

/* ---- Ending a process ---- */

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void wait_until_dead(const struct machine_process *process, int64_t limit_ms)
{
    int64_t ends_ns = clock_monotonic_ns() + limit_ms * 1000000;

    while (machine_process_lives(process) && clock_monotonic_ns() < ends_ns)
        pause_ms(POLL_MS);
}

static void signal_group(const struct machine_process *process, int number)
{
    struct process_stat stat;

    if (is_there(process, &stat) && stat.group == process->pid)
        kill(-process->pid, number);
    else if (is_there(process, &stat)) /* it has no group of its own yet */
        kill(process->pid, number);
}

/* Processes that a program left behind. has_home recognizes them by their HOME, which no other
 * program has. */
struct remains {
    const struct machine_process *process;
    const char *home;
};

typedef bool process_test(const struct process_stat *stat, pid_t pid,
                          const struct remains *remains);

static bool is_child(const struct process_stat *stat, pid_t pid, const struct remains *remains)
{
    (void)pid, (void)remains;
    return stat->parent == getpid();
}

static bool has_home(const struct process_stat *stat, pid_t pid, const struct remains *remains)
{
    FREE_AUTO char *variables = NULL;
    char path[64];
    ssize_t got;

    if (stat->start < remains->process->ticks)
        return false;
    variables = memory_zeroed(ENVIRONMENT_BYTES, 1);
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    got = process_stat_file(path, variables, ENVIRONMENT_BYTES);
    for (const char *at = variables; got > 0 && at < variables + got; at += strlen(at) + 1)
        if (strncmp(at, "HOME=", 5) == 0 && strcmp(at + 5, remains->home) == 0)
            return true;
    return false;
}

/* Kills the process if it passes the test, and returns whether it passes. The signal is sent
 * through a pidfd, so that it cannot reach a different process that now has the same number. */
static bool kill_one(pid_t pid, const struct remains *remains, process_test *test)
{
    int descriptor = pid > 1 ? pidfd_open(pid, 0) : -1;
    struct process_stat stat;
    bool found = descriptor >= 0 && process_stat_read(pid, &stat) && test(&stat, pid, remains);

    if (found && !process_stat_has_ended(&stat))
        pidfd_send_signal(descriptor, SIGKILL, NULL, 0);
    if (descriptor >= 0)
        close(descriptor);
    return found;
}

/* Kills every process that passes the test. Returns false if none does. */
static bool kill_each(const struct remains *remains, process_test *test)
{
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    bool found = false;

    while (processes != NULL && (entry = readdir(processes)) != NULL)
        if (isdigit((unsigned char)entry->d_name[0]))
            found = kill_one((pid_t)atoi(entry->d_name), remains, test) || found;
    if (processes != NULL)
        closedir(processes);
    return found;
}

static void end_each(const struct remains *remains, process_test *test)
{
    int64_t ends_ns = clock_monotonic_ns() + KILLED_MS * INT64_C(1000000);

    while (kill_each(remains, test) && clock_monotonic_ns() < ends_ns) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        pause_ms(POLL_MS);
    }
}

/* Reaps the group's leader only after killing the group: until the leader is reaped, no other
 * process can get its number, which is also the group's. */
void machine_process_end(const struct machine_process *process, int grace_ms)
{
    struct process_stat stat;

    if (!is_there(process, &stat))
        return;
    signal_group(process, SIGTERM);
    wait_until_dead(process, grace_ms);
    signal_group(process, SIGKILL);
    wait_until_dead(process, KILLED_MS);
    if (stat.parent != getpid())
        return;
    waitpid(process->pid, NULL, WNOHANG);
    end_each(NULL, is_child);
}

void machine_process_end_remains(const struct machine_process *process, const char *home)
{
    const struct remains remains = { process, home };
    char boot[PROCESS_STAT_BOOT_SIZE];

    process_stat_boot(boot);
    if (strcmp(boot, process->boot) == 0 && home[0] != '\0')
        end_each(&remains, has_home);
}

/* ---- As JSON ---- */

json_t *machine_process_write(const struct machine_process *process)
{
    return json_pack("{s:i, s:I, s:s}", "pid", (int)process->pid, "ticks",
                     (json_int_t)process->ticks, "boot", process->boot);
}

bool machine_process_read(const json_t *value, struct machine_process *out)
{
    int64_t pid = json_get_integer(value, "pid", 0);

    *out = (struct machine_process){ .pid = pid > 1 && pid <= INT32_MAX ? (pid_t)pid : 0,
                                     .ticks =
                                         (unsigned long long)json_get_integer(value, "ticks", 0) };
    text_copy(out->boot, sizeof out->boot, json_get_text(value, "boot", ""));
    return out->pid != 0;
}
