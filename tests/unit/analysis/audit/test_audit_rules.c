/* SPDX-License-Identifier: Apache-2.0 */
/* The audit's rules find the mistakes that they look for, and the findings say what is wrong. */
#include "tests/unit/support/audit_trial.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void finds_nothing_in_a_clean_run(void **state)
{
    struct trial *trial = *state;

    snprintf(trial->evidence.facts.model, sizeof trial->evidence.facts.model,
             "google/gemma-4-12B-it");
    trial->input.hardware = "nvidia-h100";
    audit(trial);
    assert_int_equal(trial->findings.count, 0);
}

static void littles_law_shows_that_users_were_missing(void **state)
{
    struct trial *trial = *state;
    const struct finding *finding;

    for (size_t i = 4; i < 6; i++) { /* 16 users */
        trial->evidence.cells[i].request_throughput *= 0.6;
        trial->evidence.cells[i].output_throughput *= 0.6;
        trial->evidence.cells[i].duration_s /= 0.6;
    }
    finding = only(trial, "actual_load");
    assert_int_equal(finding->cell_count, 2);
    says(&finding->arithmetic, "requests in flight / expected: 60 to 60 % in 2 cells");
    says(&finding->consequence, "Do not compare cells with more than 4 users");
}

static void measured_requests_in_flight_take_precedence_over_littles_law(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < trial->evidence.cell_count; i++)
        trial->evidence.cells[i].concurrency_actual = trial->evidence.cells[i].concurrency;
    trial->evidence.cells[5].concurrency_actual = 9;
    says(&only(trial, "actual_load")->arithmetic, "9 on average, 16 expected from 16 users");
    says(&trial->findings.at[0].consequence, "Do not compare this cell: the load was lower");
}

static void users_with_think_time_are_not_all_expected_in_flight(void **state)
{
    struct trial *trial = *state;

    trial->evidence.cells[5].concurrency_actual = 9;
    trial->evidence.cells[5].concurrency_expected = 9.2;
    audit(trial);
    assert_int_equal(trial->findings.count, 0);
    trial->evidence.cells[5].concurrency_expected = 12;
    says(&only(trial, "actual_load")->arithmetic, "9 on average, 12 expected from 16 users");
}

static void finds_an_undeclared_limit(void **state)
{
    struct trial *trial = *state;

    for (int users = 64; users <= 1024; users *= 4)
        for (int length = 128; length <= 1024; length *= 8) {
            struct evidence_cell *cell =
                add(trial, users, length, 400 + length / 10.0 + users / 10.0);

            cell->request_throughput = 16 * 1000 / cell->latency[METRIC_E2E].mean_ms;
            cell->output_throughput = cell->duration_s = NAN;
        }
    audit(trial);
    assert_int_equal(trial->findings.count, 2); /* actual_load is also found */
    assert_string_equal(trial->findings.at[1].rule->name, "load_plateau");
    says(&trial->findings.at[1].arithmetic,
         "about 16 requests are in flight at every level from 16 to 1024 users");
    says(&trial->findings.at[1].consequence, "Do not compare cells with more than 16 users");
}

static void finds_fewer_requests_than_users_and_bursts(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *cell = &trial->evidence.cells[5];

    cell->attempted = cell->succeeded = 16;
    cell->duration_s = NAN;
    cell->latency[METRIC_E2E].p95_ms = NAN;
    says(&only(trial, "burst")->arithmetic, "16 requests for 16 users (row 7)");
    cell->attempted = cell->succeeded = 10;
    audit(trial);
    assert_int_equal(trial->findings.count, 2);
    assert_string_equal(trial->findings.at[0].rule->name, "request_cap");
}

static void finds_runs_that_were_appended_to_one_file(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *again = add(trial, 4, 128, 400);

    again->request_throughput = 30.9;
    again->output_throughput = again->duration_s = NAN;
    again->concurrency_actual = 4;
    says(&only(trial, "duplicate_cells")->arithmetic,
         "cells that repeat the load and lengths of an earlier row: 1 of 7");
}

/* Gives one other run, which has a different id and the same cells in reverse order, without the
 * cell with 1 user and 128 tokens. */
