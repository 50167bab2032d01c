/* SPDX-License-Identifier: Apache-2.0 */
/* Cases from real result files: some the audit must not report, others it must not miss. */
#include "tests/unit/support/audit_trial.h"

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static void assert_nothing_found(struct trial *trial)
{
    audit(trial);
    if (trial->findings.count > 0)
        fail_msg("%s: %s", trial->findings.at[0].rule->name,
                 text_string(&trial->findings.at[0].arithmetic));
}

static bool has(struct trial *trial, const char *rule)
{
    for (size_t i = 0; i < trial->findings.count; i++)
        if (strcmp(trial->findings.at[i].rule->name, rule) == 0)
            return true;
    return false;
}

/* Sets how long the cell's requests take, and the rates and the duration that follow from that. */
static void set_time(struct evidence_cell *cell, double mean_ms)
{
    struct evidence_latency *e2e = &cell->latency[METRIC_E2E];

    e2e->mean_ms = e2e->p50_ms = mean_ms;
    e2e->p95_ms = 1.2 * mean_ms;
    cell->request_throughput = cell->concurrency * 1000 / mean_ms;
    cell->output_throughput = 64 * cell->request_throughput;
    cell->duration_s = cell->succeeded / cell->request_throughput;
}

static void a_chat_template_is_not_a_second_tokenizer(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < trial->evidence.cell_count; i++) {
        struct evidence_cell *cell = &trial->evidence.cells[i];

        cell->input_tokens_mean = cell->input_length;
        cell->input_tokens_usage = cell->input_length + 27;
        cell->output_tokens_usage = cell->output_tokens_mean + 1;
    }
    assert_nothing_found(trial);
    for (size_t i = 0; i < trial->evidence.cell_count; i++) /* a single length */
        trial->evidence.cells[i].input_length = trial->evidence.cells[i].input_tokens_mean = 256;
    trial->evidence.cell_count = 1;
    trial->evidence.cells[0].input_tokens_usage = 283;
    assert_nothing_found(trial);
}

static void runs_that_request_no_output_are_reported_only_if_they_state_an_output_rate(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < trial->evidence.cell_count; i++) {
        struct evidence_cell *cell = &trial->evidence.cells[i];

        cell->input_throughput = cell->input_length * cell->request_throughput;
        cell->output_tokens_asked = cell->output_tokens_mean = 0;
        cell->output_throughput = NAN;
    }
    assert_nothing_found(trial);
    trial->evidence.cells[0].output_throughput = 640;
    audit(trial);
    assert_true(has(trial, "one_token_output"));
}

static void a_rate_may_differ_by_the_rounding_of_the_duration(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *cell = &trial->evidence.cells[0];

    trial->evidence.cell_count = 1; /* 800 answers in 0.1249 s, printed as 0.12 */
    evidence_cell_read(NULL, cell);
    cell->state = EVIDENCE_MEASURED;
    cell->row = 2;
    cell->succeeded = 800;
    cell->request_throughput = 6403;
    cell->duration_s = 0.12;
    audit(trial);
    assert_false(has(trial, "rates_disagree"));
    cell->request_throughput = 6000; /* 800 answers at this rate would take 0.133 s */
    audit(trial);
    assert_true(has(trial, "rates_disagree"));
}

static void a_second_tokenizer_is_found_whether_it_counts_more_or_fewer(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < trial->evidence.cell_count; i++) {
        struct evidence_cell *cell = &trial->evidence.cells[i];

        cell->input_tokens_mean = cell->input_length;
        cell->input_tokens_usage = 1.06 * cell->input_length + 10;
    }
    assert_int_equal(only(trial, "tokens_recounted")->cell_count, 6);
    for (size_t i = 0; i < trial->evidence.cell_count; i++)
        trial->evidence.cells[i].input_tokens_usage = 0.8 * trial->evidence.cells[i].input_length;
    trial->evidence.input_unit = LENGTH_UNKNOWN;
    only(trial, "tokens_recounted");
}

