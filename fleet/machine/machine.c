/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/folders.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/machine/machine_container.h"
#include "fleet/machine/machine_private.h"
#include "fleet/machine/machine_spawn.h"

#define OBEY_MS 20000 /* how long a watchdog may take to carry out a command */
#define POLL_MS 50

/* ---- Replies ---- */

bool machine_reply_take(const struct machine_call *call, long status, json_t *body)
{
    call->out->status = status;
    call->out->verdict = CLOUD_DONE;
    call->out->body = body;
    return true;
}

bool machine_refuse(const struct machine_call *call, const struct error *error)
{
    static const long statuses[] = {
        [ERROR_INVALID] = 400,  [ERROR_FORBIDDEN] = 403, [ERROR_NOT_FOUND] = 404,
        [ERROR_CONFLICT] = 409, [ERROR_BUSY] = 503,      [ERROR_UPSTREAM] = 502,
    };
    size_t kind = (size_t)error->kind;

    call->out->status =
        kind < sizeof statuses / sizeof *statuses && statuses[kind] != 0 ? statuses[kind] : 500;
    call->out->verdict = error->kind == ERROR_BUSY ? CLOUD_AGAIN : CLOUD_REFUSED;
    call->out->retry_after_s = 1;
    return false;
}

/* ---- Reading ---- */

static CHECKED bool list(const struct machine_call *call, struct error *error)
{
    json_t *servers = json_array();

    (void)error;
    machine_server_list(call->machine, servers);
    machine_search(call->machine, servers);
    return machine_reply_take(call, 200, json_pack("{s:o}", "servers", servers));
}

static CHECKED bool show(const struct machine_call *call, struct error *error)
{
    json_t *server;

    if (!machine_server_read(call->machine, call->name, &server, error)
        && (error->kind != ERROR_NOT_FOUND
            || !machine_search_find(call->machine, call->name, &server, error)))
        return false;
    return machine_reply_take(call, 200, server);
}

static CHECKED bool show_key(const struct machine_call *call, struct error *error)
{
    json_t *key;

    if (!machine_record_read(call->folder, MACHINE_KEY, &key, error))
        return error->kind == ERROR_NOT_FOUND
               && machine_reply_take(call, 200, json_pack("{s:s}", "key", ""));
    return machine_reply_take(call, 200, key);
}

static CHECKED bool show_image(const struct machine_call *call, struct error *error)
{
    const char *name = call->query;
    char id[128];

    if (strncmp(name, "name=", 5) != 0 || strpbrk(name, "&?#% ") != NULL
        || strstr(name, "..") != NULL)
        return error_set(error, ERROR_INVALID,
                         "the query of /images must be name=NAME, with the name of an image");
    if (call->machine->rules.containers[0] == '\0')
        return error_set(error, ERROR_FORBIDDEN,
                         "no containers are run here: an admin can allow them by naming the socket "
                         "of Podman or Docker in the setting this_machine_containers");
    return machine_container_image(call->machine->rules.containers, name + 5, id, error)
           && machine_reply_take(call, 200, json_pack("{s:s}", "id", id));
}

static CHECKED bool check(const struct machine_call *call, struct error *error)
{
    json_t *findings = json_array();

    (void)error;
    machine_rules_findings(&call->machine->rules, findings);
    return machine_reply_take(call, 200, json_pack("{s:o}", "findings", findings));
}

/* ---- Changing ---- */

static CHECKED bool create(const struct machine_call *call, struct error *error)
{
    struct machine *machine = call->machine;
    json_auto_t *record = NULL;
    json_auto_t *other = NULL;
    struct error ignored;
    bool done;

    if (machine_server_record(machine, call->name, &other, &ignored))
        return error_set(error, ERROR_CONFLICT, "this machine already has a server %s", call->name);
    if (!machine_server_fill(machine, call->name, call->body, &record, error)
        || !machine_rules_check(&machine->rules, record, error))
        return false;
    if (strcmp(call->query, "dry_run=true") == 0)
        return machine_reply_take(call, 200, json_object());
    done = machine_spawn(machine->watchdog, call->folder, record, true, error);
    json_object_del(record, "host");
    return done && machine_reply_take(call, 201, json_incref(record));
}

