/* SPDX-License-Identifier: Apache-2.0 */
/* A server that is a program, which runs as a child of its watchdog. The watchdog logs the
 * program's output. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/core/text.h"
#include "base/json/json.h"
#include "fleet/machine/machine_program.h"
#include "fleet/machine/machine_watch.h"

#define GRACE_MS 10000
/* Before a log becomes larger than this, it is renamed and a new log is begun. */
#define LOG_BYTES (1 << 20)

/* ---- Output ---- */

static void open_log(struct machine_watch *watch)
{
    char path[PATH_MAX], old[PATH_MAX + 8];

    if (watch->log >= 0)
        close(watch->log);
    snprintf(old, sizeof old, "%s.1", machine_record_path(watch->folder, "log", path));
    rename(path, old);
    watch->log = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    watch->logged_bytes = 0;
}

/* Copies the last line in `bytes` that is not blank to watch->log_line. */
static void keep_line(struct machine_watch *watch, const char *bytes, size_t length)
{
    size_t end = length, start;
    TEXT_AUTO shown = { 0 };

    while (end > 0 && strchr(" \t\r\n", bytes[end - 1]) != NULL)
        end--;
    for (start = end; start > 0 && bytes[start - 1] != '\n';)
        start--;
    if (start == end)
        return;
    text_add_printable(&shown, bytes + start, end - start, sizeof watch->log_line - 4);
    text_copy(watch->log_line, sizeof watch->log_line, text_string(&shown));
    watch->has_news = true;
}

static void drain(struct machine_watch *watch)
{
    char bytes[8192];
    ssize_t length;

    while (watch->output >= 0 && (length = read(watch->output, bytes, sizeof bytes)) > 0) {
        keep_line(watch, bytes, (size_t)length);
        if (watch->logged_bytes + length > LOG_BYTES)
            open_log(watch);
        if (watch->log >= 0 && write(watch->log, bytes, (size_t)length) == length)
            watch->logged_bytes += length;
    }
}

/* ---- From start to end ---- */

/* Makes the working folder, which only the program's account may enter. */
static CHECKED bool make_work(struct machine_watch *watch, uid_t account, struct error *error)
{
    if (mkdir(watch->work, 0700) != 0 && errno != EEXIST)
        return error_set(error, ERROR_INTERNAL, "the working folder %s: %s", watch->work,
                         strerror(errno));
    return account == 0 || lchown(watch->work, account, account) == 0
           || error_set(error, ERROR_INTERNAL, "the working folder %s: %s", watch->work,
                        strerror(errno));
}

static CHECKED bool launch(struct machine_watch *watch, int output, uid_t account,
                           struct error *error)
{
    const json_t *record = watch->record;
    const struct machine_program program = {
        .path = json_get_text(record, "program", ""),
        .arguments = json_object_get(record, "arguments"),
        .environment = json_object_get(record, "environment"),
        .key_variable = json_get_text(record, "key_variable", ""),
        .key = watch->key,
        .work = watch->work,
        .account = account,
        .output = output,
    };
    pid_t pid;

    if (!machine_program_start(&program, &pid, error))
        return false;
    machine_process_find(pid, &watch->process); /* finds the process: it is not reaped yet */
    return true;
}

static CHECKED bool start(struct machine_watch *watch, struct error *error)
{
    uid_t account = (uid_t)json_get_integer(watch->record, "account", 0);
    int ends[2];
    bool done;

    if (!make_work(watch, account, error))
        return false;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_set(error, ERROR_INTERNAL, "no pipe can be made: %s", strerror(errno));
    open_log(watch);
    prctl(PR_SET_CHILD_SUBREAPER, 1UL, 0UL, 0UL, 0UL);
    done = launch(watch, ends[1], account, error);
    close(ends[1]);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    watch->output = ends[0];
    machine_watch_show(watch, "starting", "weights", "");
    return done;
}

static CHECKED bool explain_end(const struct machine_watch *watch, struct error *error)
{
    siginfo_t how = { 0 };

    waitid(P_PID, (id_t)watch->process.pid, &how, WEXITED | WNOHANG | WNOWAIT);
    return error_set(error, ERROR_UPSTREAM, "the program ended %s %d%s%.200s",
                     how.si_code == CLD_EXITED ? "with status" : "by signal", how.si_status,
                     watch->log_line[0] == '\0' ? "" : ": ", watch->log_line);
}

/* Does not reap the program, so that no other process gets its pid before `end` has run. */
static CHECKED bool check(struct machine_watch *watch, struct error *error)
{
    int64_t port = json_get_integer(watch->record, "port", 0);

    drain(watch);
    if (!machine_process_lives(&watch->process))
        return explain_end(watch, error);
    return !machine_watch_is_due(watch) || !machine_program_is_exposed(port)
           || error_set(error, ERROR_FORBIDDEN,
                        "it was ended, because it listened on port %lld at an address that other "
                        "machines can reach: a program here must listen on 127.0.0.1",
                        (long long)port);
}

static CHECKED bool end(struct machine_watch *watch, struct error *error)
{
    machine_process_end(&watch->process, GRACE_MS);
    drain(watch);
    return !machine_process_lives(&watch->process)
           || error_set(error, ERROR_UPSTREAM, "process %d was killed, but has not ended",
                        (int)watch->process.pid);
}

static CHECKED bool remove_it(struct machine_watch *watch, struct error *error)
{
    (void)error;
    machine_record_remove(watch->work);
    return true;
}

const struct machine_kind machine_kind_program = { start, check, end, remove_it };