/* Gives one other run: this run as it was before its facts were corrected. */
static bool give_uncorrected_once(void *context, struct evidence *out)
{
    struct trial *trial = context;

    if (trial->next_other_calls++ > 0)
        return false;
    evidence_init(out);
    snprintf(out->id, sizeof out->id, "imp_before");
    snprintf(out->digest, sizeof out->digest, "%s", trial->evidence.digest);
    for (size_t i = 0; i < trial->evidence.cell_count; i++)
        *evidence_add(out) = trial->evidence.cells[i];
    return true;
}

static void the_import_that_this_one_corrects_is_not_a_copy(void **state)
{
    struct trial *trial = *state;

    snprintf(trial->evidence.id, sizeof trial->evidence.id, "imp_after");
    snprintf(trial->evidence.digest, sizeof trial->evidence.digest, "abc123");
    trial->input.next_other = give_uncorrected_once;
    trial->input.context = trial;
    assert_nothing_found(trial);
    assert_int_equal(trial->next_other_calls, 2);
}

/* No failed request timed out, and the p95 of the successful ones is at, or just below, a round
 * number. */
static void a_round_percentile_of_the_successful_requests_is_not_a_timeout(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *cell = &trial->evidence.cells[5];

    set_time(cell, 22000);
    cell->latency[METRIC_E2E].p95_ms = 30000;
    cell->duration_s = cell->output_throughput = NAN;
    cell->success_rate = 0.9;
    assert_int_equal(only(trial, "low_success")->cell_count, 1);
    cell->latency[METRIC_E2E].p95_ms = 29870;
    cell->error = strdup("503 Service Unavailable");
    only(trial, "low_success");
}

/* The requests that succeeded all took about equally long; the others were refused. */
static void refusals_by_a_steady_server_are_not_a_timeout(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *cell = &trial->evidence.cells[5];

    set_time(cell, 9900);
    cell->latency[METRIC_E2E].p95_ms = 9950;
    cell->latency[METRIC_E2E].p99_ms = 9960;
    cell->latency[METRIC_E2E].max_ms = 9973;
    cell->duration_s = cell->output_throughput = NAN;
    cell->success_rate = 0.97;
    only(trial, "low_success");
}

static void a_timeout_finding_prints_no_nan(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *cell = &trial->evidence.cells[5];

    set_time(cell, 32000);
    cell->latency[METRIC_E2E].p95_ms = 59870;
    cell->duration_s = cell->output_throughput = NAN;
    cell->success_rate = 0.9;
    audit(trial);
    assert_true(has(trial, "censored_tail"));
    for (size_t i = 0; i < trial->findings.count; i++)
        assert_null(strstr(text_string(&trial->findings.at[i].arithmetic), "nan"));
}

/* The second run was measured on a slower machine, and has one more context. */
static void two_runs_in_one_file_are_not_taken_for_noise_in_one_run(void **state)
{
    struct trial *trial = *state;
    size_t count = trial->evidence.cell_count;

    for (size_t i = 0; i < count; i++) {
        struct evidence_cell *cell = &trial->evidence.cells[i];

        add(trial, cell->concurrency, cell->input_length, 3 * cell->latency[METRIC_E2E].mean_ms);
        cell = &trial->evidence.cells[i];
        if (i % 2 == 0)
            add(trial, cell->concurrency, 64, 2.8 * cell->latency[METRIC_E2E].mean_ms);
    }
    assert_int_equal(only(trial, "duplicate_cells")->cell_count, count);
}

static void repetitions_in_adjacent_rows_are_not_taken_for_noise_in_one_run(void **state)
{
    struct trial *trial = *state;

    trial->evidence.cell_count = 0;
    for (int users = 1; users <= 16; users *= 4)
        for (int repetition = 0; repetition < 3; repetition++)
            add(trial, users, 128, (300 + users * 5) * (repetition == 1 ? 2 : 1));
    only(trial, "duplicate_cells");
}

/* Requests took about twice as long in the first cell, with one user, as with four users. */
static void a_cold_start_is_not_taken_for_noise(void **state)
{
    struct trial *trial = *state;

    set_time(&trial->evidence.cells[0], 700);
    assert_int_equal(only(trial, "first_shape")->weight, FINDING_CAUTION);
    assert_int_equal(trial->findings.at[0].cell_count, 1);
}

