/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies a process that was started: the kernel gives its number to another one after its end.
 * Private to fleet/machine. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/core/process_stat.h"

struct machine_process {
    pid_t pid;                /* 0: none */
    unsigned long long ticks; /* from boot to its start */
    char boot[PROCESS_STAT_BOOT_SIZE];
};

/* The process that has this number now; false: none has. */
bool machine_process_find(pid_t pid, struct machine_process *out);
/* Whether this very process is still running; a zombie is not. */
bool machine_process_lives(const struct machine_process *process);
/* Ends its process group, first by SIGTERM, after `grace_ms` by SIGKILL; then its descendants that
 * left the group and are now the caller's children (PR_SET_CHILD_SUBREAPER). Never touches another
 * process that has got its number. */
void machine_process_end(const struct machine_process *process, int grace_ms);

/* Kills the descendants of a dead process: every process that started after it and has `home` as
 * its HOME. Without a home, which others lack, too, it kills none. */
void machine_process_end_remains(const struct machine_process *process, const char *home);

json_t *machine_process_write(const struct machine_process *process); /* new reference */
/* False: it is not one. */
bool machine_process_read(const json_t *value, struct machine_process *out);
