/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/machine/machine_watch.h"

#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/json/json.h"

#define TICK_MS 200
/* The minimum time between two writes of the status if only the message or log line changes. */
#define SHOW_NS INT64_C(1000000000)
#define PROBE_MS 2000
#define AGAIN_TICKS 5 /* ticks between two attempts to end or remove the server */
#define CHECK_NS INT64_C(1000000000)

/* ---- The wanted state ---- */

static void read_wanted(struct machine_watch *watch, const json_t *record)
{
    text_copy(watch->wanted, sizeof watch->wanted, json_get_text(record, "wanted", ""));
    watch->ends_ms = json_get_integer(record, "ends_ms", 0);
    watch->end_destroys = json_get_boolean(record, "end_destroys", true);
}

static bool is_at_its_end(const struct machine_watch *watch)
{
    return watch->ends_ms != 0 && clock_utc_ms() >= watch->ends_ms;
}

/* If the record is gone, the server is no longer wanted. If the record cannot be read now, the
 * values that were read last remain valid. */
bool machine_watch_goes_on(struct machine_watch *watch)
{
    json_auto_t *record = NULL;
    struct error error;

    if (machine_record_read(watch->folder, MACHINE_RECORD, &record, &error))
        read_wanted(watch, record);
    else if (error.kind == ERROR_NOT_FOUND)
        text_copy(watch->wanted, sizeof watch->wanted, "gone");
    return strcmp(watch->wanted, "running") == 0 && !is_at_its_end(watch);
}

static bool leaves_nothing(const struct machine_watch *watch)
{
    return strcmp(watch->wanted, "gone") == 0 || (is_at_its_end(watch) && watch->end_destroys);
}

bool machine_watch_is_due(struct machine_watch *watch)
{
    int64_t now_ns = clock_monotonic_ns();
    bool due = strcmp(watch->state, "ready") != 0 || now_ns - watch->checked_ns > CHECK_NS;

    if (due)
        watch->checked_ns = now_ns;
    return due;
}

/* ---- The status ---- */

static json_t *status_of(const struct machine_watch *watch)
{
    json_t *status = json_pack("{s:s, s:s, s:s, s:s}", "state", watch->state, "phase", watch->phase,
                               "message", watch->message, "log_line", watch->log_line);

    if (watch->process.pid != 0)
        json_object_set_new(status, "process", machine_process_write(&watch->process));
    return status;
}

static void write_status(struct machine_watch *watch)
{
    json_auto_t *status = status_of(watch);
    struct error error;

    watch->shown_ns = clock_monotonic_ns();
    if (!machine_record_write(watch->folder, MACHINE_STATUS, status, &error))
        log_warning("the status could not be written: %s", error.message);
}

/* Copies `value` to `out` unless it is NULL. Returns true if this changed `out`. */
static bool set(char *out, size_t size, const char *value)
{
    bool differs = value != NULL && strncmp(out, value, size - 1) != 0;

    if (differs)
        text_copy(out, size, value);
    return differs;
}

void machine_watch_show(struct machine_watch *watch, const char *state, const char *phase,
                        const char *message)
{
    bool differs = set(watch->state, sizeof watch->state, state);

    differs = set(watch->phase, sizeof watch->phase, phase) || differs;
    watch->has_news = set(watch->message, sizeof watch->message, message) || watch->has_news;
    if (watch->has_news)
        differs = differs || clock_monotonic_ns() - watch->shown_ns > SHOW_NS;
    if (differs) {
        watch->has_news = false;
        write_status(watch);
    }
}

static bool is_over(void *context)
{
    return !machine_watch_goes_on(context);
}

struct machine_http machine_watch_http(struct machine_watch *watch, const char *socket,
                                       const char *base)
{
    return (struct machine_http){
        .socket = socket, .base = base, .bearer = "", .stopped = is_over, .context = watch
    };
}

const struct machine_kind *machine_kind_of(const json_t *record)
{
    return json_object_get(record, "service") != NULL ? &machine_kind_service
           : json_object_get(record, "image") != NULL ? &machine_kind_container
                                                      : &machine_kind_program;
}

/* ---- Until it is ready ---- */

static bool is_healthy(struct machine_watch *watch)
{
    const json_t *probe = json_object_get(watch->record, "probe");
    struct machine_http http;
    MACHINE_HTTP_REPLY_AUTO reply = { 0 };
    struct error ignored;
    char base[64];

    http = machine_watch_http(watch, "",
                              machine_http_base(json_get_integer(watch->record, "port", 0), base));
    http.bearer = watch->key;
    http.timeout_ms = PROBE_MS;
    return machine_http_call(&http, "GET", json_get_text(probe, "path", "/health"), NULL, &reply,
                             &ignored);
}

