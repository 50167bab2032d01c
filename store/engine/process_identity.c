/* SPDX-License-Identifier: Apache-2.0 */
/* An identity is "BOOT NAMESPACE PID START": the id of the machine's boot, the PID namespace (two
 * containers can have the same host name and PIDs), the PID, and the process's start time in clock
 * ticks after the boot. */
#include "store/engine/process_identity.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/core/process_stat.h"

#define NAMESPACE_SIZE 40

static bool read_boot_and_namespace(char boot[PROCESS_STAT_BOOT_SIZE],
                                    char namespace[NAMESPACE_SIZE])
{
    ssize_t length = readlink("/proc/self/ns/pid", namespace, NAMESPACE_SIZE - 1);

    if (length <= 0)
        return false;
    namespace[length] = '\0';
    process_stat_boot(boot);
    return boot[0] != '\0';
}

void process_identity_write(char out[PROCESS_IDENTITY_SIZE])
{
    char boot[PROCESS_STAT_BOOT_SIZE], namespace[NAMESPACE_SIZE];
    struct process_stat stat;

    out[0] = '\0';
    if (read_boot_and_namespace(boot, namespace) && process_stat_read(getpid(), &stat))
        snprintf(out, PROCESS_IDENTITY_SIZE, "%s %s %d %llu", boot, namespace, (int)getpid(),
                 stat.start);
}

/* Returns true if the process does not exist or is a zombie, or if another process has its PID now.
 * Returns false if /proc hides the process (hidepid), because it might still be running. */
static bool has_ended(int process, unsigned long long its_start)
{
    struct process_stat stat;

    if (kill(process, 0) != 0 && errno == ESRCH)
        return true;
    return process_stat_read(process, &stat)
           && (process_stat_has_ended(&stat) || stat.start != its_start);
}

bool process_identity_is_gone(const char *identity)
{
    char boot[PROCESS_STAT_BOOT_SIZE], namespace[NAMESPACE_SIZE], its_boot[PROCESS_STAT_BOOT_SIZE],
        its_namespace[NAMESPACE_SIZE];
    unsigned long long its_start;
    int process;

    return sscanf(identity, "%39s %39s %d %llu", its_boot, its_namespace, &process, &its_start) == 4
           && read_boot_and_namespace(boot, namespace) && strcmp(boot, its_boot) == 0
           && strcmp(namespace, its_namespace) == 0 && process > 0 && has_ended(process, its_start);
}
