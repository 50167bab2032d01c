/* SPDX-License-Identifier: Apache-2.0 */
/* Audits 200 runs and 200 files without a fault, in which nothing is found, and 200 runs with one
 * fault each, in which only that fault, and what it implies, is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analysis/audit/audit.h"
#include "analysis/import/import.h"
#include "tests/unit/support/made_runs.h"

#define RUNS 200
#define ACCELERATOR "nvidia-h200"
#define MODEL "google/gemma-4-E2B-it"

static struct catalog *catalog;

struct made {
    struct maker maker;
    struct evidence evidence;
    struct evidence *other; /* an import that the audit compares with the run; NULL: none */
    struct findings findings;
};

static bool give_other(void *context, struct evidence *out)
{
    struct made *made = context;

    if (made->other == NULL)
        return false;
    *out = *made->other;
    free(made->other);
    made->other = NULL;
    return true;
}

static void make(int number, struct made *out)
{
    *out = (struct made){ .maker = maker_create(number) };
    maker_run(&out->maker, &out->evidence);
}

static void audit(struct made *made)
{
    const struct audit_input input = { .evidence = &made->evidence,
                                       .next_other = give_other,
                                       .context = made,
                                       .catalog = catalog,
                                       .hardware = ACCELERATOR,
                                       .model = MODEL,
                                       .chips = NAN };

    audit_run(&input, &made->findings);
}

static void made_finish(struct made *made)
{
    findings_finish(&made->findings);
    evidence_finish(&made->evidence);
}

static size_t print_findings(const struct made *made, int number)
{
    for (size_t i = 0; i < made->findings.count; i++)
        print_message("run %d (%d): %s: %s\n", number, made->maker.reporter,
                      made->findings.at[i].rule->name,
                      text_string(&made->findings.at[i].arithmetic));
    return made->findings.count;
}

static void nothing_is_found_in_clean_runs(void **state)
{
    size_t wrong = 0;

    (void)state;
    for (int number = 0; number < RUNS; number++) {
        struct made made;

        make(number, &made);
        audit(&made);
        wrong += print_findings(&made, number);
        made_finish(&made);
    }
    assert_int_equal(wrong, 0);
}

/* ---- Files ----------------------------------------------------------------------------------- */

/* Reads "model=m0, repetition=2"; both are 0 if the variant is empty. */
static void read_variant(const struct evidence_cell *cell, int *model, int *repetition)
{
    *model = *repetition = 0;
    sscanf(cell->variant, "model=m%d, repetition=%d", model, repetition);
}

static void write_table(const struct evidence *evidence, struct text *out)
{
    text_add(out, "model,repetition,concurrency,input_tokens,max_tokens,num_requests,success_rate,"
                  "avg_latency_ms,p95_latency_ms,req_per_sec,output_tokens_per_sec\n");
    for (size_t i = 0; i < evidence->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];
        int model, repetition;

        read_variant(cell, &model, &repetition);
        text_addf(out, "m%d,%d,%.0f,%.0f,%.0f,%.0f,1.0,%.2f,%.2f,%.6f,%.4f\n", model, repetition,
                  cell->concurrency, cell->input_length, cell->output_tokens_asked,
                  cell->requests_asked, cell->latency[METRIC_E2E].mean_ms,
                  cell->latency[METRIC_E2E].p95_ms, cell->request_throughput,
                  cell->output_throughput);
    }
}

static void add_latency(struct text *out, const char *name, const struct evidence_latency *latency)
{
    text_addf(out, "\"mean_%s_ms\":%.9g,\"median_%s_ms\":%.9g,\"p99_%s_ms\":%.9g,", name,
              latency->mean_ms, name, latency->p50_ms, name, latency->p99_ms);
}

