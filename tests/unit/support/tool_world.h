/* SPDX-License-Identifier: Apache-2.0 */
/* A world: what tools need to run in a test. It has a store in a temporary folder, a job pool, a
 * scraper and, except after world_set_up_alone, a model server. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json/json.h"
#include "base/net/outbound.h"
#include "handlers/deployments/health_memory.h"
#include "handlers/sweeps/reviewed_plans.h"
#include "handlers/tool.h"
#include "store/audit/audit_log.h"
#include "store/ledger/store.h"
#include "tests/simserve/harness/process.h"
#include "tests/unit/support/folder.h"
#include "tests/unit/support/test_database.h"

#define WORLD_PROGRESS 64

struct world {
    char folder[FOLDER_SIZE], secrets[FOLDER_SIZE];
    struct services services;
    struct simserve simserve;
    char url[64]; /* of simserve */
    const char *principal;
    enum role role;
    json_t *content;  /* content blocks of the last answer; NULL: the answer has only text */
    struct text text; /* text of the last answer */
    struct error error;
    int64_t requests;
    const char *reply;    /* the client's answer to questions; NULL: the client cannot be asked */
    char asked[64];       /* the key of the last question */
    void (*thinks)(void); /* if not NULL, called before the client answers */
    /* The first progress messages of the last call, and the progress at each of them. */
    char progress[WORLD_PROGRESS][256];
    double done[WORLD_PROGRESS];
    size_t progress_count;
    int cancel_after; /* the call is cancelled after this many progress messages; -1: never */
};

static inline void world_progress(struct call *call, double progress, double total,
                                  const char *message)
{
    struct world *world = call->host;

    (void)total;
    if (world->progress_count == WORLD_PROGRESS)
        return;
    world->done[world->progress_count] = progress;
    snprintf(world->progress[world->progress_count++], 256, "%s", message);
}

static inline void world_close_stream(struct call *call)
{
    (void)call;
}

/* Answers every question with world->reply. If that is NULL, fails as if the client could not be
 * asked. */
static inline bool world_ask(struct call *call, const struct question *questions, size_t count,
                             json_t **answers, struct error *error)
{
    struct world *world = call->host;

    if (world->reply == NULL)
        return error_set(error, ERROR_UNSUPPORTED, "the client cannot be asked");
    if (world->thinks != NULL)
        world->thinks();
    *answers = json_object();
    for (size_t i = 0; i < count; i++) {
        snprintf(world->asked, sizeof world->asked, "%s", questions[i].key);
        json_object_set_new(*answers, questions[i].key, json_loads(world->reply, 0, NULL));
    }
    return true;
}

static inline void world_log_take(struct call *call, enum severity severity, const char *logger,
                                  json_t *data)
{
    (void)call;
    (void)severity;
    (void)logger;
    json_decref(data);
}

static inline bool world_cancelled(void *host)
{
    const struct world *world = host;

    return world->cancel_after >= 0 && (int)world->progress_count >= world->cancel_after;
}

/* Sets up a world without a model server. */
static inline void world_set_up_alone(void **state, const struct job_kind *kinds)
{
    struct world *world = calloc(1, sizeof *world);
    struct services *services = &world->services;

    folder_create_in_memory(world->folder);
    folder_create(world->secrets);
    assert_true(outbound_global_init(&world->error));
    *services = (struct services){ .sweep_shards = 1, .version = "0.0.test", .host = "here" };
    services->reviewed_plans = reviewed_plans_create();
    if (!store_open(world->folder, test_database(world->folder), 4, &services->store,
                    &world->error))
        fail_msg("%s", world->error.message);
    services->access =
        (struct access){ .store = services->store, .secrets_folder = world->secrets };
    services->health = health_memory_create();
    if (!catalog_create(&services->catalog, &world->error)
        || !recipe_book_create("", &services->recipes, &world->error)
        || !price_book_create(&services->prices, &world->error)
        || !job_pool_create(services->store, kinds, 1, services, &services->jobs, &world->error)
        || !scraper_create(&services->access, &services->scraper, &world->error))
        fail_msg("%s", world->error.message);
    world->principal = "alice";
    world->role = ROLE_ADMIN;
    world->cancel_after = -1;
    *state = world;
}

static inline void world_set_up_with(void **state, const char *const *flags,
                                     const struct job_kind *kinds)
{
    struct world *world;

    world_set_up_alone(state, kinds);
    world = *state;
    world->simserve = simserve_start(flags);
    snprintf(world->url, sizeof world->url, "http://127.0.0.1:%d", world->simserve.port);
}

/* Sets up a world with a model server. Jobs are never run: they stay queued. */
static inline int world_set_up(void **state)
{
    static const struct job_kind none[] = { { 0 } };
    static const char *const quick[] = { "--ttft-ms", "5", "--step-ms", "2", NULL };

    world_set_up_with(state, quick, none);
    return 0;
}

static inline int world_tear_down(void **state)
{
    struct world *world = *state;

    health_memory_destroy(world->services.health);
    scraper_destroy(world->services.scraper);
    job_pool_destroy(world->services.jobs, 20000);
    store_close(world->services.store);
    catalog_destroy(world->services.catalog);
    recipe_book_destroy(world->services.recipes);
    price_book_destroy(world->services.prices);
    reviewed_plans_destroy(world->services.reviewed_plans);
    if (world->simserve.pid != 0)
        simserve_stop(&world->simserve);
    folder_remove(world->folder);
    folder_remove(world->secrets);
    json_decref(world->content);
    text_finish(&world->text);
    free(world);
    return 0;
}