static void change_end(const struct machine_call *call, json_t *record)
{
    json_t *ends = json_object_get(call->body, "ends_ms");
    json_t *destroys = json_object_get(call->body, "end_destroys");

    if (json_is_integer(ends))
        json_object_set(record, "ends_ms", ends);
    if (json_is_boolean(destroys))
        json_object_set(record, "end_destroys", destroys);
}

/* Writes the record, which the watchdog reads five times a second. If the watchdog is no
 * longer running, starts a new one. */
static CHECKED bool change(const struct machine_call *call, const char *wanted, json_t *record,
                           struct error *error)
{
    struct machine *machine = call->machine;

    json_object_set_new(record, "wanted", json_string(wanted));
    change_end(call, record);
    if (machine_record_is_locked(call->folder))
        return machine_record_write(call->folder, MACHINE_RECORD, record, error);
    return (strcmp(wanted, "running") != 0 || machine_rules_check(&machine->rules, record, error))
           && machine_spawn(machine->watchdog, call->folder, record, false, error);
}

static CHECKED bool set_wanted(const struct machine_call *call, const char *wanted,
                               struct error *error)
{
    json_auto_t *record = NULL;
    bool done;

    pthread_mutex_lock(&call->machine->lock);
    done = machine_server_record(call->machine, call->name, &record, error)
           && change(call, wanted, record, error);
    pthread_mutex_unlock(&call->machine->lock);
    return done;
}

static CHECKED bool extend(const struct machine_call *call, struct error *error)
{
    json_auto_t *record = NULL;
    json_t *server;

    if (!machine_server_record(call->machine, call->name, &record, error))
        return false;
    change_end(call, record);
    return machine_record_write(call->folder, MACHINE_RECORD, record, error)
           && machine_server_read(call->machine, call->name, &server, error)
           && machine_reply_take(call, 200, server);
}

static void pause_briefly(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000L }, NULL);
}

/* If the server is neither ready nor starting, first waits up to OBEY_MS for its watchdog to end,
 * because a watchdog does not start its server a second time. */
static CHECKED bool start(const struct machine_call *call, struct error *error)
{
    int64_t ends_ns = clock_monotonic_ns() + OBEY_MS * INT64_C(1000000);
    json_auto_t *server = NULL;
    const char *state;

    if (!machine_server_read(call->machine, call->name, &server, error))
        return false;
    state = json_get_text(server, "state", "");
    if (strcmp(state, "ready") != 0 && strcmp(state, "starting") != 0)
        while (machine_record_is_locked(call->folder) && clock_monotonic_ns() < ends_ns)
            pause_briefly();
    return set_wanted(call, "running", error) && machine_reply_take(call, 202, json_object());
}

static bool is_carried_out(const struct machine_call *call, const char *wanted)
{
    json_auto_t *server = NULL;
    struct error error;

    if (!machine_server_read(call->machine, call->name, &server, &error))
        return error.kind == ERROR_NOT_FOUND;
    return strcmp(wanted, "stopped") == 0
           && strcmp(json_get_text(server, "state", ""), "stopped") == 0;
}

/* Repeats the command until it is carried out, because a watchdog can end by itself before it reads
 * the command. Answers 202 if the command is not carried out within OBEY_MS. */
static CHECKED bool carry_out(const struct machine_call *call, const char *wanted,
                              struct error *error)
{
    int64_t ends_ns = clock_monotonic_ns() + OBEY_MS * INT64_C(1000000);
    struct error problem = { 0 };

    do {
        if (!set_wanted(call, wanted, &problem) && problem.kind != ERROR_CONFLICT
            && problem.kind != ERROR_NOT_FOUND) {
            *error = problem;
            return false;
        }
        for (int polls = 0; polls < 10; polls++) {
            if (is_carried_out(call, wanted))
                return machine_reply_take(call, 200, json_object());
            pause_briefly();
        }
    } while (clock_monotonic_ns() < ends_ns);
    return machine_reply_take(call, 202, json_object());
}

static CHECKED bool stop(const struct machine_call *call, struct error *error)
{
    return carry_out(call, "stopped", error);
}

/* With the query id=ID, destroys the server only if it got this id at its creation, so that a later
 * server with the same name is not destroyed. */
