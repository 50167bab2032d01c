/* SPDX-License-Identifier: Apache-2.0 */
/* Which cells of runs are compared, and what is reported about the others. */
#include "base/json/json.h"
#include "handlers/runs/compare_answer.h"
#include "tests/unit/support/compare_trial.h"

static void fail_cell(struct evidence_cell *cell)
{
    cell->state = EVIDENCE_FAILED;
}
static void forget_success(struct evidence_cell *cell)
{
    cell->success_rate = NAN;
}
static void lower_success(struct evidence_cell *cell)
{
    cell->success_rate = 0.98;
}
static void limit_client(struct evidence_cell *cell)
{
    cell->client_limited = true;
}
static void contaminate(struct evidence_cell *cell)
{
    cell->contaminated = true;
}
static void estimate_tokens(struct evidence_cell *cell)
{
    cell->tokens_estimated = true;
}
static void move_cell(struct evidence_cell *cell)
{
    cell->concurrency = 3;
}
static void make_duplicate(struct evidence_cell *cell)
{
    cell->concurrency = 8; /* the run already has such a cell */
}
static void shorten_output(struct evidence_cell *cell)
{
    cell->output_tokens_mean = 8;
}
static void lengthen_output(struct evidence_cell *cell)
{
    cell->output_tokens_mean = 100;
}
static void zero_speed(struct evidence_cell *cell)
{
    set_figures(cell, 0);
}

static void censor(struct evidence_cell *cell)
{
    cell->latency[METRIC_E2E].p50_at_least = true;
}

static const struct spoilt {
    void (*spoil)(struct evidence_cell *cell);
    size_t metric;
    enum left_out why;
    size_t skipped;
} spoilt[] = {
    { fail_cell, OUTPUT_THROUGHPUT, CELL_NOT_MEASURED, 1 },
    { forget_success, OUTPUT_THROUGHPUT, CELL_SUCCESS_UNKNOWN, 1 },
    { lower_success, OUTPUT_THROUGHPUT, CELL_LOW_SUCCESS, 1 },
    { limit_client, OUTPUT_THROUGHPUT, CELL_CLIENT_LIMITED, 1 },
    { contaminate, OUTPUT_THROUGHPUT, CELL_CONTAMINATED, 1 },
    { move_cell, OUTPUT_THROUGHPUT, CELL_MISSING, 1 },
    { make_duplicate, OUTPUT_THROUGHPUT, CELL_MISSING, 2 }, /* and CELL_TWICE at 8 users */
    { shorten_output, TPOT_P50, CELL_SHORT_OUTPUT, 1 },
    { lengthen_output, E2E_P50, CELL_OTHER_OUTPUT, 1 },
    { zero_speed, OUTPUT_THROUGHPUT, CELL_NO_FIGURE, 1 },
    { censor, E2E_P50, CELL_CENSORED, 1 },
    { censor, OUTPUT_THROUGHPUT, CELL_COMPARED, 0 },
    { estimate_tokens, OUTPUT_THROUGHPUT, CELL_OTHER_COUNT, 1 },
    { estimate_tokens, TPOT_P50, CELL_OTHER_COUNT, 1 },
    { estimate_tokens, E2E_P50, CELL_COMPARED, 0 },
};

static void skips_only_cells_that_cannot_be_compared(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof spoilt / sizeof spoilt[0]; i++) {
        struct trial *trial;
        struct generator generator;
        const struct comparison *comparison;

        set_up((void **)&trial);
        generator_init(&generator, i);
        trial->metric = spoilt[i].metric;
        draw(trial, &generator, 1);
        spoilt[i].spoil(&trial->runs[7].cells[0]); /* 1 user at 128 tokens */
        comparison = compare(trial);
        assert_int_equal(comparison->compared, CELLS - spoilt[i].skipped);
        assert_int_equal(comparison->cells[0].why, spoilt[i].why);
        assert_int_equal(comparison->cells[0].users, 1);
        if (spoilt[i].skipped > 0 && spoilt[i].why != CELL_OTHER_OUTPUT)
            assert_string_equal(comparison->cells[0].run, "imp_7");
        tear_down((void **)&trial);
    }
}

