/* SPDX-License-Identifier: Apache-2.0 */
/* Which cells a sweep measures, in which order, and which it infers. The store is real; the results
 * are simulated. */
#include <math.h>
#include <stdlib.h>

#include "base/core/memory.h"
#include "bench/sweep/sweep_private.h"
#include "tests/unit/support/ledger.h"

#define PLAN                                                                                       \
    "{\"concurrency\":[1,2,3,4,6,8,10,13,16,20,26,32,40,50,64,80],\"output_tokens\":[16],"         \
    "\"search\":\"adaptive\",\"limit_e2e_ms\":4000,\"limit_percentile\":\"p50\","

struct rig {
    struct ledger *ledger;
    struct sweep_row row;
    struct job_run run;
    struct sweep_work work;
    double slots[2];        /* users served at once, by deployment */
    int64_t context_tokens; /* longer prompts are refused */
    size_t measured;
};

static void read_work(struct rig *rig)
{
    cell_rows_free(rig->work.cells, rig->work.count);
    rig->work.done = 0;
    assert_ok(rig->ledger, cell_list(rig->ledger->store, rig->row.id, NULL, &rig->work.cells,
                                     &rig->work.count, &rig->ledger->error));
    for (size_t i = 0; i < rig->work.count; i++)
        rig->work.done += rig->work.cells[i].state != CELL_PENDING;
}

static void create_sweep(struct rig *rig, bool pair, const char *plan_text)
{
    struct ledger *ledger = rig->ledger;
    struct deployment one = ledger_deployment(ledger, "one");
    struct deployment other = pair ? ledger_deployment(ledger, "other") : one;
    struct change change = ledger_change("alice", "sweep_start");
    json_auto_t *arguments = json_loads(plan_text, 0, NULL);
    FREE_AUTO struct cell_plan *cells = NULL;
    size_t count;

    assert_ok(ledger, plan_read(arguments, &rig->work.plan, &ledger->error));
    plan_cells(&rig->work.plan, pair ? 2 : 1, &cells, &count);
    const struct sweep_order order = { .deployment = &one,
                                       .candidate = pair ? &other : NULL,
                                       .plan_json = plan_text,
                                       .plan_digest = "digest",
                                       .provenance_json = "{}",
                                       .cells = cells,
                                       .cell_count = count,
                                       .repetitions = rig->work.plan.repetitions,
                                       .arguments_digest = "" };

    assert_ok(ledger, sweep_create(ledger->store, &order, 10, &change, &rig->row, &ledger->error));
}

static void set_up(struct rig *rig, void **state, bool pair, const char *plan_text)
{
    *rig = (struct rig){ .ledger = *state, .slots = { 16, 16 }, .context_tokens = INT64_MAX };
    create_sweep(rig, pair, plan_text);
    rig->run = (struct job_run){ .store = rig->ledger->store,
                                 .claim = ledger_claim(rig->ledger, "me", 100, 100000) };
    rig->work.run = &rig->run;
    assert_ok(rig->ledger,
              sweep_find(rig->ledger->store, rig->row.id, &rig->work.row, &rig->ledger->error));
    read_work(rig);
}

static void tear_down(struct rig *rig)
{
    cell_rows_free(rig->work.cells, rig->work.count);
    sweep_row_finish(&rig->work.row);
    sweep_row_finish(&rig->row);
}

/* The simulated result of a cell. A request takes 2 s plus 1 ms per prompt token; if there are more
 * users than slots, proportionally longer. */
static struct cell_result simulate(const struct rig *rig, const struct cell_row *cell)
{
    double slots = rig->slots[cell->deployment_id != rig->row.deployment_id];
    double users = (double)cell->concurrency;
    double e2e_ms = (2000 + (double)cell->input_tokens) * fmax(1, users / slots);
    struct cell_result result = { .state = CELL_MEASURED };

    if (cell->input_tokens > rig->context_tokens) {
        result.state = CELL_INFEASIBLE;
        return result;
    }
    result.measurement.window_s = 10;
    result.measurement.attempted = result.measurement.succeeded = 100;
    result.measurement.success_rate = 1;
    result.measurement.output_throughput = 16e3 * users / e2e_ms;
    result.measurement.latency[METRIC_E2E] =
        (struct latency_summary){ .count = 100, .mean_ms = e2e_ms, .p50_ms = e2e_ms };
    return result;
}

static void measure(struct rig *rig, struct cell_row *cell)
{
    struct cell_result result = simulate(rig, cell);
    struct store *store = rig->ledger->store;
    int64_t attempt;

    assert_int_equal(cell->state, CELL_PENDING);
    assert_ok(rig->ledger,
              attempt_begin(store, &rig->run.claim, cell->id, 200, &attempt, &rig->ledger->error));
    assert_ok(rig->ledger,
              attempt_end(store, &rig->run.claim, attempt, &result, 300, &rig->ledger->error));
    cell->state = result.state;
    cell->measurement = result.measurement;
    rig->work.done++;
    rig->measured += result.state == CELL_MEASURED;
}

