/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc reports about a process. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PROCESS_STAT_BOOT_SIZE 40

struct process_stat {
    char state; /* 'R', 'S', ...: proc_pid_stat(5) */
    pid_t parent, group;
    unsigned long long start; /* in clock ticks since the machine was booted */
};

/* Returns false if there is no such process, or /proc hides it. */
bool process_stat_read(pid_t pid, struct process_stat *out);
/* Whether the process has ended, and only its entry is left until its parent collects it (a
 * zombie). */
bool process_stat_has_ended(const struct process_stat *stat);
/* Reads the kernel's boot id, which is new after each boot; "" if there is none. A process is
 * identified by its pid, its start and the boot id. */
void process_stat_boot(char out[PROCESS_STAT_BOOT_SIZE]);
/* Reads as much of a file in /proc as fits, and adds a NUL. Returns the length; -1 if the file
 * cannot be read. */
ssize_t process_stat_file(const char *path, char *out, size_t size);
