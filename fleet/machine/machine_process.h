/* SPDX-License-Identifier: Apache-2.0 */
/* Which process it is that was started: its number alone is given to others after its end. Private
 * to fleet/machine. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

struct machine_process {
    pid_t pid;                /* 0: none */
    unsigned long long ticks; /* of its start, since the machine's (/proc/PID/stat, field 22) */
    char boot[40];            /* the machine's own start, as the kernel names it */
};

/* Who has this number now; false: nobody. */
bool machine_process_find(pid_t pid, struct machine_process *out);
/* Whether this very process has not ended; one that only waits to be waited for has. */
bool machine_process_lives(const struct machine_process *process);
/* Ends its process group, at first by SIGTERM, after `grace_ms` by SIGKILL; then whatever it
 * started that has left the group and is the caller's child now (PR_SET_CHILD_SUBREAPER). Another
 * process that has its number is never touched. */
void machine_process_end(const struct machine_process *process, int grace_ms);

/* Kills what a dead one had started, also by way of others: all that began since and has `home` as
 * its HOME. */
void machine_process_end_remains(const struct machine_process *process, const char *home);

json_t *machine_process_write(const struct machine_process *process);        /* new reference */
bool machine_process_read(const json_t *value, struct machine_process *out); /* false: it is none */