static void write_vllm(const struct evidence *evidence, struct text *out)
{
    for (size_t i = 0; i < evidence->cell_count; i++) {
        const struct evidence_cell *cell = &evidence->cells[i];
        int model, repetition;

        read_variant(cell, &model, &repetition);
        text_addf(out,
                  "{\"date\":\"20260101-000000\",\"model_id\":\"m%d\",\"repetition\":%d,"
                  "\"num_prompts\":%.0f,\"request_rate\":\"inf\",\"max_concurrency\":%.0f,"
                  "\"random_input_len\":%.0f,\"random_output_len\":%.0f,\"duration\":%.9g,"
                  "\"completed\":%.0f,\"failed\":0,\"total_input_tokens\":%.0f,"
                  "\"total_output_tokens\":%.0f,\"request_throughput\":%.9g,",
                  model, repetition, cell->requests_asked, cell->concurrency, cell->input_length,
                  cell->output_tokens_asked, cell->duration_s, cell->succeeded, cell->input_tokens,
                  cell->output_tokens, cell->request_throughput);
        add_latency(out, "ttft", &cell->latency[METRIC_TTFT]);
        add_latency(out, "tpot", &cell->latency[METRIC_TPOT]);
        add_latency(out, "itl", &cell->latency[METRIC_ICL]);
        add_latency(out, "e2el", &cell->latency[METRIC_E2E]);
        text_addf(out, "\"output_throughput\":%.9g,\"total_token_throughput\":%.9g}\n",
                  cell->output_throughput, cell->total_throughput);
    }
}

/* Writes the run as a file of its tool, and replaces the run with what an import reads from the
 * file. Returns false, and changes nothing, if this test writes no files of the tool. */
static bool read_back(struct made *made)
{
    TEXT_AUTO file = { 0 };
    struct evidence read;
    struct error error;

    if (made->maker.reporter == REPORTER_TABLE)
        write_table(&made->evidence, &file);
    else if (made->maker.reporter == REPORTER_VLLM)
        write_vllm(&made->evidence, &file);
    else
        return false;
    if (!import_read(file.data, file.length, NULL, &read, &error))
        fail_msg("%s", error.message);
    assert_int_equal(read.cell_count, made->evidence.cell_count);
    evidence_finish(&made->evidence);
    made->evidence = read;
    return true;
}

static void nothing_is_found_in_clean_files(void **state)
{
    size_t wrong = 0, files = 0;

    (void)state;
    for (int number = 0; files < RUNS; number++) {
        struct made made;

        make(number, &made);
        if (read_back(&made)) {
            audit(&made);
            files++;
            wrong += print_findings(&made, number);
        }
        made_finish(&made);
    }
    assert_int_equal(wrong, 0);
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static size_t any_cell(struct made *made)
{
    return (size_t)(maker_uniform(&made->maker) * (double)made->evidence.cell_count);
}

static struct evidence_cell *cell_at(struct made *made, size_t index)
{
    return &made->evidence.cells[index];
}

static struct evidence_cell *last_cell(struct made *made)
{
    return cell_at(made, made->evidence.cell_count - 1);
}

/* Makes the cell's requests take `times` times as long; its rates and duration follow. */
static void slow_down(struct evidence_cell *cell, double times)
{
    struct evidence_latency *e2e = &cell->latency[METRIC_E2E];

    e2e->mean_ms *= times;
    e2e->min_ms *= times;
    e2e->p50_ms *= times;
    e2e->p90_ms *= times;
    e2e->p95_ms *= times;
    e2e->p99_ms *= times;
    e2e->max_ms *= times;
    cell->request_throughput /= times;
    cell->input_throughput /= times;
    cell->output_throughput /= times;
    cell->total_throughput /= times;
    cell->duration_s *= times;
}

static void append_a_run(struct made *made)
{
    size_t count = made->evidence.cell_count;

    for (size_t i = 0; i < count; i++) {
        struct evidence_cell of = *cell_at(made, i);
        struct evidence_cell *cell =
            maker_add(&made->maker, &made->evidence, of.concurrency, of.input_length, 1);

        memcpy(cell->variant, of.variant, sizeof cell->variant);
        slow_down(cell, 2.5);
    }
}

static void copy_the_run(struct made *made)
{
    made->other = malloc(sizeof *made->other);
    evidence_init(made->other);
    snprintf(made->other->id, sizeof made->other->id, "imp_other");
    for (size_t i = 0; i < made->evidence.cell_count; i++)
        *evidence_add(made->other) = *cell_at(made, i);
}

static void fail_a_cell_but_keep_its_speed(struct made *made)
{
    struct evidence_cell *cell = cell_at(made, any_cell(made));

    cell->state = EVIDENCE_FAILED;
    cell->success_rate = 0;
    cell->succeeded = 0;
}

static void lose_requests(struct made *made)
{
    struct evidence_cell *cell = last_cell(made);

    cell->success_rate = 0.6;
    if (isnan(cell->attempted))
        return;
    cell->attempted = round(cell->succeeded / 0.6);
    cell->failed = cell->attempted - cell->succeeded;
}

static void fail_cell(struct evidence_cell *cell)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        maker_forget_latency(&cell->latency[i]);
    cell->request_throughput = cell->output_throughput = cell->input_throughput = NAN;
    cell->total_throughput = cell->concurrency_actual = cell->output_tokens = NAN;
    cell->state = EVIDENCE_FAILED;
    cell->success_rate = 0;
    cell->succeeded = isnan(cell->succeeded) ? NAN : 0;
    cell->failed = cell->attempted;
}

