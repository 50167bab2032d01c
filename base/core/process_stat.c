/* SPDX-License-Identifier: Apache-2.0 */
#include "base/core/process_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

ssize_t process_stat_file(const char *path, char *out, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, out, size - 1);

    if (file >= 0)
        close(file);
    if (length >= 0)
        out[length] = '\0';
    return length;
}

/* Reads fields 3, 4, 5 and 22 of proc_pid_stat(5). Field 2, the name, can contain any character; it
 * ends at the last ")". */
bool process_stat_read(pid_t pid, struct process_stat *out)
{
    char path[32], line[1024];
    const char *rest;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (pid <= 0 || process_stat_file(path, line, sizeof line) <= 0)
        return false;
    rest = strrchr(line, ')');
    return rest != NULL
           && sscanf(rest + 1,
                     " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
                     "%llu",
                     &out->state, &out->parent, &out->group, &out->start)
                  == 4;
}

bool process_stat_has_ended(const struct process_stat *stat)
{
    return stat->state == 'Z' || stat->state == 'X';
}

void process_stat_boot(char out[PROCESS_STAT_BOOT_SIZE])
{
    if (process_stat_file("/proc/sys/kernel/random/boot_id", out, PROCESS_STAT_BOOT_SIZE) < 0)
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}