static void reports_cells_whose_tokens_every_run_estimated(void **state)
{
    struct trial *trial = *state;
    const struct comparison *comparison;

    assert_int_equal(compare(trial)->estimated, 0);
    for (size_t i = 0; i < RUNS; i++)
        trial->runs[i].cells[0].tokens_estimated = true;
    comparison = compare(trial);
    assert_int_equal(comparison->compared, CELLS);
    assert_int_equal(comparison->estimated, 1);
    assert_true(comparison->cells[0].estimated && !comparison->cells[1].estimated);
    assert_null(comparison->cells[0].run);
}

static void skips_a_cell_that_a_run_has_twice(void **state)
{
    struct trial *trial = *state;

    make_duplicate(&trial->runs[7].cells[0]);
    assert_int_equal(compare(trial)->compared, CELLS - 2); /* all but cells 0 and 3 */
    assert_int_equal(trial->comparison.cells[3].why, CELL_TWICE);
}

/* Contaminates the run's cell, and gives it wrong figures, which must not count. */
static struct evidence_cell *disturb(struct trial *trial, size_t run, size_t cell)
{
    struct evidence_cell *disturbed = &trial->runs[run].cells[cell];

    disturbed->contaminated = true;
    set_figures(disturbed, 7);
    return disturbed;
}

static void expect_disturbance_described(const struct trial *trial)
{
    const struct compare_input input = input_of(trial);
    json_auto_t *json = compare_answer_json(&input, &trial->comparison, false);
    const json_t *cell = json_array_get(json_object_get(json, "disturbed"), 0);
    TEXT_AUTO text = { 0 };

    compare_answer_describe(&input, &trial->comparison, &text);
    assert_non_null(strstr(text_string(&text), "over 7 cells, those in which every pair counts"));
    assert_non_null(strstr(text_string(&text), "- 1 user, context 128: the server also worked for "
                                               "other clients, imp_2: 4 of 5 pairs count\n"));
    assert_int_equal(json_get_integer(json, "ratio_cells", 0), 7);
    assert_string_equal(json_get_text(cell, "why", ""), "contaminated");
    assert_int_equal(json_get_integer(cell, "pairs_left_out", 0), 1);
}

static void a_disturbed_pair_is_skipped_only_in_the_disturbed_cell(void **state)
{
    struct trial *trial = *state;
    struct generator generator;
    const struct comparison *comparison;

    trial->paired = true;
    generator_init(&generator, 7);
    draw(trial, &generator, 2);
    disturb(trial, 7, 0); /* the candidate's run in the third pair */
    disturb(trial, 2, 0); /* the baseline's run in the same pair */
    comparison = compare(trial);
    assert_int_equal(comparison->compared, CELLS);
    assert_int_equal(comparison->primary_cells, CELLS - 1);
    assert_int_equal(comparison->primary_pairs_left_out, 0);
    assert_int_equal(comparison->cells[0].pairs_left_out, 1);
    assert_int_equal(comparison->cells[0].disturbed, CELL_CONTAMINATED);
    assert_string_equal(comparison->cells[0].run, trial->runs[2].id);
    assert_true(fabs(comparison->cells[0].estimate.ratio - 2) < 0.2);
    assert_int_equal(comparison->cells[1].pairs_left_out, 0);
    assert_null(comparison->cells[1].run);
    expect_disturbance_described(trial);
    disturb(trial, 3, 0);
    assert_int_equal(compare(trial)->cells[0].pairs_left_out, 2);
    disturb(trial, 9, 0); /* two of five pairs remain: too few */
    assert_int_equal(compare(trial)->cells[0].why, CELL_CONTAMINATED);
    assert_int_equal(trial->comparison.compared, CELLS - 1);
    trial->paired = false; /* now one disturbed run is enough to skip the cell */
    disturb(trial, 9, 1);
    assert_int_equal(compare(trial)->cells[1].why, CELL_CONTAMINATED);
}

