/* SPDX-License-Identifier: Apache-2.0 */
/* A stored sweep that is running, with its job and its cells. */
#pragma once

#include <sqlite3.h>

#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/ledger.h"

struct scene {
    struct deployment deployment;
    struct sweep_row sweep;
    struct claim claim;
    struct cell_row *cells;
    size_t count;
};

static inline void read_cells(struct ledger *ledger, struct scene *scene)
{
    cell_rows_free(scene->cells, scene->count);
    assert_ok(ledger, cell_list(ledger->store, scene->sweep.id, NULL, &scene->cells, &scene->count,
                                &ledger->error));
}

/* Creates a sweep, claims its job, and begins the sweep. Free the scene with end(). */
static inline struct scene begin(struct ledger *ledger, size_t levels, int64_t repetitions)
{
    struct scene scene = { .deployment = ledger_deployment(ledger, "a") };

    scene.sweep = ledger_sweep(ledger, &scene.deployment, levels, repetitions, 10);
    scene.claim = ledger_claim(ledger, "me", 100, 1000);
    assert_ok(ledger,
              sweep_begin(ledger->store, &scene.claim, scene.sweep.id, 110, &ledger->error));
    assert_ok(ledger,
              sweep_workload_keep(ledger->store, &scene.claim, scene.sweep.id,
                                  scene.sweep.deployment_id, "{\"seed\":7}", &ledger->error));
    read_cells(ledger, &scene);
    return scene;
}

static inline void end(struct scene *scene)
{
    sweep_row_finish(&scene->sweep);
    cell_rows_free(scene->cells, scene->count);
}

static inline void reread_sweep(struct ledger *ledger, struct scene *scene)
{
    struct sweep_row row;

    assert_ok(ledger, sweep_find(ledger->store, scene->sweep.id, &row, &ledger->error));
    sweep_row_finish(&scene->sweep);
    scene->sweep = row;
}

/* Begins an attempt at a cell, and returns the attempt's id. */
static inline int64_t attempt(struct ledger *ledger, const struct scene *scene, size_t cell)
{
    int64_t id;

    assert_ok(ledger, attempt_begin(ledger->store, &scene->claim, scene->cells[cell].id, 200, &id,
                                    &ledger->error));
    return id;
}

static inline struct cell_result measured(void)
{
    struct cell_result result = { .state = CELL_MEASURED, .workload_digest = "digest" };

    result.measurement.attempted = result.measurement.succeeded = 50;
    result.measurement.window_s = 5;
    result.measurement.goodput = 10;
    return result;
}

/* Begins an attempt at a cell, and ends it with this state. */
static inline void attempt_and_end(struct ledger *ledger, const struct scene *scene, size_t cell,
                                   enum cell_state state)
{
    struct cell_result result = measured();

    result.state = state;
    assert_ok(ledger, attempt_end(ledger->store, &scene->claim, attempt(ledger, scene, cell),
                                  &result, 300, &ledger->error));
}

/* Runs a statement directly on the database, with the quoted id in place of %Q. Returns false if a
 * trigger refuses the statement. Fails the test if the statement fails for a different reason or
 * changes no rows. */
static inline bool may_do(struct ledger *ledger, const char *statement, const char *id)
{
    char message[BACKDOOR_MESSAGE_SIZE], *script = sqlite3_mprintf(statement, id);
    int64_t changed = backdoor_try(ledger->folder, script, message);

    if (changed < 0 && strstr(message, " never ") == NULL)
        fail_msg("%s: %s", script, message);
    assert_true(changed != 0);
    sqlite3_free(script);
    return changed > 0;
}
