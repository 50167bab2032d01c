/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/machine/machine_process.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
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
#include "base/core/text.h"
#include "base/json/json.h"

#define LOOK_MS 20
#define KILLED_MS 5000 /* how long a killed process may take to end */
#define ENVIRONMENT_BYTES 65536

struct about {
    char state;
    pid_t parent, group;
    unsigned long long ticks;
};

static ssize_t read_file(const char *path, char *out, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, out, size - 1);

    if (file >= 0)
        close(file);
    if (length >= 0)
        out[length] = '\0';
    return length;
}

/* A program's name may have blanks and brackets: the last ")" ends it. */
static bool read_about(pid_t pid, struct about *out)
{
    char path[64], line[1024];
    const char *rest;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (pid <= 0 || read_file(path, line, sizeof line) <= 0)
        return false;
    rest = strrchr(line, ')');
    return rest != NULL
           && sscanf(rest + 1,
                     " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
                     "%llu",
                     &out->state, &out->parent, &out->group, &out->ticks)
                  == 4;
}

static void read_boot(char out[40])
{
    char line[64] = "";

    if (read_file("/proc/sys/kernel/random/boot_id", line, sizeof line) < 0)
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    text_copy(out, 40, line);
}

bool machine_process_find(pid_t pid, struct machine_process *out)
{
    struct about about;

    *out = (struct machine_process){ .pid = pid };
    if (!read_about(pid, &about))
        return false;
    out->ticks = about.ticks;
    read_boot(out->boot);
    return true;
}

/* True also for a zombie: its number is still its own. */
static bool is_there(const struct machine_process *process, struct about *about)
{
    char boot[40];

    read_boot(boot);
    return process->pid > 1 && read_about(process->pid, about) && about->ticks == process->ticks
           && strcmp(boot, process->boot) == 0;
}

bool machine_process_lives(const struct machine_process *process)
{
    struct about about;

    return is_there(process, &about) && about.state != 'Z' && about.state != 'X';
}

/* ---- Ending it ---- */

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

static void wait_until_dead(const struct machine_process *process, int64_t limit_ms)
{
    int64_t ends_ns = clock_monotonic_ns() + limit_ms * 1000000;

    while (machine_process_lives(process) && clock_monotonic_ns() < ends_ns)
        pause_ms(LOOK_MS);
}

static void signal_group(const struct machine_process *process, int number)
{
    struct about about;

    if (is_there(process, &about) && about.group == process->pid)
        kill(-process->pid, number);
    else if (is_there(process, &about)) /* it had no group of its own yet */
        kill(process->pid, number);
}

/* Processes that a program left behind, recognized by their HOME: no other program was given
 * `home`. */
struct remains {
    const struct machine_process *process;
    const char *home;
};

typedef bool process_test(const struct about *about, pid_t pid, const struct remains *remains);

static bool is_child(const struct about *about, pid_t pid, const struct remains *remains)
{
    (void)pid, (void)remains;
    return about->parent == getpid();
}

static bool has_home(const struct about *about, pid_t pid, const struct remains *remains)
{
    FREE_AUTO char *variables = memory_zeroed(ENVIRONMENT_BYTES, 1);
    size_t length = strlen(remains->home);
    char path[64];
    ssize_t got;

    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    got =
        about->ticks < remains->process->ticks ? -1 : read_file(path, variables, ENVIRONMENT_BYTES);
    for (const char *at = variables; got > 0 && at < variables + got; at += strlen(at) + 1)
        if (strncmp(at, "HOME=", 5) == 0 && strlen(at + 5) == length
            && strcmp(at + 5, remains->home) == 0)
            return true;
    return false;
}

/* Through a pidfd, so that no other process can get its number meanwhile. */
static bool kill_one(pid_t pid, const struct remains *remains, process_test *is_one)
{
    int descriptor = pid > 1 ? pidfd_open(pid, 0) : -1;
    struct about about;
    bool found = descriptor >= 0 && read_about(pid, &about) && is_one(&about, pid, remains);

    if (found && about.state != 'Z')
        pidfd_send_signal(descriptor, SIGKILL, NULL, 0);
    if (descriptor >= 0)
        close(descriptor);
    return found;
}

/* False: there is none. */
static bool kill_each(const struct remains *remains, process_test *is_one)
{
    DIR *processes = opendir("/proc");
    struct dirent *entry;
    bool found = false;

    while (processes != NULL && (entry = readdir(processes)) != NULL)
        if (isdigit((unsigned char)entry->d_name[0]))
            found = kill_one((pid_t)atoi(entry->d_name), remains, is_one) || found;
    if (processes != NULL)
        closedir(processes);
    return found;
}

static void end_each(const struct remains *remains, process_test *is_one)
{
    int64_t ends_ns = clock_monotonic_ns() + KILLED_MS * INT64_C(1000000);

    while (kill_each(remains, is_one) && clock_monotonic_ns() < ends_ns) {
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        pause_ms(LOOK_MS);
    }
}

/* The leader is waited for last: until then nobody else can get its number, which is also the
 * group's. */
void machine_process_end(const struct machine_process *process, int grace_ms)
{
    struct about about;

    if (!is_there(process, &about))
        return;
    signal_group(process, SIGTERM);
    wait_until_dead(process, grace_ms);
    signal_group(process, SIGKILL);
    wait_until_dead(process, KILLED_MS);
    if (about.parent != getpid())
        return;
    waitpid(process->pid, NULL, WNOHANG);
    end_each(NULL, is_child);
}

void machine_process_end_remains(const struct machine_process *process, const char *home)
{
    const struct remains remains = { process, home };
    char boot[40];

    read_boot(boot);
    if (strcmp(boot, process->boot) == 0)
        end_each(&remains, has_home);
}

/* ---- In a file ---- */

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
