/* SPDX-License-Identifier: Apache-2.0 */
/* Files with several runs, of different models, repetitions or configurations. */
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

struct trial {
    struct text file;
    struct evidence evidence;
    struct findings findings;
};

static int set_up(void **state)
{
    struct trial *trial = calloc(1, sizeof *trial);

    evidence_init(&trial->evidence);
    *state = trial;
    return 0;
}

static int tear_down(void **state)
{
    struct trial *trial = *state;

    findings_finish(&trial->findings);
    evidence_finish(&trial->evidence);
    text_finish(&trial->file);
    free(trial);
    return 0;
}

/* Adds a valid row of the run with this number of users, `slow` times as slow as usual. */
static void add_row(struct trial *trial, const char *run, int users, double slow)
{
    double seconds = (0.3 + users * 0.005) * slow;

    text_addf(&trial->file, "%s,%d,1024,64,%.9f,%.9f,%d,%d\n", run, users, seconds, users / seconds,
              users * 200, users * 200);
}

static void add_run(struct trial *trial, const char *run, double slow)
{
    for (int users = 1; users <= 64; users *= 4)
        add_row(trial, run, users, slow);
}

static void write_heading(struct trial *trial, const char *column)
{
    text_addf(&trial->file,
              "%s,concurrency,input_len,output_len,avg_latency_s,req_per_s,attempted,succeeded\n",
              column);
}

static void audit(struct trial *trial)
{
    const struct audit_input input = { .evidence = &trial->evidence, .chips = NAN };
    struct error error;

    if (!import_read(trial->file.data, trial->file.length, NULL, &trial->evidence, &error))
        fail_msg("%s", error.message);
    audit_run(&input, &trial->findings);
}

/* Audits the file and checks that only this rule finds anything, in this many cells; NULL: that no
 * rule does. */
static void finds(struct trial *trial, const char *rule, size_t cells)
{
    audit(trial);
    for (size_t i = 0; i < trial->findings.count; i++)
        if (rule == NULL || strcmp(trial->findings.at[i].rule->name, rule) != 0)
            fail_msg("%s: %s", trial->findings.at[i].rule->name,
                     text_string(&trial->findings.at[i].arithmetic));
    assert_int_equal(trial->findings.count, rule == NULL ? 0 : 1);
    if (rule != NULL)
        assert_int_equal(trial->findings.at[0].cell_count, cells);
}

static void two_models_in_one_table_are_not_the_same_cells(void **state)
{
    struct trial *trial = *state;

    write_heading(trial, "model");
    add_run(trial, "a", 3);
    add_run(trial, "b", 1);
    finds(trial, NULL, 0);
    assert_string_equal(trial->evidence.cells[0].variant, "model=a");
    assert_string_equal(trial->evidence.cells[7].variant, "model=b");
    assert_string_equal(trial->evidence.facts.model, "");
}

static void shows(const struct text *report, const char *words, bool is_there)
{
    if ((strstr(text_string(report), words) != NULL) != is_there)
        fail_msg("\"%s\" %s in: %s", words, is_there ? "is not" : "is", text_string(report));
}

static void each_model_of_a_file_has_tables_of_its_own(void **state)
{
    struct trial *trial = *state;
    TEXT_AUTO report = { 0 };

    write_heading(trial, "model");
    add_row(trial, "a", 16, 2);
    add_row(trial, "b", 16, 1);
    add_row(trial, "b", 16, 4);
    audit(trial);
    import_report_write(&trial->evidence, &report);
    shows(&report, "## model=a\n\n### Requests per second\n\n| Input | Output |   16 |", true);
    shows(&report, "|  1024 |     64 | 21.1 |", true);
    shows(&report, "## model=b\n\n", true);
    shows(&report, " 42.1 / 10.5 |", true);
    shows(&report, "21.1 / ", false);
}

static void no_tables_are_written_for_too_many_runs(void **state)
{
    struct trial *trial = *state;
    TEXT_AUTO report = { 0 };

    write_heading(trial, "Trial");
    for (int i = 0; i < 21; i++)
        add_row(trial, (char[]){ (char)('a' + i), '\0' }, 16, 1);
    audit(trial);
    import_report_write(&trial->evidence, &report);
    shows(&report, "too large for tables", true);
    shows(&report, "## Trial", false);
}

static void rows_with_a_trial_number_are_not_appended_runs(void **state)
{
    struct trial *trial = *state;

    write_heading(trial, "Trial");
    add_run(trial, "1", 1);
    add_run(trial, "2", 1.02);
    finds(trial, NULL, 0);
    assert_int_equal(json_array_size(trial->evidence.remarks), 0);
}

