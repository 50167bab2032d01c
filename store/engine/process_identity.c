/* SPDX-License-Identifier: Apache-2.0 */
/* "BOOT NAMESPACE PID START": the boot of the machine, the namespace that the number of the process
 * belongs to (two containers may have the same host name and numbers), and its start in ticks. */
#include "store/engine/process_identity.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BOOT_SIZE 40
#define NAMESPACE_SIZE 40

static bool read_line(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    bool ok = file != NULL && fgets(out, (int)size, file) != NULL;

    if (file != NULL)
        fclose(file);
    if (ok)
        out[strcspn(out, "\n")] = '\0';
    return ok;
}

/* proc_pid_stat(5), fields 3 and 22. */
static bool read_process(int process, char *state, long long *start)
{
    char path[32], line[1024];
    const char *rest; /* after the name, which may have blanks and brackets */

    snprintf(path, sizeof path, "/proc/%d/stat", process);
    if (!read_line(path, line, sizeof line) || (rest = strrchr(line, ')')) == NULL)
        return false;
    return sscanf(rest + 1,
                  " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
                  "%lld",
                  state, start)
           == 2;
}

static bool read_machine(char boot[BOOT_SIZE], char namespace[NAMESPACE_SIZE])
{
    ssize_t length = readlink("/proc/self/ns/pid", namespace, NAMESPACE_SIZE - 1);

    if (length <= 0)
        return false;
    namespace[length] = '\0';
    return read_line("/proc/sys/kernel/random/boot_id", boot, BOOT_SIZE) && boot[0] != '\0';
}

void process_identity_write(char out[PROCESS_IDENTITY_SIZE])
{
    char boot[BOOT_SIZE], namespace[NAMESPACE_SIZE], state;
    long long start;

    out[0] = '\0';
    if (read_machine(boot, namespace) && read_process(getpid(), &state, &start))
        snprintf(out, PROCESS_IDENTITY_SIZE, "%s %s %d %lld", boot, namespace, (int)getpid(),
                 start);
}

/* It is not there, it only waits to be waited for, or its number is another's by now. What /proc
 * hides (hidepid) may be there. */
static bool has_ended(int process, long long its_start)
{
    long long start;
    char state;

    if (kill(process, 0) != 0 && errno == ESRCH)
        return true;
    return read_process(process, &state, &start)
           && (state == 'Z' || state == 'X' || start != its_start);
}

bool process_identity_is_gone(const char *identity)
{
    char boot[BOOT_SIZE], namespace[NAMESPACE_SIZE], its_boot[BOOT_SIZE],
        its_namespace[NAMESPACE_SIZE];
    long long its_start;
    int process;

    return sscanf(identity, "%39s %39s %d %lld", its_boot, its_namespace, &process, &its_start) == 4
           && read_machine(boot, namespace) && strcmp(boot, its_boot) == 0
           && strcmp(namespace, its_namespace) == 0 && process > 0 && has_ended(process, its_start);
}