/* The prompts of a single user were processed; with more users, they came from the cache. */
static void cached_cells_are_found_but_not_those_that_filled_the_cache(void **state)
{
    struct trial *trial = *state;

    trial->evidence.cell_count = 0;
    for (int length = 1024; length <= 16384; length *= 2)
        for (int users = 1; users <= 8; users *= 2)
            set_time(add(trial, users, length, 300),
                     users == 1 ? length * 0.33 : 150 + length / 100);
    for (size_t i = 0; i < trial->evidence.cell_count; i++)
        trial->evidence.cells[i].output_tokens_asked = 64;
    const struct finding *finding = only(trial, "prefix_cache");
    assert_int_equal(finding->weight, FINDING_WRONG);
    assert_int_equal(finding->cell_count, 15);
    assert_int_equal(finding->cells[0], 1);
    says(&finding->arithmetic,
         "16384 tokens of context took 5.407 s at 1 user (row 18), but 0.313 s");
}

static void each_model_in_a_file_is_judged_by_its_own_size(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *small = add(trial, 16, 8192, 1300), *large;

    snprintf(small->variant, sizeof small->variant, "model=google/gemma-4-E2B-it");
    trial->input.model = "google/gemma-4-31B-it";
    trial->input.hardware = "L4";
    trial->input.chips = 16;
    assert_nothing_found(trial);
    large = add(trial, 16, 8192, 1300);
    snprintf(large->variant, sizeof large->variant, "model=google/gemma-4-31B-it");
    assert_int_equal(only(trial, "compute_roofline")->cell_count, 1);
    assert_int_equal(trial->findings.at[0].cells[0], 7);
}

static void pauses_of_a_single_user_between_requests_are_not_missing_load(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < 2; i++) {
        trial->evidence.cells[i].request_throughput *= 0.86;
        trial->evidence.cells[i].output_throughput *= 0.86;
        trial->evidence.cells[i].duration_s /= 0.86;
    }
    assert_nothing_found(trial);
}

static void a_speed_in_our_own_failed_cell_is_not_reported(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *cell = &trial->evidence.cells[5];

    trial->evidence.imported = false;
    cell->state = EVIDENCE_FAILED;
    cell->success_rate = 0.2;
    assert_nothing_found(trial);
}

static struct evidence_cell *add_failed(struct trial *trial, double users, double length)
{
    struct evidence_cell *cell = evidence_add(&trial->evidence);

    cell->row = (int64_t)trial->evidence.cell_count + 1;
    cell->state = EVIDENCE_FAILED;
    cell->concurrency = users;
    cell->input_length = length;
    cell->success_rate = 0;
    return cell;
}

static void a_context_that_fails_at_once_with_one_user_was_too_long(void **state)
{
    struct trial *trial = *state;

    for (int users = 1; users <= 16; users *= 4)
        for (int length = 16384; length <= 32768; length *= 2)
            add_failed(trial, users, length)->duration_s = 0.4;
    const struct finding *finding = only(trial, "misnamed_failure");
    assert_int_equal(finding->cell_count, 6);
    says(&finding->arithmetic, "from 16384 tokens of context on, everything fails, even at 1 user "
                               "(row 8), where failing takes less than 2 s");
}

static void the_failure_shown_has_the_shortest_context_and_the_fewest_users(void **state)
{
    struct trial *trial = *state;

    for (int users = 16; users >= 1; users /= 4)
        for (int length = 32768; length >= 16384; length /= 2)
            add_failed(trial, users, length)->duration_s = users > 1 ? 9 : 0.4;
    says(&only(trial, "misnamed_failure")->arithmetic,
         "from 16384 tokens of context on, everything fails, even at 1 user (row 13)");
}

static void cells_in_which_all_requests_failed_are_reported(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *cell = add_failed(trial, 64, 128);

    cell->failed = cell->attempted = 8;
    cell->succeeded = 0;
    says(&only(trial, "all_failed")->arithmetic, "8 of 8 requests failed");
}

/* Each burst takes 60 s, the timeout, plus the time until its last request begins. The file reports
 * neither durations nor percentiles above the median. */