/* The disturbed run's partner, whose tokens are estimated, does not count either. */
static void a_run_of_a_disturbed_pair_may_count_tokens_differently(void **state)
{
    struct trial *trial = *state;

    trial->paired = true;
    disturb(trial, 2, 0);
    trial->runs[7].cells[0].tokens_estimated = true;
    assert_int_equal(compare(trial)->cells[0].why, CELL_COMPARED);
    assert_false(trial->comparison.cells[0].estimated);
    trial->runs[8].cells[0].tokens_estimated = true;
    assert_int_equal(compare(trial)->cells[0].why, CELL_OTHER_COUNT);
    assert_string_equal(trial->comparison.cells[0].run, trial->runs[8].id);
}

static void a_failure_skips_the_whole_cell_and_not_only_its_pair(void **state)
{
    struct trial *trial = *state;

    trial->paired = true;
    disturb(trial, 2, 0);
    disturb(trial, 4, 0)->success_rate = 0.5;
    assert_int_equal(compare(trial)->cells[0].why, CELL_LOW_SUCCESS);
    assert_string_equal(trial->comparison.cells[0].run, trial->runs[4].id);
}

/* If every cell lacks a pair, the ratio is computed from the pairs that all cells have. */
static void the_ratio_is_computed_from_the_pairs_that_all_cells_have(void **state)
{
    struct trial *trial = *state;
    struct generator generator;
    const struct comparison *comparison;

    trial->paired = true;
    generator_init(&generator, 8);
    draw(trial, &generator, 2);
    for (size_t i = 0; i < CELLS; i++)
        disturb(trial, i % 2, i);
    comparison = compare(trial);
    assert_int_equal(comparison->compared, CELLS);
    assert_int_equal(comparison->primary_cells, CELLS);
    assert_int_equal(comparison->primary_pairs_left_out, 2);
    assert_true(fabs(comparison->primary.ratio - 2) < 0.1);
    assert_int_equal(comparison->primary.verdict, VERDICT_FASTER);
    disturb(trial, 2, 0); /* cell 0 now lacks the third pair instead of the first */
    disturb(trial, 0, 0)->contaminated = false;
    assert_int_equal(compare(trial)->compared, CELLS);
    assert_int_equal(trial->comparison.primary.verdict, VERDICT_NOT_COMPARABLE);
    assert_non_null(strstr(trial->comparison.reason, "too few pairs count in all cells"));
}

static void every_cell_is_judged_and_zeroed_values_mean_no_verdict(void **state)
{
    struct trial *trial = *state;
    const struct estimate estimate = { 0 };
    const struct comparison *comparison;

    assert_string_equal(verdict_name(estimate.verdict), "not_comparable");
    lower_success(&trial->runs[0].cells[0]);
    comparison = compare(trial);
    for (size_t i = 0; i < comparison->cell_count; i++)
        assert_int_equal(comparison->cells[i].why, i == 0 ? CELL_LOW_SUCCESS : CELL_COMPARED);
    assert_string_equal(left_out_name(0), "not_judged");
}

static void reports_that_every_cell_was_skipped(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < CELLS; i++)
        lower_success(&trial->runs[0].cells[i]);
    assert_int_equal(compare(trial)->primary.verdict, VERDICT_NOT_COMPARABLE);
    assert_non_null(strstr(trial->comparison.reason, "no cell"));
}

static void compares_cells_of_unknown_success_if_that_is_accepted(void **state)
{
    struct trial *trial = *state;

    forget_success(&trial->runs[0].cells[0]);
    trial->accepted[0] = "success_rate";
    assert_int_equal(compare(trial)->compared, CELLS);
}