static void fail_one_cell(struct made *made)
{
    fail_cell(cell_at(made, any_cell(made)));
}

static void refuse_a_context(struct made *made)
{
    for (size_t i = 0; i < made->maker.levels; i++) {
        struct evidence_cell *cell =
            maker_add(&made->maker, &made->evidence, made->maker.users[i], 65536, 1);

        memcpy(cell->variant, cell_at(made, 0)->variant, sizeof cell->variant);
        fail_cell(cell);
        cell->duration_s = 0.4;
    }
}

static void miss_users(struct made *made)
{
    struct evidence_cell *cell = last_cell(made);

    if (!isnan(cell->concurrency_actual))
        cell->concurrency_actual *= 0.5;
    cell->request_throughput *= 0.5;
    cell->output_throughput *= 0.5;
    cell->input_throughput *= 0.5;
    cell->total_throughput *= 0.5;
    cell->duration_s *= 2;
}

static void admit_ten_at_once(struct made *made)
{
    for (int users = 1024; users <= 8192; users *= 2) {
        struct evidence_cell *cell =
            maker_add(&made->maker, &made->evidence, users, made->maker.lengths[0], 1);
        double factor = 10 * 1000 / cell->latency[METRIC_E2E].mean_ms / cell->request_throughput;

        memcpy(cell->variant, cell_at(made, 0)->variant, sizeof cell->variant);
        cell->request_throughput *= factor;
        cell->output_throughput *= factor;
        cell->input_throughput *= factor;
        cell->total_throughput *= factor;
        cell->duration_s /= factor;
        cell->concurrency_actual *= factor;
    }
}

static void send_fewer_than_users(struct made *made)
{
    struct evidence_cell *cell = last_cell(made);

    cell->requests_asked = cell->attempted = cell->succeeded = 0.75 * cell->concurrency;
    cell->duration_s = cell->output_tokens = NAN;
    cell->latency[METRIC_E2E].p95_ms = cell->latency[METRIC_E2E].p99_ms = NAN;
    cell->latency[METRIC_TTFT].p99_ms = NAN;
    cell->concurrency_actual = NAN;
}

static void send_one_burst(struct made *made)
{
    struct evidence_cell *cell = last_cell(made);

    send_fewer_than_users(made);
    cell->requests_asked = cell->attempted = cell->succeeded = cell->concurrency;
    if (made->maker.reporter == REPORTER_VLLM)
        cell->requests_asked = cell->attempted = cell->failed = cell->success_rate = NAN;
}