static void a_timeout_is_found_from_how_long_each_burst_took(void **state)
{
    struct trial *trial = *state;

    for (int i = 0; i < 3; i++) {
        double users = 512 << i, success = 0.9 - 0.2 * i;
        struct evidence_cell *cell = add(trial, users, 128, 30000);

        cell->attempted = cell->succeeded = cell->failed = NAN;
        cell->requests_asked = NAN;
        cell->success_rate = success;
        cell->duration_s = cell->output_throughput = NAN;
        cell->latency[METRIC_E2E].p95_ms = NAN;
        cell->request_throughput = success * users / (61 + 4.5 * i);
        cell->concurrency_actual = users;
    }
    audit(trial);
    assert_true(has(trial, "censored_tail"));
    assert_int_equal(trial->findings.count, 2); /* low_success is also found */
}

static void equal_windows_are_not_a_timeout_if_the_rates_show_many_requests_per_user(void **state)
{
    struct trial *trial = *state;

    for (int i = 0; i < 3; i++) {
        struct evidence_cell *cell = add(trial, 32 << i, 128, 2000);

        cell->attempted = cell->succeeded = cell->failed = cell->requests_asked = NAN;
        cell->success_rate = 0.98;
        cell->duration_s = 60.2;
    }
    audit(trial);
    assert_false(has(trial, "censored_tail"));
}

static void a_burst_is_found_even_if_only_completed_requests_are_reported(void **state)
{
    struct trial *trial = *state;
    struct evidence_cell *cell = &trial->evidence.cells[5];

    cell->attempted = cell->failed = cell->success_rate = NAN;
    cell->succeeded = 16;
    cell->duration_s = NAN;
    cell->latency[METRIC_E2E].p95_ms = NAN;
    says(&only(trial, "burst")->arithmetic, "16 requests for 16 users (row 7)");
}

static void a_lower_ttft_at_two_users_is_a_cache_effect_unless_caching_is_off(void **state)
{
    struct trial *trial = *state;
    const double ttft_ms[] = { 1442, 372, 380, 420 };

    trial->evidence.cell_count = 0;
    for (int i = 0; i < 4; i++) {
        struct evidence_cell *cell = add(trial, 1 << i, 4096, 3000 + i);

        cell->latency[METRIC_TTFT].p50_ms = ttft_ms[i];
    }
    assert_int_equal(only(trial, "prefix_cache")->cell_count, 3);
    says(&trial->findings.at[0].arithmetic,
         "4096 tokens of context took 1.442 s at 1 user (row 2), but 0.372 s at 2 (row 3)");
    snprintf(trial->evidence.facts.flags, sizeof trial->evidence.facts.flags,
             "--no-enable-prefix-caching");
    audit(trial);
    assert_false(has(trial, "prefix_cache"));
}

static void a_lower_ttft_at_two_users_is_found_after_a_row_with_no_stated_users(void **state)
{
    struct trial *trial = *state;
    const double users[] = { NAN, 1, 2 }, ttft_ms[] = { 400, 1442, 372 };

    trial->evidence.cell_count = 0;
    for (int i = 0; i < 3; i++)
        add(trial, users[i], 4096, 3000 + i)->latency[METRIC_TTFT].p50_ms = ttft_ms[i];
    audit(trial);
    assert_true(has(trial, "prefix_cache"));
}

static void a_single_prompt_for_all_requests_is_reported_if_the_run_states_it(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < trial->evidence.cell_count; i++)
        trial->evidence.cells[i].original =
            json_pack("{s:s}", "Prompt", "Write a story about a robot.");
    assert_int_equal(only(trial, "prefix_cache")->cell_count, 6);
    says(&trial->findings.at[0].arithmetic, "\"Write a story about a robot.\"");
    json_object_set_new(trial->evidence.cells[1].original, "Prompt", json_string("Another one."));
    assert_nothing_found(trial);
    snprintf(trial->evidence.facts.workload, sizeof trial->evidence.facts.workload,
             "the same prompt each time");
    only(trial, "prefix_cache");
    snprintf(trial->evidence.facts.workload, sizeof trial->evidence.facts.workload,
             "more than one prompt per user");
    assert_nothing_found(trial);
    trial->evidence.facts.workload[0] = '\0';
    for (size_t i = 0; i < trial->evidence.cell_count; i++)
        json_object_del(trial->evidence.cells[i].original, "Prompt");
    assert_nothing_found(trial);
    snprintf(trial->evidence.facts.dataset, sizeof trial->evidence.facts.dataset, "fixed prompt");
    only(trial, "prefix_cache");
}

