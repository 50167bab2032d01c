/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/machine/machine_program.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/core/memory.h"
#include "base/json/json.h"

#define USUAL_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define REPORT 3 /* descriptor to which a child writes why it could not execute its program */

/* ---- Arguments and environment ---- */

/* Adds "NAME=VALUE", or only VALUE if the name is "", to a NULL-terminated list of strings. */
static void add_entry(char ***list, size_t *count, const char *name, const char *value)
{
    TEXT_AUTO entry = { 0 };

    text_addf(&entry, "%s%s%s", name, name[0] == '\0' ? "" : "=", value);
    *list = memory_resize(*list, *count + 2, sizeof **list);
    (*list)[(*count)++] = text_take(&entry);
    (*list)[*count] = NULL;
}

static char **environment_of(const struct machine_program *program)
{
    char **list = NULL;
    size_t count = 0;
    const char *name;
    json_t *value;

    add_entry(&list, &count, "", USUAL_PATH);
    add_entry(&list, &count, "HOME", program->work);
    add_entry(&list, &count, "TMPDIR", program->work);
    add_entry(&list, &count, "LANG", "C.UTF-8");
    json_object_foreach(json_iterable(program->environment), name, value)
        add_entry(&list, &count, name, json_string_value(value));
    if (program->key_variable[0] != '\0')
        add_entry(&list, &count, program->key_variable, program->key);
    return list;
}

static char **arguments_of(const struct machine_program *program)
{
    char **list = NULL;
    size_t count = 0, i;
    json_t *word;

    add_entry(&list, &count, "", program->path);
    json_array_foreach(program->arguments, i, word)
        add_entry(&list, &count, "", json_string_value(word));
    return list;
}

static void free_list(char **list)
{
    for (size_t i = 0; list[i] != NULL; i++) {
        explicit_bzero(list[i], strlen(list[i])); /* one of them may contain the key */
        free(list[i]);
    }
    free(list);
}

/* ---- The child, before it executes the program ---- */

static void reset_signals(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Gives the child an empty standard input, and `output` as its standard output and error. Moves
 * *report to REPORT, and closes every other descriptor that the child inherited. */
static bool set_descriptors(int output, int *report)
{
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int high_output = fcntl(output, F_DUPFD_CLOEXEC, REPORT + 1);
    int high_report = fcntl(*report, F_DUPFD_CLOEXEC, REPORT + 1);

    if (nothing < 0 || high_output < 0 || high_report < 0 || dup2(nothing, 0) < 0
        || dup2(high_output, 1) < 0 || dup2(high_output, 2) < 0
        || dup3(high_report, REPORT, O_CLOEXEC) < 0)
        return false;
    *report = REPORT;
    return close_range(REPORT + 1, ~0U, 0) == 0;
}

static bool set_account(uid_t account)
{
    if (account == 0)
        return true;
    return setgroups(0, NULL) == 0 && setresgid(account, account, account) == 0
           && setresuid(account, account, account) == 0;
}

/* Keeps the program from gaining privileges and from leaving a core dump, which could contain its
 * key, and has it killed when its watchdog ends. */
static bool set_limits(pid_t parent)
{
    const struct rlimit none = { 0, 0 };

    return setrlimit(RLIMIT_CORE, &none) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1UL, 0UL, 0UL, 0UL) == 0
           && prctl(PR_CAP_AMBIENT, (unsigned long)PR_CAP_AMBIENT_CLEAR_ALL, 0UL, 0UL, 0UL) == 0
           && prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0UL, 0UL, 0UL) == 0
           && getppid() == parent;
}

_Noreturn static void report_and_end(int report, const char *what)
{
    char sentence[128];
    int length = snprintf(sentence, sizeof sentence, "%s: %s", what, strerror(errno));

    if (write(report, sentence, (size_t)length) < 0)
        _exit(126);
    _exit(127);
}

_Noreturn static void become(const struct machine_program *program, char **arguments,
                             char **environment, pid_t parent, int report)
{
    setsid();
    umask(077);
    reset_signals();
    if (!set_descriptors(program->output, &report))
        report_and_end(report, "its descriptors cannot be set");
    if (!set_account(program->account))
        report_and_end(report, "its account cannot be set");
    if (!set_limits(parent))
        report_and_end(report, "its limits cannot be set");
    if (chdir(program->work) != 0)
        report_and_end(report, "its working folder cannot be entered");
    execve(program->path, arguments, environment);
    report_and_end(report, "it cannot be executed");
}

/* ---- The watchdog's side ---- */

/* A pipe that ends without a byte means that the child has executed its program. */
static CHECKED bool read_report(int report, const char *path, struct error *error)
{
    char sentence[128];
    ssize_t length;

    do
        length = read(report, sentence, sizeof sentence - 1);
    while (length < 0 && errno == EINTR);
    if (length <= 0)
        return true;
    sentence[length] = '\0';
    return error_set(error, ERROR_UPSTREAM, "%s was not started: %s", path, sentence);
}

bool machine_program_start(const struct machine_program *program, pid_t *pid, struct error *error)
{
    char **arguments = arguments_of(program), **environment = environment_of(program);
    pid_t parent = getpid();
    int report[2] = { -1, -1 };
    bool done = pipe2(report, O_CLOEXEC) == 0;

    *pid = done ? fork() : -1;
    if (*pid == 0)
        become(program, arguments, environment, parent, report[1]);
    free_list(arguments);
    free_list(environment);
    if (!done || *pid < 0)
        return error_set(error, ERROR_INTERNAL, "no process can be created: %s", strerror(errno));
    close(report[1]);
    done = read_report(report[0], program->path, error);
    close(report[0]);
    if (!done)
        waitpid(*pid, NULL, 0);
    return done;
}

/* ---- The port ---- */

/* Returns true if a line of /proc/net/tcp or tcp6 is about a socket that listens on this port at an
 * address other than loopback. A line looks like " 0: 0100007F:1F90 00000000:0000 0A ...". Its
 * address is in the machine's byte order. */
static bool is_exposed_line(const char *line, int64_t port)
{
    char address[64];
    unsigned local, state;

    if (sscanf(line, " %*d: %63[0-9A-F]:%x %*[0-9A-F]:%*x %x", address, &local, &state) != 3
        || state != 0x0a || (int64_t)local != port)
        return false;
    return !(strlen(address) == 8 && strcmp(address + 6, "7F") == 0) /* 127.0.0.0/8 */
           && strcmp(address, "00000000000000000000000001000000") != 0
           && !(strncmp(address, "0000000000000000FFFF0000", 24) == 0
                && strcmp(address + 30, "7F") == 0);
}

bool machine_program_is_exposed(int64_t port)
{
    static const char *const tables[] = { "/proc/self/net/tcp", "/proc/self/net/tcp6" };
    bool exposed = false;

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        FILE *table = fopen(tables[i], "re");
        char line[512];

        while (table != NULL && fgets(line, sizeof line, table) != NULL)
            exposed = exposed || is_exposed_line(line, port);
        if (table != NULL)
            fclose(table);
    }
    return exposed;
}
