/* SPDX-License-Identifier: Apache-2.0 */
/* A real server on a free port, with a store in a temporary folder and four tools for tests.
 * `echo` and `operate` answer at once. `slow` reports progress until it is done or cancelled, on a
 * thread for calls that wait (PLACE_WAITING). `block` does the same on an ordinary worker
 * (PLACE_WORKER). */
#pragma once

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "handlers/tool.h"
#include "server/http/http.h"
#include "server/program/server.h"
#include "store/ledger/store.h"
#include "tests/unit/support/folder.h"
#include "tests/unit/support/test_database.h"

static atomic_int served_running, served_cancelled, served_done;

static inline void served_sleep_ms(int64_t ms)
{
    struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

    nanosleep(&time, NULL);
}

static inline bool served_echo(struct call *call, struct answer *answer, struct error *error)
{
    const char *text = call_text(call, "text");

    if (text != NULL && strcmp(text, "fail") == 0)
        return error_set(error, ERROR_NOT_FOUND, "there is no such echo");
    if (text != NULL && strcmp(text, "break") == 0)
        return error_set(error, ERROR_INTERNAL, "an internal secret");
    answer->structured = json_pack("{s:s, s:s, s:s}", "text", text != NULL ? text : "", "principal",
                                   call->principal.name, "client", call->change.actor.client);
    text_add(&answer->text, text != NULL ? text : "");
    return true;
}

/* If step_ms is 0, the message of each step is long, so that the messages fill the kernel's
 * socket buffers. */
static inline bool served_slow(struct call *call, struct answer *answer, struct error *error)
{
    static const char long_message[] = { [0 ... 4000] = 'x', '\0' };
    int64_t steps = call_integer(call, "steps", 3), step_ms = call_integer(call, "step_ms", 20);
    bool cancelled = false;

    atomic_fetch_add(&served_running, 1);
    call->progress(call, 0, (double)steps, "begun");
    for (int64_t i = 1; i <= steps && !cancelled; i++) {
        if (step_ms > 0)
            served_sleep_ms(step_ms);
        call->progress(call, (double)i, (double)steps, step_ms > 0 ? "a step" : long_message);
        call->progress(call, (double)i, (double)steps, "the same step again, not to be sent");
        cancelled = call->cancelled(call->host);
    }
    atomic_fetch_sub(&served_running, 1);
    atomic_fetch_add(cancelled ? &served_cancelled : &served_done, 1);
    if (cancelled)
        return error_set(error, ERROR_CANCELLED, "cancelled");
    answer->structured = json_pack("{s:I}", "steps", (json_int_t)steps);
    text_addf(&answer->text, "%lld steps", (long long)steps);
    return true;
}

static const struct param served_echo_params[] = {
    { "text", VALUE_TEXT, .low = 0, .high = 100000, .help = "The text to return." },
    { 0 },
};
static const struct field served_echo_fields[] = {
    { "text", VALUE_TEXT, .help = "The text that was sent." },
    { "principal", VALUE_TEXT, .help = "The caller." },
    { "client", VALUE_TEXT, .help = "The caller's program." },
    { 0 },
};
static const struct param served_slow_params[] = {
    { "steps", VALUE_INTEGER, .low = 0, .high = 100000, .initial = "3",
      .help = "The number of steps." },
    { "step_ms", VALUE_INTEGER, .low = 0, .high = 60000, .initial = "20",
      .help = "The duration of a step." },
    { 0 },
};
static const struct field served_slow_fields[] = {
    { "steps", VALUE_INTEGER, .help = "The number of steps." },
    { 0 },
};

static const struct tool served_block_tool = {
    .name = "block",
    .title = "Block",
    .help = "Blocks a worker.",
    .params = served_slow_params,
    .fields = served_slow_fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .run = served_slow,
};
static const struct tool served_echo_tool = {
    .name = "echo",
    .title = "Echo",
    .help = "Returns the given text.",
    .params = served_echo_params,
    .fields = served_echo_fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_INLINE,
    .read_only = true,
    .run = served_echo,
};
static const struct tool served_operate_tool = {
    .name = "operate",
    .title = "Operate",
    .help = "Returns the given text to operators.",
    .params = served_echo_params,
    .fields = served_echo_fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_INLINE,
    .read_only = true,
    .run = served_echo,
};
static const struct tool served_slow_tool = {
    .name = "slow",
    .title = "Slow",
    .help = "Reports its progress in steps.",
    .params = served_slow_params,
    .fields = served_slow_fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WAITING,
    .read_only = true,
    .run = served_slow,
};
static const struct tool *const served_tools[] = {
    &served_block_tool, &served_echo_tool, &served_operate_tool, &served_slow_tool, NULL,
};