/* Calls a tool as the server does. Returns a new reference to the structured answer. If the call
 * fails, returns NULL, and world->error says why. */
static inline json_t *world_call(struct world *world, const char *name, const char *arguments)
{
    const struct tool *tool = tool_find(name);
    json_auto_t *parsed = NULL;
    struct answer answer = { 0 };
    char request_id[40];
    struct call call = { .services = &world->services,
                         .principal = { .role = world->role },
                         .host = world,
                         .progress = world_progress,
                         .cancelled = world_cancelled,
                         .ask = world_ask,
                         .log_take = world_log_take,
                         .close_stream = world_close_stream };
    json_t *structured = NULL;

    assert_non_null(tool);
    if (!json_parse(arguments, strlen(arguments), &parsed, &world->error))
        fail_msg("%s: %s", arguments, world->error.message);
    snprintf(call.principal.name, sizeof call.principal.name, "%s", world->principal);
    snprintf(request_id, sizeof request_id, "req_%lld", (long long)++world->requests);
    call.change.actor = (struct actor){ .client = "test/1", .request_id = request_id };
    call.arguments = parsed;
    world->progress_count = 0;
    world->error = (struct error){ 0 };
    text_clear(&world->text);
    json_decref(world->content);
    world->content = NULL;
    if (tool_call(tool, &call, &answer, &world->error)) {
        structured = json_incref(answer.structured);
        world->content = json_incref(answer.content);
        text_add(&world->text, text_string(&answer.text));
        assert_true(answer.text.length > 0);
    }
    answer_finish(&answer);
    return structured;
}

/* Calls a tool, and fails the test if the call fails. tool_call checks that the answer conforms to
 * the tool's fields. */
static inline json_t *world_ok(struct world *world, const char *name, const char *arguments)
{
    json_t *structured = world_call(world, name, arguments);

    if (structured == NULL)
        fail_msg("%s %s: %s", name, arguments, world->error.message);
    return structured;
}

/* Does the same, but discards the structured answer. */
static inline void world_do(struct world *world, const char *name, const char *arguments)
{
    json_decref(world_ok(world, name, arguments));
}

/* Calls a tool. Fails the test unless the call fails with this kind of error, its message contains
 * these words, and the newest audit row of the tool records the failure. */
static inline void world_refused(struct world *world, const char *name, const char *arguments,
                                 enum error_kind kind, const char *words)
{
    struct audit_filter filter = { .tool = name };
    struct audit_row *rows;
    size_t count;
    json_auto_t *structured = world_call(world, name, arguments);
    struct error error = world->error;

    if (structured != NULL)
        fail_msg("%s %s did not fail", name, arguments);
    if (error.kind != kind || strstr(error.message, words) == NULL)
        fail_msg("got %s \"%s\", expected %s with \"%s\"", error_kind_name(error.kind),
                 error.message, error_kind_name(kind), words);
    assert_true(audit_log_list(world->services.store, &filter, 1, &rows, &count, &world->error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].outcome, error_kind_name(kind));
    assert_string_equal(rows[0].principal, world->principal);
    assert_string_equal(rows[0].detail, error.message);
    audit_log_rows_free(rows, count);
}

/* Asserts that the newest audit row of a tool has this outcome and subject. */
static inline void world_audited(struct world *world, const char *tool, const char *outcome,
                                 const char *subject)
{
    struct audit_filter filter = { .tool = tool };
    struct audit_row *rows;
    size_t count;

    assert_true(audit_log_list(world->services.store, &filter, 1, &rows, &count, &world->error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].phase, "outcome");
    assert_string_equal(rows[0].outcome, outcome);
    assert_string_equal(rows[0].subject, subject);
    assert_string_equal(rows[0].client, "test/1");
    audit_log_rows_free(rows, count);
}

static inline size_t world_audit_count(struct world *world)
{
    struct audit_filter filter = { 0 };
    struct audit_row *rows;
    size_t count;

    assert_true(audit_log_list(world->services.store, &filter, 1000, &rows, &count, &world->error));
    audit_log_rows_free(rows, count);
    return count;
}

/* Asserts that the text of the last answer contains these words. */
static inline void world_says(const struct world *world, const char *words)
{
    if (strstr(text_string(&world->text), words) == NULL)
        fail_msg("the text does not say \"%s\":\n%s", words, text_string(&world->text));
}

/* Registers simserve under a name. */
static inline void world_register(struct world *world, const char *name)
{
    TEXT_AUTO arguments = { 0 };

    text_addf(&arguments, "{\"name\":\"%s\",\"url\":\"%s\"}", name, world->url);
    world_do(world, "deployment_register", text_string(&arguments));
}

/* Runs the tests, each in its own world. */
#define world_run(tests) world_run_all(tests, sizeof(tests) / sizeof((tests)[0]), world_set_up)
static inline int world_run_all(const struct CMUnitTest *tests, size_t count,
                                int (*set_up)(void **state))
{
    struct CMUnitTest *copies = calloc(count, sizeof *copies);
    int failures;

    memcpy(copies, tests, count * sizeof *copies);
    for (size_t i = 0; i < count; i++) {
        copies[i].setup_func = set_up;
        copies[i].teardown_func = world_tear_down;
    }
    failures = _cmocka_run_group_tests("tests", copies, count, NULL, NULL);
    free(copies);
    return failures;
}
