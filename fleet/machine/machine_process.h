/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies a process by more than its number, because the kernel can give the number of an ended
 * process to a new one. Private to fleet/machine. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/core/process_stat.h"

struct machine_process {
    pid_t pid;                         /* 0: none */
    unsigned long long ticks;          /* clock ticks from boot to its start */
    char boot[PROCESS_STAT_BOOT_SIZE]; /* the kernel's boot id (process_stat_boot) */
};

/* Identifies the process that has this number now. Returns false if none has it; *out then has only
 * the number. */
bool machine_process_find(pid_t pid, struct machine_process *out);
/* Returns true if this very process is still running and is not a zombie. */
bool machine_process_lives(const struct machine_process *process);
/* Ends the process group, first with SIGTERM and, after at most `grace_ms`, with SIGKILL. If the
 * process is a child of the caller, also kills and reaps all other children of the caller. These
 * are descendants that left the process's group: the caller inherited them (it has set
 * PR_SET_CHILD_SUBREAPER). Does nothing if the process no longer exists, even if a different one
 * has its number now. */
void machine_process_end(const struct machine_process *process, int grace_ms);

/* Kills the descendants of a dead process: every process that did not start before the dead one and
 * has `home` as its HOME. Kills none if the machine has rebooted since, or if `home` is "". */
void machine_process_end_remains(const struct machine_process *process, const char *home);

/* Returns a process as JSON. New reference. */
json_t *machine_process_write(const struct machine_process *process);
/* Reads what machine_process_write wrote. Returns false if it identifies no process. */
bool machine_process_read(const json_t *value, struct machine_process *out);