static void limit_admission(struct made *made)
{
    made->evidence.facts.container_concurrency = floor(last_cell(made)->concurrency / 2);
    made->evidence.facts.max_instances = 1;
}

static void start_cold(struct made *made)
{
    struct evidence_cell *cell = cell_at(made, 0);

    slow_down(cell,
              (60000 + 20 * cell->latency[METRIC_E2E].mean_ms) / cell->latency[METRIC_E2E].mean_ms);
}

/* Slows down the cell of the second highest level: that of the lowest would look like a cold start.
 */
static void disturb_one_cell(struct made *made)
{
    slow_down(cell_at(made, made->maker.levels - 2), 6);
}

static void cut_the_tail(struct made *made)
{
    struct evidence_cell *cell = last_cell(made);

    slow_down(cell, 58000 / cell->latency[METRIC_E2E].p95_ms);
    cell->latency[METRIC_E2E].p95_ms = 59871;
    cell->latency[METRIC_E2E].p99_ms = 59979;
    cell->latency[METRIC_E2E].max_ms = 60003;
    lose_requests(made);
}

static void reduce_samples(struct made *made)
{
    struct evidence_cell *cell = cell_at(made, 0); /* it has one user */

    cell->attempted = cell->succeeded = cell->requests_asked = 5;
    cell->duration_s = 5 / cell->request_throughput;
    cell->output_tokens = cell->output_tokens_mean * 5;
    cell->input_tokens = cell->input_tokens_mean * 5;
}

static void put_the_p95_below_the_p50(struct made *made)
{
    struct evidence_latency *e2e = &cell_at(made, any_cell(made))->latency[METRIC_E2E];

    e2e->p95_ms = 0.5 * e2e->p50_ms;
}

static void answer_with_one_token(struct made *made)
{
    for (size_t i = 0; i < made->evidence.cell_count; i++) {
        struct evidence_cell *cell = cell_at(made, i);

        cell->output_throughput /= cell->output_tokens_mean;
        cell->output_tokens /= cell->output_tokens_mean;
        cell->output_tokens_mean = cell->output_tokens_asked = 1;
        cell->output_tokens_usage = isnan(cell->output_tokens_usage) ? NAN : 1;
        cell->total_throughput = cell->input_throughput + cell->output_throughput;
    }
}

static void count_prompts_as_answers(struct made *made)
{
    for (size_t i = 0; i < made->evidence.cell_count; i++) {
        struct evidence_cell *cell = cell_at(made, i);

        cell->output_tokens_asked = cell->output_tokens_mean = cell->output_tokens_usage = NAN;
        cell->output_tokens = cell->total_throughput = NAN;
        cell->latency[METRIC_TPOT].mean_ms = NAN;
        cell->output_throughput = cell->input_length * cell->request_throughput;
    }
}

static void count_no_answers(struct made *made)
{
    for (size_t i = 0; i < made->evidence.cell_count; i++) {
        struct evidence_cell *cell = cell_at(made, i);

        cell->output_tokens_asked = cell->output_tokens_mean = cell->output_tokens_usage = NAN;
        cell->output_tokens = cell->output_throughput = cell->total_throughput = NAN;
    }
}

static void answer_shorter(struct made *made)
{
    struct evidence_cell *cell = cell_at(made, any_cell(made));

    cell->output_tokens_asked = 3 * cell->output_tokens_mean;
}

static void count_by_another_tokenizer(struct made *made)
{
    for (size_t i = 0; i < made->evidence.cell_count; i++) {
        struct evidence_cell *cell = cell_at(made, i);

        cell->input_tokens_usage = 1.25 * cell->input_tokens_mean + 12;
        cell->output_tokens_usage = 1.25 * cell->output_tokens_mean;
        cell->input_length = NAN;
        cell->output_tokens_asked = NAN;
    }
}

static void serve_from_the_cache(struct made *made)
{
    struct evidence_cell *cell = cell_at(made, any_cell(made));

    cell->cached_tokens = 0.8 * cell->input_tokens;
}