static bool give_copy_once(void *context, struct evidence *out)
{
    struct trial *trial = context;

    if (trial->next_other_calls++ > 0)
        return false;
    evidence_init(out);
    snprintf(out->id, sizeof out->id, "imp_other");
    snprintf(out->name, sizeof out->name, "b.csv");
    for (size_t i = trial->evidence.cell_count - 1; i > 0; i--)
        *evidence_add(out) = trial->evidence.cells[i];
    return true;
}

static void finds_the_same_figures_under_another_name(void **state)
{
    struct trial *trial = *state;
    const struct finding *finding;

    trial->input.next_other = give_copy_once;
    trial->input.context = trial;
    finding = only(trial, "identical_runs");
    says(&finding->arithmetic, "5 of 6 cells equal a cell of imp_other (b.csv) to the last digit");
    assert_int_equal(finding->cells[0], 1);
    assert_int_equal(trial->next_other_calls, 2); /* called until it returned false */
}

static void finds_speeds_and_latencies_of_failed_cells(void **state)
{
    struct trial *trial = *state;

    trial->evidence.cells[5].state = EVIDENCE_FAILED;
    trial->evidence.cells[5].success_rate = 0;
    assert_int_equal(only(trial, "failed_speed")->cells[0], 5);
    trial->evidence.cells[5].request_throughput = NAN;
    says(&only(trial, "failed_speed")->arithmetic, "row 7 failed, but reports 2");
    trial->evidence.cells[5].output_throughput = NAN;
    says(&only(trial, "failed_speed")->arithmetic, "but reports a mean latency of 0.4824 s");
}

static void finds_figures_based_on_the_few_requests_that_succeeded(void **state)
{
    struct trial *trial = *state;

    trial->evidence.cells[5].success_rate = 0.375;
    trial->evidence.imported = true;
    says(&only(trial, "low_success")->arithmetic, "in the worst cell, 37.5 %");
    says(&only(trial, "low_success")->consequence, "only the requests that succeeded");
    trial->evidence.imported = false; /* our own runs count requests that were cut off */
    says(&only(trial, "low_success")->consequence, "count in the latencies as \"at least\"");
}

static void finds_cells_in_which_the_server_stalled(void **state)
{
    struct trial *trial = *state;

    trial->evidence.imported = false;
    evidence_add_warning(&trial->evidence.cells[2], "uneven");
    assert_int_equal(only(trial, "uneven")->cells[0], 2);
    trial->evidence.imported = true; /* as if the run had been exported and imported again */
    assert_int_equal(only(trial, "uneven")->cells[0], 2);
}

static void finds_requests_that_were_too_long_and_reported_as_other_failures(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *cell = evidence_add(&trial->evidence);

    cell->state = EVIDENCE_FAILED;
    cell->concurrency = 1;
    cell->input_length = 16384;
    cell->error = strdup("HTTP 400: context length");
    snprintf(cell->status, sizeof cell->status, "OOM");
    says(&only(trial, "misnamed_failure")->arithmetic, "refused as too long");
    trial->evidence.facts.context_limit_tokens = 16384;
    says(&only(trial, "misnamed_failure")->arithmetic, "ends at 16384 tokens");
    cell->input_length = 16370; /* the prompt fits, but not together with the output */
    cell->output_tokens_asked = 32;
    free(cell->error);
    cell->error = strdup("HTTP 500");
    cell->status[0] = '\0';
    says(&only(trial, "misnamed_failure")->arithmetic, "ends at 16384 tokens");
}

static void finds_a_cold_start_inside_a_cell(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *cell = &trial->evidence.cells[0];

    cell->latency[METRIC_E2E].mean_ms = cell->latency[METRIC_E2E].p50_ms =
        cell->latency[METRIC_E2E].p95_ms = 55000;
    cell->request_throughput = 1 / 55.0;
    cell->duration_s = cell->output_throughput = NAN;
    says(&only(trial, "first_shape")->arithmetic, "55 s at 1 user (row 2)");
    says(&only(trial, "first_shape")->consequence, "its compilation, or filled the prefix cache");
}

