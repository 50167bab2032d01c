/* SPDX-License-Identifier: Apache-2.0 */
/* Imports files with several runs (of different models, repetitions or configurations), and results
 * from vLLM. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/audit/audit.h"
#include "analysis/import/import.h"
#include "analysis/report/import_report.h"

struct fixture {
    struct text file;
    struct evidence evidence;
    struct findings findings;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    evidence_init(&fixture->evidence);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    findings_finish(&fixture->findings);
    evidence_finish(&fixture->evidence);
    text_finish(&fixture->file);
    free(fixture);
    return 0;
}

/* Adds a valid row with `run` in its first column; its latency is `slowdown` times the usual
 * latency. */
static void add_row(struct fixture *fixture, const char *run, int users, double slowdown)
{
    double seconds = (0.3 + users * 0.005) * slowdown;

    text_addf(&fixture->file, "%s,%d,1024,64,%.9f,%.9f,%d,%d\n", run, users, seconds,
              users / seconds, users * 200, users * 200);
}

static void add_run(struct fixture *fixture, const char *run, double slowdown)
{
    for (int users = 1; users <= 64; users *= 4)
        add_row(fixture, run, users, slowdown);
}

static void write_heading(struct fixture *fixture, const char *column)
{
    text_addf(&fixture->file,
              "%s,concurrency,input_len,output_len,avg_latency_s,req_per_s,attempted,succeeded\n",
              column);
}

static void audit(struct fixture *fixture)
{
    const struct audit_input input = { .evidence = &fixture->evidence, .chips = NAN };
    struct error error;

    if (!import_read(fixture->file.data, fixture->file.length, NULL, &fixture->evidence, &error))
        fail_msg("%s", error.message);
    audit_run(&input, &fixture->findings);
}

/* Audits the file and checks that there is one finding, by `rule` and about this many cells. If
 * `rule` is NULL, checks that there are no findings. */
static void finds(struct fixture *fixture, const char *rule, size_t cells)
{
    audit(fixture);
    for (size_t i = 0; i < fixture->findings.count; i++)
        if (rule == NULL || strcmp(fixture->findings.at[i].rule->name, rule) != 0)
            fail_msg("%s: %s", fixture->findings.at[i].rule->name,
                     text_string(&fixture->findings.at[i].arithmetic));
    assert_int_equal(fixture->findings.count, rule == NULL ? 0 : 1);
    if (rule != NULL)
        assert_int_equal(fixture->findings.at[0].cell_count, cells);
}

static void cells_of_two_models_in_one_table_are_not_duplicates(void **state)
{
    struct fixture *fixture = *state;

    write_heading(fixture, "model");
    add_run(fixture, "a", 3);
    add_run(fixture, "b", 1);
    finds(fixture, NULL, 0);
    assert_string_equal(fixture->evidence.cells[0].variant, "model=a");
    assert_string_equal(fixture->evidence.cells[7].variant, "model=b");
    assert_string_equal(fixture->evidence.facts.model, "");
}

static void shows(const struct text *report, const char *words, bool is_there)
{
    if ((strstr(text_string(report), words) != NULL) != is_there)
        fail_msg("\"%s\" %s in the report: %s", words, is_there ? "is not" : "is",
                 text_string(report));
}

static void each_model_in_a_file_has_its_own_tables(void **state)
{
    struct fixture *fixture = *state;
    TEXT_AUTO report = { 0 };

    write_heading(fixture, "model");
    add_row(fixture, "a", 16, 2);
    add_row(fixture, "b", 16, 1);
    add_row(fixture, "b", 16, 4);
    audit(fixture);
    import_report_write(&fixture->evidence, &report);
    shows(&report, "## model=a\n\n### Requests per second\n\n| Input | Output |   16 |", true);
    shows(&report, "|  1024 |     64 | 21.1 |", true);
    shows(&report, "## model=b\n\n", true);
    shows(&report, " 42.1 / 10.5 |", true);
    shows(&report, "21.1 / ", false);
}

static void no_tables_are_written_for_too_many_runs(void **state)
{
    struct fixture *fixture = *state;
    TEXT_AUTO report = { 0 };

    write_heading(fixture, "Trial");
    for (int i = 0; i < 21; i++)
        add_row(fixture, (char[]){ (char)('a' + i), '\0' }, 16, 1);
    audit(fixture);
    import_report_write(&fixture->evidence, &report);
    shows(&report, "too large for tables", true);
    shows(&report, "## Trial", false);
}

static void rows_with_different_trial_numbers_are_not_duplicates(void **state)
{
    struct fixture *fixture = *state;

    write_heading(fixture, "Trial");
    add_run(fixture, "1", 1);
    add_run(fixture, "2", 1.02);
    finds(fixture, NULL, 0);
    assert_int_equal(json_array_size(fixture->evidence.remarks), 0);
}

static void a_label_that_occurs_at_only_one_load_does_not_distinguish_runs(void **state)
{
    struct fixture *fixture = *state;

    write_heading(fixture, "run");
    for (int times = 0; times < 2; times++) {
        add_row(fixture, "low", 1, 1);
        add_row(fixture, "middle", 4, 1);
        add_row(fixture, "high", 16, 1);
    }
    finds(fixture, "duplicate_cells", 3);
    assert_string_equal(fixture->evidence.cells[0].variant, "");
}