static void mark_client(struct made *made)
{
    cell_at(made, any_cell(made))->client_limited = true;
}

static void mark_contaminated(struct made *made)
{
    cell_at(made, any_cell(made))->contaminated = true;
}

static void mark_uneven(struct made *made)
{
    evidence_add_warning(cell_at(made, any_cell(made)), "uneven");
}

static void mark_estimated(struct made *made)
{
    cell_at(made, any_cell(made))->tokens_estimated = true;
}

static void double_the_duration(struct made *made)
{
    struct evidence_cell *cell = cell_at(made, any_cell(made));

    cell->duration_s *= 2;
}

/* The cell reads far more prompt tokens per second than the hardware can. */
static void exceed_the_compute(struct made *made)
{
    struct evidence_cell *cell = last_cell(made);

    cell->total_throughput = 2e6;
    cell->input_throughput = cell->total_throughput - cell->output_throughput;
}

static void exceed_the_bandwidth(struct made *made)
{
    for (int i = 0; i < 2; i++)
        maker_forget_latency(&last_cell(made)->latency[i == 0 ? METRIC_TPOT : METRIC_ICL]);
    last_cell(made)->latency[METRIC_TPOT].mean_ms = 0.01;
}

static bool has_three_levels(const struct made *made)
{
    return made->maker.levels >= 3;
}

static bool reports_counts(const struct made *made)
{
    return !isnan(made->evidence.cells[0].succeeded);
}

static bool reports_success(const struct made *made)
{
    return made->maker.reporter != REPORTER_BARE;
}

static bool is_import_with_counts_and_levels(const struct made *made)
{
    return reports_counts(made) && has_three_levels(made) && made->evidence.imported;
}

static bool is_import(const struct made *made)
{
    return made->evidence.imported;
}

/* Whether the run is an import with counts and levels, and so fast that a timeout of a minute cuts
 * off only the tail. */
static bool is_quick_import(const struct made *made)
{
    return is_import_with_counts_and_levels(made)
           && made->evidence.cells[made->evidence.cell_count - 1].latency[METRIC_E2E].mean_ms
                  < 40000;
}

static bool is_import_with_counts(const struct made *made)
{
    return reports_counts(made) && made->evidence.imported;
}

static bool is_own(const struct made *made)
{
    return !made->evidence.imported;
}

static bool reports_tail(const struct made *made)
{
    return !isnan(made->evidence.cells[0].latency[METRIC_E2E].p95_ms);
}

static bool is_import_with_tokens(const struct made *made)
{
    return made->maker.reporter == REPORTER_VLLM || made->maker.reporter == REPORTER_AIPERF
           || made->maker.reporter == REPORTER_GUIDELLM;
}

static bool has_four_contexts(const struct made *made)
{
    return made->maker.contexts >= 4;
}

static bool is_import_with_six_cells(const struct made *made)
{
    return made->evidence.cell_count >= 6 && made->evidence.imported;
}

static bool is_import_with_levels(const struct made *made)
{
    return has_three_levels(made) && made->evidence.imported;
}