static void a_label_that_differs_in_each_row_distinguishes_no_runs(void **state)
{
    struct trial *trial = *state;

    write_heading(trial, "run");
    for (int times = 0; times < 2; times++) {
        add_row(trial, "low", 1, 1);
        add_row(trial, "middle", 4, 1);
        add_row(trial, "high", 16, 1);
    }
    finds(trial, "duplicate_cells", 3);
    assert_string_equal(trial->evidence.cells[0].variant, "");
}

static void a_label_shared_by_several_rows_distinguishes_runs(void **state)
{
    struct trial *trial = *state;

    write_heading(trial, "run");
    add_run(trial, "monday", 1);
    add_run(trial, "tuesday", 1);
    finds(trial, NULL, 0);
}

static void a_slow_first_request_is_found_in_its_own_run(void **state)
{
    struct trial *trial = *state;

    write_heading(trial, "gpu");
    add_row(trial, "l4", 1, 40);
    add_row(trial, "l4", 4, 1);
    add_row(trial, "h100", 1, 1);
    add_row(trial, "h100", 4, 1);
    finds(trial, "first_shape", 1);
    assert_int_equal(trial->findings.at[0].cells[0], 0);
}

/* The requested lengths distinguish cells even without a context column. */
static void a_cell_with_more_output_tokens_is_not_a_cold_start(void **state)
{
    struct trial *trial = *state;

    text_add(&trial->file, "concurrency,max_tokens,avg_latency_s,req_per_s,attempted\n"
                           "1,512,9,0.111111,200\n2,64,1,2,400\n4,64,1,4,800\n");
    finds(trial, NULL, 0);
}

static void add_result(struct trial *trial, const char *model, int input, int output)
{
    text_addf(&trial->file,
              "{\"model_id\": \"%s\", \"num_prompts\": 400, \"max_concurrency\": 2, \"completed\": "
              "400, \"total_input_tokens\": %d, \"total_output_tokens\": %d, "
              "\"request_throughput\": 5}\n",
              model, 400 * input, 400 * output);
}

/* vLLM's results do not say which prompt lengths were requested. */
static void results_of_vllm_are_distinguished_by_measured_lengths(void **state)
{
    struct trial *trial = *state;

    add_result(trial, "a", 128, 64);
    add_result(trial, "a", 1024, 64);
    add_result(trial, "a", 1024, 640);
    add_result(trial, "b", 1024, 640);
    finds(trial, NULL, 0);
    assert_string_equal(trial->evidence.cells[3].variant, "model_id=b");
}

static void results_of_vllm_with_two_datasets_have_no_one_dataset(void **state)
{
    static const char file[] =
        "{\"dataset_name\": \"random\", \"num_prompts\": 400, \"completed\": 400, "
        "\"total_input_tokens\": 51200, \"total_output_tokens\": 25600, \"request_throughput\": "
        "5}\n"
        "{\"dataset_name\": \"sonnet\", \"num_prompts\": 400, \"completed\": 400, "
        "\"total_input_tokens\": 51200, \"total_output_tokens\": 25600, \"request_throughput\": "
        "5}\n";
    struct trial *trial = *state;

    text_add(&trial->file, file);
    finds(trial, NULL, 0);
    assert_string_equal(trial->evidence.facts.dataset, "");
    assert_string_equal(trial->evidence.cells[1].variant, "dataset_name=sonnet");
}

/* vLLM's result if it was given neither a rate nor a concurrency. */
static void requests_without_any_limit_are_a_burst(void **state)
{
    struct trial *trial = *state;

    text_add(&trial->file,
             "{\"num_prompts\": 400, \"request_rate\": \"inf\", \"max_concurrency\": null, "
             "\"completed\": 400, \"total_input_tokens\": 51200, \"total_output_tokens\": 25600, "
             "\"request_throughput\": 5}\n");
    finds(trial, "burst", 1);
    assert_true(trial->evidence.cells[0].concurrency == 400);
    assert_true(isnan(trial->evidence.cells[0].request_rate_asked));
}

static void a_result_of_vllm_that_was_appended_again_is_found(void **state)
{
    struct trial *trial = *state;

    add_result(trial, "a", 128, 64);
    add_result(trial, "a", 128, 63);
    finds(trial, "duplicate_cells", 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(two_models_in_one_table_are_not_the_same_cells),
        TEST(each_model_of_a_file_has_tables_of_its_own),
        TEST(no_tables_are_written_for_too_many_runs),
        TEST(rows_with_a_trial_number_are_not_appended_runs),
        TEST(a_label_that_differs_in_each_row_distinguishes_no_runs),
        TEST(a_label_shared_by_several_rows_distinguishes_runs),
        TEST(a_slow_first_request_is_found_in_its_own_run),
        TEST(a_cell_with_more_output_tokens_is_not_a_cold_start),
        TEST(results_of_vllm_are_distinguished_by_measured_lengths),
        TEST(results_of_vllm_with_two_datasets_have_no_one_dataset),
        TEST(requests_without_any_limit_are_a_burst),
        TEST(a_result_of_vllm_that_was_appended_again_is_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