static void finds_more_work_that_took_less_time(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *cell = &trial->evidence.cells[2]; /* 4 users, 128 tokens */

    cell->latency[METRIC_E2E].mean_ms = cell->latency[METRIC_E2E].p50_ms =
        cell->latency[METRIC_E2E].p95_ms = 2000;
    cell->request_throughput = 4 / 2.0;
    cell->duration_s = cell->output_throughput = NAN;
    says(&only(trial, "non_monotone")->arithmetic,
         "2 s at 4 users and 128 tokens of context (row 4)");
}

static void finds_tails_that_a_timeout_cut_off(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *cell = &trial->evidence.cells[5];

    cell->latency[METRIC_E2E].mean_ms = cell->latency[METRIC_E2E].p50_ms = 32000;
    cell->latency[METRIC_E2E].p95_ms = 59845;
    cell->request_throughput = 16 / 32.0;
    cell->output_throughput = cell->duration_s = NAN;
    cell->success_rate = 0.995;
    cell->timeout_s = 60;
    says(&only(trial, "censored_tail")->arithmetic, "a timeout of 60 s");
    cell->latency[METRIC_E2E].p95_at_least = true; /* the figure itself says that it was cut off */
    audit(trial);
    assert_int_equal(trial->findings.count, 0);
}

static void finds_percentiles_of_a_single_request(void **state)
{
    struct trial *trial = *state;

    trial->evidence.cells[0].attempted = trial->evidence.cells[0].succeeded = 1;
    trial->evidence.cells[0].duration_s = NAN;
    says(&only(trial, "few_samples")->arithmetic, "fewest requests in a cell: 1");
    trial->evidence.imported = false; /* our own reports mark such percentiles */
    audit(trial);
    assert_int_equal(trial->findings.count, 0);
}

static void finds_latencies_that_contradict_one_another(void **state)
{
    struct trial *trial = *state;

    trial->evidence.cells[0].latency[METRIC_E2E].p95_ms = 10;
    assert_string_equal(text_string(&only(trial, "disorder")->arithmetic),
                        "row 2: the p95 of e2e, 10 ms, is below its p50, 317.8 ms");
    trial->evidence.cells[0].latency[METRIC_E2E].p95_ms = -1.7e12;
    assert_string_equal(text_string(&only(trial, "disorder")->arithmetic),
                        "row 2: the p95 of e2e is negative, -1.7e+12 ms");
    trial->evidence.cells[0].latency[METRIC_E2E].p95_ms = NAN;
    trial->evidence.cells[0].latency[METRIC_E2E].max_ms = 317.8;
    trial->evidence.cells[0].latency[METRIC_TTFT].mean_ms = 400;
    trial->evidence.cells[0].latency[METRIC_TTFT].max_ms = 400;
    assert_string_equal(text_string(&only(trial, "disorder")->arithmetic),
                        "row 2: the mean of ttft, 400 ms, is above that of e2e, 317.8 ms");
    trial->evidence.cells[0].latency[METRIC_TTFT].max_ms = 300;
    assert_string_equal(text_string(&only(trial, "disorder")->arithmetic),
                        "row 2: the mean of ttft, 400 ms, is above its maximum, 300 ms");
}

static void finds_outputs_too_short_to_judge_generation(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < trial->evidence.cell_count; i++) {
        trial->evidence.cells[i].output_tokens_mean = 1;
        trial->evidence.cells[i].output_tokens_asked = 1;
        trial->evidence.cells[i].output_throughput = NAN;
    }
    says(&only(trial, "one_token_output")->arithmetic, "1 output tokens per request");
}

static void finds_prompt_tokens_that_were_counted_as_generated(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < trial->evidence.cell_count; i++) {
        struct evidence_cell *cell = &trial->evidence.cells[i];

        cell->output_tokens_mean = cell->output_tokens_asked = NAN;
        cell->output_throughput = cell->input_length * cell->request_throughput;
    }
    assert_int_equal(only(trial, "tokens_locked_to_context")->cell_count, 6);
}