static struct cell_row *next_cell(struct rig *rig)
{
    struct cell_row *next = NULL;

    assert_ok(rig->ledger, sweep_search_next(&rig->work, &next, &rig->ledger->error));
    return next;
}

static void measure_all(struct rig *rig)
{
    for (struct cell_row *next = next_cell(rig); next != NULL; next = next_cell(rig))
        measure(rig, next);
    assert_int_equal(rig->work.done, rig->work.count);
}

static const struct cell_row *find_cell(const struct rig *rig, int64_t users, int64_t context)
{
    for (size_t i = 0; i < rig->work.count; i++)
        if (rig->work.cells[i].concurrency == users && rig->work.cells[i].input_tokens == context)
            return &rig->work.cells[i];
    fail();
    return NULL;
}

static void cells_that_need_not_be_measured_are_stored_as_inferred(void **state)
{
    struct rig rig;

    set_up(&rig, state, false, PLAN "\"input_tokens\":[4,100,1000]}");
    measure_all(&rig);
    read_work(&rig);
    assert_int_equal(find_cell(&rig, 16, 4)->state, CELL_MEASURED);
    assert_int_equal(find_cell(&rig, 26, 4)->state, CELL_MEASURED);
    assert_int_equal(find_cell(&rig, 32, 4)->state, CELL_MEASURED);
    assert_int_equal(find_cell(&rig, 10, 4)->state, CELL_INFERRED);
    assert_string_equal(find_cell(&rig, 10, 4)->reason,
                        "under the saturation point at 16 users; 26 users meet the limits");
    assert_int_equal(rig.work.count, 48);
    assert_in_range(rig.measured, 6, 18);
    tear_down(&rig);
}

/* Reads the cells from the store again after each measurement, as a new process would. */
static void continues_from_the_stored_cells_alone(void **state)
{
    struct rig rig;
    struct cell_row *next;

    set_up(&rig, state, false, PLAN "\"input_tokens\":[4,100],\"repetitions\":2}");
    for (next = next_cell(&rig); next != NULL; next = next_cell(&rig)) {
        measure(&rig, next);
        read_work(&rig);
    }
    assert_in_range(rig.measured, 10, 20);
    tear_down(&rig);
}

static void a_cell_without_a_result_is_chosen_again(void **state)
{
    struct rig rig;
    struct cell_row *first, *again;

    set_up(&rig, state, false, PLAN "\"input_tokens\":[4]}");
    first = next_cell(&rig);
    again = next_cell(&rig);
    assert_ptr_equal(first, again);
    tear_down(&rig);
}

/* The second deployment saturates at a higher load. A load that the search needs for either
 * deployment is measured on both. */
static void two_deployments_are_measured_at_the_same_loads(void **state)
{
    struct rig rig;

    set_up(&rig, state, true, PLAN "\"input_tokens\":[4]}");
    rig.slots[1] = 40;
    measure_all(&rig);
    assert_int_equal(rig.work.count, 32);
    for (size_t i = 0; i < rig.work.count; i += 2) {
        assert_int_equal(rig.work.cells[i].concurrency, rig.work.cells[i + 1].concurrency);
        assert_int_equal(rig.work.cells[i].state, rig.work.cells[i + 1].state);
    }
    assert_in_range(rig.measured, 8, 24);
    tear_down(&rig);
}

static void a_prompt_that_is_too_long_is_infeasible_at_every_load(void **state)
{
    struct rig rig;

    set_up(&rig, state, false, PLAN "\"input_tokens\":[4,100]}");
    rig.context_tokens = 50;
    measure_all(&rig);
    for (size_t i = 0; i < rig.work.count; i++)
        assert_true((rig.work.cells[i].state == CELL_INFEASIBLE)
                    == (rig.work.cells[i].input_tokens == 100));
    tear_down(&rig);
}

static void a_full_search_measures_every_cell_in_order(void **state)
{
    struct rig rig;

    set_up(&rig, state, false, "{\"concurrency\":[1,2],\"input_tokens\":[4,8]}");
    for (size_t i = 0; i < 4; i++) {
        assert_ptr_equal(next_cell(&rig), &rig.work.cells[i]);
        measure(&rig, &rig.work.cells[i]);
    }
    assert_null(next_cell(&rig));
    tear_down(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_that_need_not_be_measured_are_stored_as_inferred),
        cmocka_unit_test(continues_from_the_stored_cells_alone),
        cmocka_unit_test(a_cell_without_a_result_is_chosen_again),
        cmocka_unit_test(two_deployments_are_measured_at_the_same_loads),
        cmocka_unit_test(a_prompt_that_is_too_long_is_infeasible_at_every_load),
        cmocka_unit_test(a_full_search_measures_every_cell_in_order),
    };

    return ledger_run(tests);
}