/* Called as soon as the server is healthy or, for a service, which has no health check, right after
 * its start. Checks the server again, because other machines might be able to reach a program's
 * port by now. Loads the model if the server is an Ollama that this watchdog started. */
static CHECKED bool finish_start(struct machine_watch *watch, struct error *error)
{
    char base[64];

    if (!machine_kind_of(watch->record)->check(watch, error))
        return false;
    if (json_object_get(watch->record, "service") == NULL
        && json_object_get(watch->record, "model") != NULL
        && !machine_ollama_load(
            watch, machine_http_base(json_get_integer(watch->record, "port", 0), base), error))
        return false;
    machine_watch_show(watch, "ready", "ready", "");
    return true;
}

static CHECKED bool probe(struct machine_watch *watch, int64_t since_ns, struct error *error)
{
    int64_t patience_s =
        json_get_integer(json_object_get(watch->record, "probe"), "patience_s", 3600);

    if (json_object_get(watch->record, "service") != NULL || is_healthy(watch))
        return finish_start(watch, error);
    machine_watch_show(watch, "starting", NULL, NULL);
    return clock_monotonic_ns() - since_ns < patience_s * 1000000000
           || error_set(error, ERROR_TIMEOUT, "its health check did not succeed within %lld s",
                        (long long)patience_s);
}

/* ---- From start to end ---- */

static void pause_briefly(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = TICK_MS * 1000000L }, NULL);
}

/* Starts the server and watches it while it should run. Returns false if the server fails. */
static CHECKED bool keep_running(struct machine_watch *watch, struct error *error)
{
    const struct machine_kind *kind = machine_kind_of(watch->record);
    int64_t since_ns = clock_monotonic_ns();

    machine_watch_show(watch, "starting", "", "");
    if (!kind->start(watch, error))
        return false;
    while (machine_watch_goes_on(watch)) {
        if (!kind->check(watch, error))
            return false;
        if (strcmp(watch->state, "ready") != 0 && !probe(watch, since_ns, error))
            return false;
        machine_watch_show(watch, NULL, NULL, NULL);
        pause_briefly();
    }
    return true;
}

/* Repeats `act` until it succeeds, so as not to forget a server that might still be running. */
static void repeat_until_done(struct machine_watch *watch,
                              CHECKED bool (*act)(struct machine_watch *watch, struct error *error))
{
    struct error error;

    while (!act(watch, &error)) {
        machine_watch_show(watch, NULL, NULL, error.message);
        for (int i = 0; i < AGAIN_TICKS; i++)
            pause_briefly();
    }
}

/* Ends the server and, if its record says so, removes it. The record can change while the server is
 * ending, so the record is read again afterwards. `failed`: the server failed with `problem`. */
static void finish(struct machine_watch *watch, bool failed, const struct error *problem)
{
    const struct machine_kind *kind = machine_kind_of(watch->record);
    bool wanted = machine_watch_goes_on(watch);

    if (wanted && failed)
        machine_watch_show(watch, "failed", NULL, problem->message);
    else
        machine_watch_show(watch, wanted ? NULL : "deleting", NULL, NULL);
    repeat_until_done(watch, kind->end);
    wanted = machine_watch_goes_on(watch) && wanted;
    if (leaves_nothing(watch)) {
        repeat_until_done(watch, kind->remove);
        machine_record_remove(watch->folder);
        return;
    }
    watch->process.pid = 0;
    machine_watch_show(watch, failed && wanted ? "failed" : "stopped", "",
                       failed && wanted ? problem->message : "");
    write_status(watch);
}

/* Ends what a killed watchdog left behind: the program ended with its watchdog, but the program's
 * children might still be running. */
static void end_remains(struct machine_watch *watch)
{
    json_auto_t *status = NULL;
    struct error ignored;

    if (machine_record_read(watch->folder, MACHINE_STATUS, &status, &ignored)
        && machine_process_read(json_object_get(status, "process"), &watch->process)) {
        machine_process_end(&watch->process, 0);
        machine_process_end_remains(&watch->process, watch->work);
    }
    watch->process.pid = 0;
}

void machine_watch_run(struct machine_watch *watch)
{
    struct error problem = { 0 };
    bool failed = false;

    end_remains(watch);
    if (machine_watch_goes_on(watch))
        failed = !keep_running(watch, &problem);
    finish(watch, failed, &problem);
}