static void finds_output_tokens_that_were_not_counted(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < trial->evidence.cell_count; i++)
        trial->evidence.cells[i].output_tokens_mean = trial->evidence.cells[i].output_tokens_asked =
            trial->evidence.cells[i].output_throughput = NAN;
    assert_int_equal(only(trial, "unknown_output")->cell_count, 6);
}

static void finds_cached_prompts_estimated_tokens_a_limited_client_and_other_clients(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *cell = &trial->evidence.cells[5];

    cell->input_tokens = 1000;
    cell->cached_tokens = 900;
    says(&only(trial, "prefix_cache")->arithmetic, "up to 90 %");
    cell->cached_tokens = 0;
    cell->tokens_estimated = true;
    only(trial, "tokens_estimated");
    cell->tokens_estimated = false;
    cell->client_limited = true;
    only(trial, "client_limited");
    cell->client_limited = false;
    cell->contaminated = true;
    says(&only(trial, "contaminated")->arithmetic,
         "the server also worked for other clients, each time they were measured: 1");
}

static void finds_recounted_tokens_and_lengths_that_were_not_requested(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *cell = &trial->evidence.cells[2];

    cell->input_tokens_usage = cell->input_tokens_mean;
    cell->output_tokens_usage = cell->output_tokens_mean * 0.4;
    cell->output_tokens_asked = cell->output_tokens_usage;
    says(&only(trial, "tokens_recounted")->arithmetic, "the tool's tokenizer counts");
    cell->output_tokens_usage = NAN;
    says(&only(trial, "length_mismatch")->arithmetic, "output tokens requested");
    trial->evidence.input_unit = LENGTH_WORDS;
    audit(trial);
    assert_int_equal(trial->findings.count, 0);
}

static void finds_rates_that_contradict_counts_or_other_rates(void **state)
{
    struct trial *trial = *state;

    struct evidence_cell *cell = &trial->evidence.cells[5];

    cell->duration_s *= 2;
    says(&only(trial, "rates_disagree")->arithmetic,
         "row 7: 33.167 requests/s, but 3200 requests succeeded in 192.96 s");
    cell->duration_s /= 2;
    cell->total_throughput = 10;
    cell->input_throughput = 10;
    says(&only(trial, "rates_disagree")->arithmetic,
         "row 7: 10 tokens/s in total, but 10 input and ");
    cell->total_throughput = NAN;
    cell->output_tokens = 10 * cell->output_throughput * cell->duration_s;
    says(&only(trial, "rates_disagree")->arithmetic, " output tokens/s, but ");
}

static void finds_queues_in_front_of_the_server(void **state)
{
    struct trial *trial = *state;

    trial->evidence.facts.container_concurrency = 4;
    trial->evidence.facts.max_instances = 3;
    says(&only(trial, "front_door")->consequence, "Above 12 users");
}

/* 16 prompts x 8192 tokens x 2 operations x 12e9 parameters in 1.3 s are 2400 TFLOP/s. One L4 can
 * do 242 TFLOP/s, and 16 of them 3872. */
static void finds_more_arithmetic_than_the_hardware_can_do(void **state)
{
    struct trial *trial = *state;

    add(trial, 16, 8192, 1300);
    trial->input.model = "google/gemma-4-12B-it";
    trial->input.hardware = "L4";
    says(&only(trial, "compute_roofline")->arithmetic, "the peak is 242 (NVIDIA L4)");
    trial->input.chips = 16;
    audit(trial);
    assert_int_equal(trial->findings.count, 0);
}

static void finds_weights_read_faster_than_the_memory_allows(void **state)
{
    struct trial *trial = *state;

    trial->evidence.cells[0].latency[METRIC_TPOT].mean_ms = 0.2;
    trial->input.model = "google/gemma-4-12B-it";
    trial->input.hardware = "H100";
    says(&only(trial, "bandwidth_roofline")->arithmetic, "5000 tokens/s of one stream");
    trial->evidence.cells[0].latency[METRIC_TPOT].mean_ms = 0.05;
    trial->input.chips = 2;
    says(&only(trial, "bandwidth_roofline")->arithmetic, "6700 GB/s");
}

static enum audit_use use_of(const struct trial *trial, const char *rule)
{
    size_t i = 0;

    while (strcmp(audit_rules[i].name, rule) != 0)
        i++;
    return trial->findings.uses[i];
}

