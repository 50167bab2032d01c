/* SPDX-License-Identifier: Apache-2.0 */
/* A separate store for each test, and functions that fill it. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "store/ledger/store.h"
#include "store/ledger/sweeps.h"
#include "tests/unit/support/folder.h"
#include "tests/unit/support/test_database.h"

struct ledger {
    char folder[FOLDER_SIZE];
    struct store *store;
    struct error error;
};

static inline int ledger_set_up(void **state)
{
    struct ledger *ledger = calloc(1, sizeof *ledger);

    folder_create(ledger->folder);
    if (!store_open(ledger->folder, test_database(ledger->folder), 4, &ledger->store,
                    &ledger->error))
        fail_msg("%s", ledger->error.message);
    *state = ledger;
    return 0;
}

static inline int ledger_tear_down(void **state)
{
    struct ledger *ledger = *state;

    store_close(ledger->store);
    folder_remove(ledger->folder);
    free(ledger);
    return 0;
}

static inline void ledger_reopen(struct ledger *ledger)
{
    store_close(ledger->store);
    if (!store_open(ledger->folder, test_database(ledger->folder), 4, &ledger->store,
                    &ledger->error))
        fail_msg("%s", ledger->error.message);
}

/* Fails the test, with the ledger's error, unless the call returns true. */
#define assert_ok(ledger, call)                                                                    \
    do {                                                                                           \
        if (!(call))                                                                               \
            fail_msg("%s", (ledger)->error.message);                                               \
    } while (0)

/* Fails the test unless the call fails with an error of this kind, whose message contains
 * `words`. */
#define assert_refused(ledger, call, expected_kind, words)                                         \
    do {                                                                                           \
        assert_false(call);                                                                        \
        assert_string_equal(error_kind_name((ledger)->error.kind),                                 \
                            error_kind_name(expected_kind));                                       \
        if (strstr((ledger)->error.message, (words)) == NULL)                                      \
            fail_msg("\"%s\" does not say \"%s\"", (ledger)->error.message, (words));              \
    } while (0)

static inline struct change ledger_change(const char *principal, const char *tool)
{
    return (struct change){ .actor = { principal, "operator", "test/1", "req_1" },
                            .tool = tool,
                            .arguments = "{\"a\":1}" };
}

static inline struct deployment ledger_deployment(struct ledger *ledger, const char *name)
{
    struct deployment wanted = { .url = "http://127.0.0.1:8000",
                                 .model = "gemma",
                                 .model_revision = "3f2a9c",
                                 .chips = 4 },
                      stored;
    struct change change = ledger_change("alice", "deployment_register");

    snprintf(wanted.name, sizeof wanted.name, "%s", name);
    assert_ok(ledger,
              deployment_add(ledger->store, &wanted, 1000, &change, &stored, &ledger->error));
    return stored;
}

/* Creates a sweep whose repetitions each have `levels` cells, with a concurrency of 1, 2, 4 and so
 * on. `key`: its idempotency key; NULL: none. */
static inline bool ledger_sweep_with_key(struct ledger *ledger, const struct deployment *deployment,
                                         size_t levels, int64_t repetitions, const char *key,
                                         const char *arguments_digest, int64_t now_ms,
                                         struct sweep_row *out)
{
    struct change change = ledger_change("alice", "sweep_start");
    size_t count = levels * (size_t)repetitions;
    struct cell_plan *cells = calloc(count, sizeof *cells);

    for (size_t i = 0; i < count; i++)
        cells[i] = (struct cell_plan){ .concurrency = 1 << (i % levels),
                                       .input_tokens = 64,
                                       .output_tokens = 16,
                                       .repetition = 1 + (int64_t)(i / levels),
                                       .position = (int64_t)i };
    const struct sweep_order order = { .deployment = deployment,
                                       .plan_json = "{\"window_s\":5}",
                                       .plan_digest = "plan",
                                       .provenance_json = "{\"who\":\"alice\"}",
                                       .cells = cells,
                                       .cell_count = count,
                                       .repetitions = repetitions,
                                       .idempotency_key = key,
                                       .arguments_digest = arguments_digest };
    bool ok = sweep_create(ledger->store, &order, now_ms, &change, out, &ledger->error);

    free(cells);
    return ok;
}

static inline struct sweep_row ledger_sweep(struct ledger *ledger,
                                            const struct deployment *deployment, size_t levels,
                                            int64_t repetitions, int64_t now_ms)
{
    struct sweep_row row;

    assert_ok(ledger, ledger_sweep_with_key(ledger, deployment, levels, repetitions, NULL, "",
                                            now_ms, &row));
    return row;
}

/* Claims the next job; fails the test if there is none. */
static inline struct claim ledger_claim(struct ledger *ledger, const char *owner, int64_t now_ms,
                                        int64_t lease_ms)
{
    static const char *const kinds[] = { "sweep", "other", NULL };
    struct claim claim;
    struct job job;
    bool found = false;

    assert_ok(ledger, job_claim(ledger->store, owner, kinds, now_ms, lease_ms, &job, &found,
                                &ledger->error));
    assert_true(found);
    snprintf(claim.job_id, sizeof claim.job_id, "%s", job.id);
    claim.fence = job.fence;
    return claim;
}

/* Runs the tests, each with its own store. */
#define ledger_run(tests) ledger_run_all(tests, sizeof(tests) / sizeof((tests)[0]))
static inline int ledger_run_all(const struct CMUnitTest *tests, size_t count)
{
    struct CMUnitTest *copies = calloc(count, sizeof *copies);
    int failures;

    memcpy(copies, tests, count * sizeof *copies);
    for (size_t i = 0; i < count; i++) {
        copies[i].setup_func = ledger_set_up;
        copies[i].teardown_func = ledger_tear_down;
    }
    failures = _cmocka_run_group_tests("tests", copies, count, NULL, NULL);
    free(copies);
    return failures;
}