static void a_label_that_occurs_at_several_loads_distinguishes_runs(void **state)
{
    struct fixture *fixture = *state;

    write_heading(fixture, "run");
    add_run(fixture, "monday", 1);
    add_run(fixture, "tuesday", 1);
    finds(fixture, NULL, 0);
}

static void a_slow_first_cell_is_found_by_comparing_cells_of_the_same_run(void **state)
{
    struct fixture *fixture = *state;

    write_heading(fixture, "gpu");
    add_row(fixture, "l4", 1, 40);
    add_row(fixture, "l4", 4, 1);
    add_row(fixture, "h100", 1, 1);
    add_row(fixture, "h100", 4, 1);
    finds(fixture, "first_shape", 1);
    assert_int_equal(fixture->findings.at[0].cells[0], 0);
}

/* The requested output lengths distinguish cells even without a context column. */
static void a_cell_with_more_output_tokens_is_not_a_cold_start(void **state)
{
    struct fixture *fixture = *state;

    text_add(&fixture->file, "concurrency,max_tokens,avg_latency_s,req_per_s,attempted\n"
                             "1,512,9,0.111111,200\n2,64,1,2,400\n4,64,1,4,800\n");
    finds(fixture, NULL, 0);
}

static void add_result(struct fixture *fixture, const char *model, int input, int output)
{
    text_addf(&fixture->file,
              "{\"model_id\": \"%s\", \"num_prompts\": 400, \"max_concurrency\": 2, \"completed\": "
              "400, \"total_input_tokens\": %d, \"total_output_tokens\": %d, "
              "\"request_throughput\": 5}\n",
              model, 400 * input, 400 * output);
}

/* These results do not say which lengths were requested. */
static void vllm_results_are_distinguished_by_their_measured_lengths(void **state)
{
    struct fixture *fixture = *state;

    add_result(fixture, "a", 128, 64);
    add_result(fixture, "a", 1024, 64);
    add_result(fixture, "a", 1024, 640);
    add_result(fixture, "b", 1024, 640);
    finds(fixture, NULL, 0);
    assert_string_equal(fixture->evidence.cells[3].variant, "model_id=b");
}

static void vllm_results_with_two_datasets_leave_the_dataset_unknown(void **state)
{
    static const char file[] =
        "{\"dataset_name\": \"random\", \"num_prompts\": 400, \"completed\": 400, "
        "\"total_input_tokens\": 51200, \"total_output_tokens\": 25600, \"request_throughput\": "
        "5}\n"
        "{\"dataset_name\": \"sonnet\", \"num_prompts\": 400, \"completed\": 400, "
        "\"total_input_tokens\": 51200, \"total_output_tokens\": 25600, \"request_throughput\": "
        "5}\n";
    struct fixture *fixture = *state;

    text_add(&fixture->file, file);
    finds(fixture, NULL, 0);
    assert_string_equal(fixture->evidence.facts.dataset, "");
    assert_string_equal(fixture->evidence.cells[1].variant, "dataset_name=sonnet");
}

/* vLLM's result from a benchmark with neither a request rate nor a limit on concurrency. */
static void requests_without_any_limit_are_a_burst(void **state)
{
    struct fixture *fixture = *state;

    text_add(&fixture->file,
             "{\"num_prompts\": 400, \"request_rate\": \"inf\", \"max_concurrency\": null, "
             "\"completed\": 400, \"total_input_tokens\": 51200, \"total_output_tokens\": 25600, "
             "\"request_throughput\": 5}\n");
    finds(fixture, "burst", 1);
    assert_true(fixture->evidence.cells[0].concurrency == 400);
    assert_true(isnan(fixture->evidence.cells[0].request_rate_asked));
}

static void vllm_results_with_nearly_equal_lengths_are_duplicates(void **state)
{
    struct fixture *fixture = *state;

    add_result(fixture, "a", 128, 64);
    add_result(fixture, "a", 128, 63);
    finds(fixture, "duplicate_cells", 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(cells_of_two_models_in_one_table_are_not_duplicates),
        TEST(each_model_in_a_file_has_its_own_tables),
        TEST(no_tables_are_written_for_too_many_runs),
        TEST(rows_with_different_trial_numbers_are_not_duplicates),
        TEST(a_label_that_occurs_at_only_one_load_does_not_distinguish_runs),
        TEST(a_label_that_occurs_at_several_loads_distinguishes_runs),
        TEST(a_slow_first_cell_is_found_by_comparing_cells_of_the_same_run),
        TEST(a_cell_with_more_output_tokens_is_not_a_cold_start),
        TEST(vllm_results_are_distinguished_by_their_measured_lengths),
        TEST(vllm_results_with_two_datasets_leave_the_dataset_unknown),
        TEST(requests_without_any_limit_are_a_burst),
        TEST(vllm_results_with_nearly_equal_lengths_are_duplicates),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