static void without_rates_no_hardware_rule_is_applied(void **state)
{
    struct trial *trial = *state;

    trial->input.model = "google/gemma-4-12B-it";
    trial->input.hardware = "H100";
    audit(trial);
    assert_int_equal(use_of(trial, "compute_roofline"), RULE_APPLIED);
    assert_int_equal(use_of(trial, "bandwidth_roofline"), RULE_APPLIED);
    for (size_t i = 0; i < trial->evidence.cell_count; i++)
        trial->evidence.cells[i].request_throughput = NAN;
    audit(trial);
    assert_int_equal(use_of(trial, "compute_roofline"), RULE_LACKS_FIGURES);
    assert_int_equal(use_of(trial, "bandwidth_roofline"), RULE_APPLIED);
    for (size_t i = 0; i < trial->evidence.cell_count; i++) {
        trial->evidence.cells[i].output_throughput = NAN;
        trial->evidence.cells[i].latency[METRIC_TPOT].mean_ms = NAN;
    }
    audit(trial);
    assert_int_equal(use_of(trial, "bandwidth_roofline"), RULE_LACKS_FIGURES);
}

static void writes_spans_and_lists_rows(void **state)
{
    struct trial *trial = *state;
    TEXT_AUTO span = { 0 };
    json_auto_t *json = NULL;

    for (size_t i = 0; i < 6; i++)
        trial->evidence.cells[i].client_limited = i != 3;
    const struct finding *finding = only(trial, "client_limited");
    finding_write_span(&trial->evidence, finding, &span);
    assert_string_equal(text_string(&span), "1-16 users, 128-1024 tokens of context");
    json = findings_json(&trial->evidence, &trial->findings);
    assert_int_equal(json_array_size(json_object_get(json_array_get(json, 0), "rows")), 5);
}

/* Whether the line lists the rule beside the mistake that it finds, as this line does:
 * "| 9 | a cold start ... | `first_shape` |". The number is missing if the mistake has none. */
static bool is_beside_its_mistake(const struct audit_rule *rule, const char *line)
{
    char name[64], number[16] = "| | ";

    snprintf(name, sizeof name, "`%s`", rule->name);
    if (rule->mistake > 0)
        snprintf(number, sizeof number, "| %d | ", rule->mistake);
    return strncmp(line, number, strlen(number)) == 0 && strstr(line, name) != NULL;
}

/* Whether the line describes the rule, as "| `first_shape` | caution or wrong | ..." does. */
static bool is_described(const struct audit_rule *rule, const char *line)
{
    char start[64];

    snprintf(start, sizeof start, "| `%s` | ", rule->name);
    return strncmp(line, start, strlen(start)) == 0;
}

static void the_document_lists_and_describes_every_rule(void **state)
{
    FILE *document = fopen(SOURCE_DIR "/docs/audit.md", "r");
    char line[1024];
    size_t found = 0, described = 0, count = 0;

    (void)state;
    assert_non_null(document);
    while (audit_rules[count].name != NULL)
        count++;
    while (fgets(line, sizeof line, document) != NULL)
        for (size_t i = 0; i < count; i++) {
            found += is_beside_its_mistake(&audit_rules[i], line);
            described += is_described(&audit_rules[i], line);
        }
    fclose(document);
    assert_int_equal(found, count);
    assert_int_equal(described, count);
}

/* Half of the requests failed, each cell took 60 s, and the number of users is not known. */
static void a_duration_near_a_usual_timeout_is_not_a_timeout(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < trial->evidence.cell_count; i++) {
        struct evidence_cell *cell = &trial->evidence.cells[i];

        cell->concurrency_actual = cell->concurrency;
        cell->request_rate_asked = (double)i + 1;
        cell->concurrency = NAN;
        cell->failed = cell->attempted / 2;
        cell->succeeded = cell->attempted - cell->failed;
        cell->success_rate = 0.5;
        cell->duration_s = 60;
        cell->request_throughput = cell->succeeded / 60;
        cell->output_throughput = 64 * cell->request_throughput;
    }
    assert_int_equal(only(trial, "low_success")->cell_count, 6);
}