/* Sixteen contexts need three tables, each at most 100 characters wide. */
static void writes_tables_that_fit_a_terminal(void **state)
{
    struct trial *trial = *state;
    TEXT_AUTO text = { 0 };
    size_t tables = 0;

    for (size_t i = 0; i < RUNS; i++)
        for (size_t j = 0; j < 14; j++) {
            struct evidence_cell *cell = evidence_add(&trial->runs[i]);

            *cell = trial->runs[i].cells[0];
            cell->input_length = 100000 + (double)j;
            set_figures(cell, i < trial->repetitions ? 1 + (double)i : 1e9 + (double)i);
        }
    compare_write_table(compare(trial), &text);
    for (const char *line = text.data; *line != '\0'; line += strcspn(line, "\n") + 1) {
        assert_true(strcspn(line, "\n") <= 100);
        tables += strncmp(line, "| users", 7) == 0;
    }
    assert_int_equal(tables, 3);
}

/* The candidate is faster with 1 user, slower with 2, and equally fast with 4 and 8. */
static void the_table_marks_faster_and_slower_cells(void **state)
{
    static const struct {
        double users, factor;
        enum verdict verdict;
        const char *mark;
    } rows[] = { { 1, 1.5, VERDICT_FASTER, " +" },
                 { 2, 0.5, VERDICT_SLOWER, " -" },
                 { 4, 1, VERDICT_NO_EVIDENCE, "" },
                 { 8, 1, VERDICT_NO_EVIDENCE, "" } };
    struct trial *trial = *state;
    const struct comparison *comparison;
    TEXT_AUTO text = { 0 };

    for (size_t i = 0; i < 2 * trial->repetitions; i++)
        for (size_t j = 0; j < CELLS; j++) {
            double noise = 1 + 0.01 * (double)((7 * i + 3 * j) % 5);
            double factor = i < trial->repetitions ? 1 : rows[j % 4].factor;

            set_figures(&trial->runs[i].cells[j], 100 * noise * factor);
        }
    comparison = compare(trial);
    compare_write_table(comparison, &text);
    for (size_t i = 0; i < comparison->cell_count; i++) {
        const struct compared_cell *cell = &comparison->cells[i];
        char shown[32];

        for (size_t j = 0; j < 4; j++) {
            if (rows[j].users != cell->users)
                continue;
            assert_int_equal(cell->estimate.verdict, rows[j].verdict);
            snprintf(shown, sizeof shown, " %.3f%s |", cell->estimate.ratio, rows[j].mark);
            if (strstr(text_string(&text), shown) == NULL)
                fail_msg("no \"%s\" in\n%s", shown, text_string(&text));
        }
    }
}

static void more_than_a_hundred_tables_are_replaced_with_a_message(void **state)
{
    struct trial *trial = *state;
    TEXT_AUTO text = { 0 };

    for (size_t i = 0; i < RUNS; i++)
        for (size_t j = 0; j < 100; j++) {
            struct evidence_cell *cell = evidence_add(&trial->runs[i]);

            *cell = trial->runs[i].cells[0];
            cell->output_tokens_asked = 100 + (double)j;
        }
    compare_write_table(compare(trial), &text);
    assert_string_equal(text_string(&text), "\nThere are too many tables to show (output "
                                            "lengths: 101, request rates: 1).\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skips_only_cells_that_cannot_be_compared),
        TRIAL(reports_cells_whose_tokens_every_run_estimated),
        TRIAL(skips_a_cell_that_a_run_has_twice),
        TRIAL(a_disturbed_pair_is_skipped_only_in_the_disturbed_cell),
        TRIAL(a_run_of_a_disturbed_pair_may_count_tokens_differently),
        TRIAL(a_failure_skips_the_whole_cell_and_not_only_its_pair),
        TRIAL(the_ratio_is_computed_from_the_pairs_that_all_cells_have),
        TRIAL(every_cell_is_judged_and_zeroed_values_mean_no_verdict),
        TRIAL(reports_that_every_cell_was_skipped),
        TRIAL(compares_cells_of_unknown_success_if_that_is_accepted),
        TRIAL(writes_tables_that_fit_a_terminal),
        TRIAL(the_table_marks_faster_and_slower_cells),
        TRIAL(more_than_a_hundred_tables_are_replaced_with_a_message),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
