/* SPDX-License-Identifier: Apache-2.0 */
/* A watchdog's process: it reads what to watch, locks the record's folder, stores the record,
 * answers, and detaches from its caller. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/random.h"
#include "base/json/json.h"
#include "base/net/outbound.h"
#include "fleet/machine/machine.h"
#include "fleet/machine/machine_watch.h"

#define KEY_BYTES 24

static CHECKED bool read_input(json_t **out, struct error *error)
{
    TEXT_AUTO bytes = { 0 };
    char part[4096];
    ssize_t length;

    while ((length = read(STDIN_FILENO, part, sizeof part)) > 0
           && bytes.length <= MACHINE_RECORD_BYTES)
        text_add_bytes(&bytes, part, (size_t)length);
    return json_parse(text_string(&bytes), bytes.length, out, error);
}

static void make_key(char out[64])
{
    unsigned char bytes[KEY_BYTES];

    random_bytes(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    explicit_bzero(bytes, sizeof bytes);
}

/* Reads the server's API key or, for a new server, makes and stores a key. Does nothing if the
 * server takes no key. */
static CHECKED bool prepare_key(struct machine_watch *watch, bool is_new, struct error *error)
{
    json_auto_t *stored = NULL;

    if (json_get_text(watch->record, "key_variable", "")[0] == '\0')
        return true;
    if (!is_new) {
        if (!machine_record_read(watch->folder, MACHINE_KEY, &stored, error))
            return false;
        text_copy(watch->key, sizeof watch->key, json_get_text(stored, "key", ""));
        return true;
    }
    make_key(watch->key);
    stored = json_pack("{s:s}", "key", watch->key);
    return machine_record_write(watch->folder, MACHINE_KEY, stored, error);
}

static bool has_record(const char *folder)
{
    char path[PATH_MAX];

    return access(machine_record_path(folder, MACHINE_RECORD, path), F_OK) == 0;
}

static CHECKED bool store_record(struct machine_watch *watch, const json_t *input,
                                 struct error *error)
{
    bool is_new = json_get_boolean(input, "is_new", false);
    const json_t *host;

    watch->record = json_deep_copy(json_object_get(input, "record"));
    host = json_object_get(watch->record, "host");
    text_copy(watch->work, sizeof watch->work, json_get_text(host, "work", ""));
    if (is_new == has_record(watch->folder))
        return error_set(error, ERROR_CONFLICT,
                         is_new ? "this machine already has a server with this name"
                                : "the server no longer exists");
    if (is_new)
        machine_record_remove(watch->work);
    return prepare_key(watch, is_new, error)
           && machine_record_write(watch->folder, MACHINE_RECORD, watch->record, error);
}

/* Locks the record's folder until the process ends, and stores the record. */
static CHECKED bool begin(struct machine_watch *watch, struct error *error)
{
    json_auto_t *input = NULL;
    int lock;

    if (!read_input(&input, error))
        return false;
    if (mkdir(watch->folder, 0700) != 0 && errno != EEXIST)
        return error_set(error, ERROR_INTERNAL, "%s: %s", watch->folder, strerror(errno));
    return machine_record_lock(watch->folder, &lock, error) && store_record(watch, input, error);
}

static void answer(bool done, const struct error *error)
{
    if (done)
        printf("ok\n");
    else
        printf("%s %s\n", error_kind_name(error->kind), error->message);
    fflush(stdout);
}

/* Closes the caller's descriptors. From here on, standard error goes to the file watchdog.log, or
 * nowhere if that file cannot be opened. */
static void detach(const struct machine_watch *watch)
{
    char path[PATH_MAX];
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    int log = open(machine_record_path(watch->folder, "watchdog.log", path),
                   O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);

    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(log < 0 ? nothing : log, STDERR_FILENO);
    close(nothing);
    if (log >= 0)
        close(log);
}

int machine_watch(int argc, char *const *argv)
{
    struct machine_watch watch = { .output = -1, .log = -1 };
    struct error error = { 0 };
    bool done;

    if (argc != 2 || argv[1][0] != '/') {
        fprintf(stderr, "opsbrain: only opsbrain itself can start a watchdog\n");
        return 1;
    }
    text_copy(watch.folder, sizeof watch.folder, argv[1]);
    close_range(STDERR_FILENO + 1, ~0U, 0);
    umask(077);
    prctl(PR_SET_NAME, "opsbrain-watch", 0UL, 0UL, 0UL);
    if (fork() != 0) /* only the child continues: it is not the caller's child */
        _exit(0);
    signal(SIGHUP, SIG_IGN);
    done = outbound_global_init(&error) && begin(&watch, &error);
    answer(done, &error);
    if (!done)
        return 1;
    detach(&watch);
    machine_watch_run(&watch);
    json_decref(watch.record);
    explicit_bzero(watch.key, sizeof watch.key);
    return 0;
}