/* The run has 4,006 cells. */
static void a_large_grid_of_one_run_is_clean(void **state)
{
    struct trial *trial = *state;

    for (int users = 20; users < 60; users++)
        for (int length = 2000; length < 2100; length++)
            add(trial, users, length, 300 + length / 10.0 + users * 5);
    audit(trial);
    assert_int_equal(trial->findings.count, 0);
}

/* In each of the 2000 runs, half as many requests as users are in flight. */
static void two_thousand_runs_of_one_cell_each_are_audited(void **state)
{
    struct trial *trial = *state;
    int cells = 2000;

    for (int i = 0; i < cells; i++)
        snprintf(add(trial, 100 + i, 128, 1300)->variant, 40, "model=m%d", i);
    for (size_t i = 6; i < trial->evidence.cell_count; i++)
        trial->evidence.cells[i].concurrency_actual = trial->evidence.cells[i].concurrency / 2;
    says(&only(trial, "actual_load")->consequence, "more than 16 users");
    assert_int_equal(trial->findings.at->cell_count, cells);
}

static void a_duplicate_repeats_a_cell_of_the_same_model(void **state)
{
    struct trial *trial = *state;
    const struct finding *finding;

    for (int i = 0; i < 4; i++)
        snprintf(add(trial, 4, 128, 400 + i)->variant, 40, "model=%c", "baab"[i]);
    finding = only(trial, "duplicate_cells");
    assert_int_equal(finding->cell_count, 2);
    assert_int_equal(finding->cells[0], 8);
    assert_int_equal(finding->cells[1], 9);
    says(&finding->arithmetic, "(row 8) and 9.926 (row 11)");
}

static void a_share_served_from_the_cache_is_found(void **state)
{
    struct trial *trial = *state;

    trial->evidence.cells[2].cached_share = 0.6;
    says(&only(trial, "prefix_cache")->arithmetic, "up to 60 %");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(finds_nothing_in_a_clean_run),
        TEST(littles_law_shows_that_users_were_missing),
        TEST(measured_requests_in_flight_take_precedence_over_littles_law),
        TEST(users_with_think_time_are_not_all_expected_in_flight),
        TEST(finds_an_undeclared_limit),
        TEST(finds_fewer_requests_than_users_and_bursts),
        TEST(finds_runs_that_were_appended_to_one_file),
        TEST(finds_the_same_figures_under_another_name),
        TEST(finds_speeds_and_latencies_of_failed_cells),
        TEST(finds_figures_based_on_the_few_requests_that_succeeded),
        TEST(finds_cells_in_which_the_server_stalled),
        TEST(finds_requests_that_were_too_long_and_reported_as_other_failures),
        TEST(finds_a_cold_start_inside_a_cell),
        TEST(finds_more_work_that_took_less_time),
        TEST(finds_tails_that_a_timeout_cut_off),
        TEST(finds_percentiles_of_a_single_request),
        TEST(finds_latencies_that_contradict_one_another),
        TEST(finds_outputs_too_short_to_judge_generation),
        TEST(finds_prompt_tokens_that_were_counted_as_generated),
        TEST(finds_output_tokens_that_were_not_counted),
        TEST(finds_cached_prompts_estimated_tokens_a_limited_client_and_other_clients),
        TEST(finds_recounted_tokens_and_lengths_that_were_not_requested),
        TEST(finds_rates_that_contradict_counts_or_other_rates),
        TEST(finds_queues_in_front_of_the_server),
        TEST(finds_more_arithmetic_than_the_hardware_can_do),
        TEST(finds_weights_read_faster_than_the_memory_allows),
        TEST(without_rates_no_hardware_rule_is_applied),
        TEST(a_duration_near_a_usual_timeout_is_not_a_timeout),
        TEST(a_large_grid_of_one_run_is_clean),
        TEST(two_thousand_runs_of_one_cell_each_are_audited),
        TEST(a_duplicate_repeats_a_cell_of_the_same_model),
        TEST(a_share_served_from_the_cache_is_found),
        TEST(writes_spans_and_lists_rows),
        TEST(the_document_lists_and_describes_every_rule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