static CHECKED bool destroy(const struct machine_call *call, struct error *error)
{
    json_auto_t *record = NULL;

    if (!machine_server_record(call->machine, call->name, &record, error))
        return false;
    if (strncmp(call->query, "id=", 3) == 0
        && strcmp(call->query + 3, json_get_text(record, "id", "")) != 0)
        return error_set(error, ERROR_CONFLICT, "%s is now a different server", call->name);
    return carry_out(call, "gone", error);
}

/* ---- The table ---- */

static const struct route {
    const char *method;
    /* the whole path or, if it ends with '/', the part before a server's name */
    const char *path;
    const char *verb; /* the part after the server's name; "": none */
    CHECKED bool (*answer)(const struct machine_call *call, struct error *error);
    bool needs_lock; /* run() holds the machine's lock during the call */
} routes[] = {
    { "GET", "/servers", "", list, false },
    { "GET", "/images", "", show_image, false },
    { "GET", "/check", "", check, false },
    { "GET", "/servers/", "", show, false },
    { "GET", "/servers/", "/key", show_key, false },
    { "PUT", "/servers/", "", create, true },
    { "PATCH", "/servers/", "", extend, true },
    { "POST", "/servers/", "/start", start, false },
    { "POST", "/servers/", "/stop", stop, false },
    { "DELETE", "/servers/", "", destroy, false },
};

/* Returns true if the route serves this method and path. If the path names a server, sets
 * call->name. */
static bool match_route(const struct route *route, const char *method, const char *path,
                        size_t length, struct machine_call *call)
{
    size_t base = strlen(route->path), verb = strlen(route->verb);

    if (strcmp(route->method, method) != 0 || length < base + verb
        || strncmp(path, route->path, base) != 0
        || strncmp(path + length - verb, route->verb, verb) != 0)
        return false;
    if (route->path[base - 1] != '/')
        return length == base;
    if (length - base - verb == 0 || length - base - verb >= sizeof call->name
        || memchr(path + base, '/', length - base - verb) != NULL)
        return false;
    snprintf(call->name, sizeof call->name, "%.*s", (int)(length - base - verb), path + base);
    return true;
}

static CHECKED bool run(const struct route *route, struct machine_call *call, struct error *error)
{
    struct machine *machine = call->machine;
    bool done;

    machine_record_path(machine->rules.folder, call->name, call->folder);
    if (call->name[0] != '\0' && !machine_record_check_name(call->name, error))
        return machine_refuse(call, error);
    if (route->needs_lock)
        pthread_mutex_lock(&machine->lock);
    done = route->answer(call, error);
    if (route->needs_lock)
        pthread_mutex_unlock(&machine->lock);
    return done || machine_refuse(call, error);
}

static CHECKED bool answer(void *context, const char *method, const char *path, const json_t *body,
                           struct cloud_reply *out, struct error *error)
{
    size_t length = strcspn(path, "?");
    struct machine_call call = { .machine = context, .body = body, .out = out };

    call.query = path[length] == '?' ? path + length + 1 : "";
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++)
        if (match_route(&routes[i], method, path, length, &call))
            return run(&routes[i], &call, error);
    error_set(error, ERROR_INVALID, "this machine does not support %s %.*s", method, (int)length,
              path);
    return machine_refuse(&call, error);
}

/* ---- Creating and freeing ---- */

bool machine_create(const struct machine_settings *settings, struct machine **out,
                    struct error *error)
{
    struct machine *machine = memory_zeroed(1, sizeof *machine);

    if (!machine_rules_read(settings, &machine->rules, error)
        || !folders_make(settings->folder, error)) {
        free(machine);
        return false;
    }
    text_copy(machine->watchdog, sizeof machine->watchdog, settings->watchdog);
    pthread_mutex_init(&machine->lock, NULL);
    machine->cloud = (struct cloud_machine){ answer, machine };
    *out = machine;
    return true;
}

void machine_destroy(struct machine *machine)
{
    if (machine == NULL)
        return;
    pthread_mutex_destroy(&machine->lock);
    free(machine);
}

const struct cloud_machine *machine_as_cloud(const struct machine *machine)
{
    return &machine->cloud;
}