static const struct fault {
    const char *rule;    /* the rule that must find the fault */
    const char *implied; /* a second rule that may find the fault, too; NULL: none */
    void (*plant)(struct made *made);
    bool (*fits)(const struct made *made); /* whether the run can show the fault */
} faults[] = {
    { "duplicate_cells", NULL, append_a_run, is_import },
    { "identical_runs", NULL, copy_the_run, is_import_with_six_cells },
    { "failed_speed", NULL, fail_a_cell_but_keep_its_speed, is_import_with_counts },
    { "low_success", NULL, lose_requests, reports_success },
    { "all_failed", NULL, fail_one_cell, is_import_with_counts },
    { "misnamed_failure", NULL, refuse_a_context, is_import_with_counts },
    { "actual_load", NULL, miss_users, has_three_levels },
    { "load_plateau", "actual_load", admit_ten_at_once, is_import },
    { "request_cap", "burst", send_fewer_than_users, is_import_with_counts_and_levels },
    { "burst", NULL, send_one_burst, is_import_with_counts_and_levels },
    { "front_door", NULL, limit_admission, has_three_levels },
    { "first_shape", NULL, start_cold, is_import_with_levels },
    { "non_monotone", NULL, disturb_one_cell, has_three_levels },
    { "censored_tail", "low_success", cut_the_tail, is_quick_import },
    { "few_samples", NULL, reduce_samples, is_import_with_counts },
    { "disorder", NULL, put_the_p95_below_the_p50, reports_tail },
    { "one_token_output", NULL, answer_with_one_token, reports_success },
    { "tokens_locked_to_context", NULL, count_prompts_as_answers, has_four_contexts },
    { "unknown_output", NULL, count_no_answers, is_import },
    { "length_mismatch", NULL, answer_shorter, is_import_with_tokens },
    { "tokens_recounted", NULL, count_by_another_tokenizer, is_import_with_tokens },
    { "prefix_cache", NULL, serve_from_the_cache, reports_counts },
    { "client_limited", NULL, mark_client, is_own },
    { "contaminated", NULL, mark_contaminated, is_own },
    { "uneven", NULL, mark_uneven, is_own },
    { "tokens_estimated", NULL, mark_estimated, is_own },
    { "rates_disagree", NULL, double_the_duration, is_import_with_counts },
    { "compute_roofline", NULL, exceed_the_compute, is_own },
    { "bandwidth_roofline", NULL, exceed_the_bandwidth, is_own },
};
#define FAULTS (sizeof faults / sizeof *faults)

/* The number of findings that the planted fault does not explain, plus one if it was not found. */
static size_t count_wrong(const struct made *made, const struct fault *fault, int number)
{
    size_t wrong = 0;
    bool found = false;

    for (size_t i = 0; i < made->findings.count; i++) {
        const char *rule = made->findings.at[i].rule->name;

        if (strcmp(rule, fault->rule) == 0) {
            found = true;
        } else if (fault->implied == NULL || strcmp(rule, fault->implied) != 0) {
            wrong++;
            print_message("run %d (%d) with %s: %s: %s\n", number, made->maker.reporter,
                          fault->rule, rule, text_string(&made->findings.at[i].arithmetic));
        }
    }
    if (!found)
        print_message("run %d (%d): %s was not found\n", number, made->maker.reporter, fault->rule);
    return wrong + !found;
}

static void only_the_planted_fault_and_what_it_implies_are_found(void **state)
{
    size_t wrong = 0, planted[FAULTS] = { 0 }, runs = 0;

    (void)state;
    for (int number = 0; runs < RUNS; number++) {
        size_t kind = runs % FAULTS;
        const struct fault *fault = &faults[kind];
        struct made made;

        make(number + RUNS, &made);
        if (fault->fits(&made)) {
            fault->plant(&made);
            audit(&made);
            wrong += count_wrong(&made, fault, number + RUNS);
            planted[kind]++;
            runs++;
        }
        made_finish(&made);
    }
    for (size_t i = 0; i < FAULTS; i++)
        assert_true(planted[i] >= RUNS / FAULTS);
    assert_int_equal(wrong, 0);
}

static void every_rule_has_its_fault(void **state)
{
    (void)state;
    for (const struct audit_rule *rule = audit_rules; rule->name != NULL; rule++) {
        size_t i = 0;

        while (i < FAULTS && strcmp(faults[i].rule, rule->name) != 0)
            i++;
        if (i == FAULTS)
            fail_msg("no fault is planted for %s", rule->name);
    }
}

static int set_up(void **state)
{
    struct error error;

    (void)state;
    return catalog_create(&catalog, &error) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    catalog_destroy(catalog);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_found_in_clean_runs),
        cmocka_unit_test(nothing_is_found_in_clean_files),
        cmocka_unit_test(only_the_planted_fault_and_what_it_implies_are_found),
        cmocka_unit_test(every_rule_has_its_fault),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