static const struct job_kind served_kinds[] = { { 0 } };

struct served {
    char folder[FOLDER_SIZE];
    struct settings settings;
    struct services services;
    const struct tool *const *tools;         /* NULL: served_tools */
    const struct job_kind *kinds;            /* NULL: none */
    const struct resource *const *resources; /* NULL: none */
    const struct prompt *const *prompts;     /* NULL: none */
    struct server *server;
};

/* Reads the settings as if from a command line that has the flags common to all tests, followed by
 * `flags`, a list that ends with NULL. */
static inline void served_read_settings(struct served *served, va_list flags)
{
    static const char *const usual[] = { "serve", "--listen=127.0.0.1:0", "--http-threads=1",
                                         "--log-requests=false" };
    char words[32][128], *argv[32];
    struct error error;
    const char *flag;
    int argc = 0;

    for (; argc < 4; argc++)
        text_copy(words[argc], sizeof words[argc], usual[argc]);
    while (argc < 32 && (flag = va_arg(flags, const char *)) != NULL)
        text_copy(words[argc++], sizeof words[0], flag);
    for (int i = 0; i < argc; i++)
        argv[i] = words[i];
    if (!settings_read(argc, argv, &served->settings, &error)) {
        fprintf(stderr, "served_read_settings: %s\n", error.message);
        abort();
    }
    text_copy(served->settings.data, sizeof served->settings.data, served->folder);
}

/* Opens the store and starts the server. Returns false if that fails. */
static inline bool served_try(struct served *served, struct error *error)
{
    const struct server_parts parts = { .settings = &served->settings,
                                        .services = &served->services,
                                        .tools =
                                            served->tools != NULL ? served->tools : served_tools,
                                        .resources = served->resources,
                                        .prompts = served->prompts,
                                        .instructions = "Try echo." };

    return store_open(served->folder, test_database(served->folder), 4, &served->services.store,
                      error)
           && job_pool_create(served->services.store,
                              served->kinds != NULL ? served->kinds : served_kinds, 1,
                              &served->services, &served->services.jobs, error)
           && server_create(&parts, &served->server, error) && server_start(served->server, error);
}

/* Reads the settings, opens the store and starts the server. The other arguments are more flags,
 * then NULL. */
static inline void served_start(struct served *served, ...)
{
    struct error error;
    va_list flags;

    va_start(flags, served);
    served_read_settings(served, flags);
    va_end(flags);
    if (!served_try(served, &error)) {
        fprintf(stderr, "served_start: %s\n", error.message);
        abort();
    }
}

static inline void served_stop(struct served *served)
{
    server_destroy(served->server);
    job_pool_destroy(served->services.jobs, 1000);
    store_close(served->services.store);
    served->server = NULL;
    served->services = (struct services){ 0 };
}

static inline void served_create(struct served *served)
{
    *served = (struct served){ 0 };
    folder_create(served->folder);
}

static inline void served_destroy(struct served *served)
{
    served_stop(served);
    folder_remove(served->folder);
}

/* Waits up to five seconds for the counter to be at least `value`. Returns whether it is. */
static inline bool served_reaches(atomic_int *counter, int value)
{
    int64_t end_ns = clock_monotonic_ns() + INT64_C(5000000000);

    while (atomic_load(counter) < value && clock_monotonic_ns() < end_ns)
        served_sleep_ms(2);
    return atomic_load(counter) >= value;
}

/* Waits up to five seconds for the counter to be at most `value`. Returns whether it is. */
static inline bool served_falls(atomic_int *counter, int value)
{
    int64_t end_ns = clock_monotonic_ns() + INT64_C(5000000000);

    while (atomic_load(counter) > value && clock_monotonic_ns() < end_ns)
        served_sleep_ms(2);
    return atomic_load(counter) <= value;
}