/* The rates are off by up to 1.2 %, and the chat template adds nine tokens. */
static void output_tokens_that_include_the_context_are_found_despite_rounding(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < trial->evidence.cell_count; i++) {
        struct evidence_cell *cell = &trial->evidence.cells[i];

        cell->output_tokens_mean = cell->output_tokens_asked = NAN;
        cell->output_throughput =
            (cell->input_length + 9) * cell->request_throughput * (i % 2 == 0 ? 1.012 : 0.99);
    }
    assert_int_equal(only(trial, "tokens_locked_to_context")->cell_count, 6);
}

static void requesting_as_many_output_as_input_tokens_is_not_reported(void **state)
{
    struct trial *trial = *state;

    for (size_t i = 0; i < trial->evidence.cell_count; i++) {
        struct evidence_cell *cell = &trial->evidence.cells[i];

        cell->output_tokens_mean = cell->output_tokens_asked = cell->input_length;
        cell->output_throughput = cell->input_length * cell->request_throughput;
    }
    assert_nothing_found(trial);
}

static void add_level(struct trial *trial, double users, double in_flight)
{
    struct evidence_cell *cell = add(trial, users, 128, 400 + users / 10);

    cell->request_throughput = in_flight * 1000 / cell->latency[METRIC_E2E].mean_ms;
    cell->output_throughput = cell->duration_s = NAN;
}

/* The server admits at most ten requests in the first series, and a hundred in the second. */
static void a_second_plateau_is_found_below_the_highest(void **state)
{
    struct trial *trial = *state;

    trial->evidence.cell_count = 0;
    for (int users = 16; users <= 64; users *= 2)
        add_level(trial, users, 10);
    for (int users = 256; users <= 1024; users *= 2)
        add_level(trial, users, 100);
    audit(trial);
    assert_int_equal(trial->findings.count, 3); /* actual_load is also found */
    says(&trial->findings.at[1].arithmetic, "about 100 requests");
    says(&trial->findings.at[2].arithmetic, "about 10 requests");
    assert_int_equal(trial->findings.at[2].cell_count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_chat_template_is_not_a_second_tokenizer),
        TEST(runs_that_request_no_output_are_reported_only_if_they_state_an_output_rate),
        TEST(a_rate_may_differ_by_the_rounding_of_the_duration),
        TEST(a_second_tokenizer_is_found_whether_it_counts_more_or_fewer),
        TEST(the_import_that_this_one_corrects_is_not_a_copy),
        TEST(a_round_percentile_of_the_successful_requests_is_not_a_timeout),
        TEST(refusals_by_a_steady_server_are_not_a_timeout),
        TEST(a_timeout_finding_prints_no_nan),
        TEST(two_runs_in_one_file_are_not_taken_for_noise_in_one_run),
        TEST(repetitions_in_adjacent_rows_are_not_taken_for_noise_in_one_run),
        TEST(a_cold_start_is_not_taken_for_noise),
        TEST(cached_cells_are_found_but_not_those_that_filled_the_cache),
        TEST(each_model_in_a_file_is_judged_by_its_own_size),
        TEST(pauses_of_a_single_user_between_requests_are_not_missing_load),
        TEST(a_speed_in_our_own_failed_cell_is_not_reported),
        TEST(a_context_that_fails_at_once_with_one_user_was_too_long),
        TEST(the_failure_shown_has_the_shortest_context_and_the_fewest_users),
        TEST(cells_in_which_all_requests_failed_are_reported),
        TEST(a_timeout_is_found_from_how_long_each_burst_took),
        TEST(equal_windows_are_not_a_timeout_if_the_rates_show_many_requests_per_user),
        TEST(a_burst_is_found_even_if_only_completed_requests_are_reported),
        TEST(a_lower_ttft_at_two_users_is_a_cache_effect_unless_caching_is_off),
        TEST(a_lower_ttft_at_two_users_is_found_after_a_row_with_no_stated_users),
        TEST(a_single_prompt_for_all_requests_is_reported_if_the_run_states_it),
        TEST(output_tokens_that_include_the_context_are_found_despite_rounding),
        TEST(requesting_as_many_output_as_input_tokens_is_not_reported),
        TEST(a_second_plateau_is_found_below_the_highest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
