/* Sweeps as jobs, against a real model server and a real store. */
#include "bench/sweep.h"

#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/outbound.h"
#include "bench/dataset.h"
#include "bench/plan.h"
#include "store/datasets.h"
#include "tests/unit/ledger.h"

#include "tests/simserve/harness/process.h"

#define PATIENCE_MS 60000

/* What the sweep's host functions are given. */
struct rig {
    struct ledger *ledger;
    struct simserve server;
    atomic_int port;       /* of the server, as the sweep sees it */
    struct simserve other; /* of the deployment of that name */
    struct jobs *jobs;
    char bearer[64];
    bool down;
    struct testimony says[16];
    size_t says_count, said;
    int64_t context_tokens;
    int attempts;       /* begun so far, in this process's life of the sweep; of these */
    atomic_int held_at; /* that one waits to be let go, or stopped; 0: none does */
};

static bool resolve(void *context, const struct deployment *deployment, struct endpoint *out,
                    struct error *error)
{
    struct rig *rig = context;
    bool other = strcmp(deployment->name, "other") == 0;

    (void)error;
    *out = (struct endpoint){ 0 };
    snprintf(out->url, sizeof out->url, "http://%s:%d",
             strcmp(deployment->name, "alias") == 0 ? "localhost" : "127.0.0.1",
             other ? rig->other.port : atomic_load(&rig->port));
    snprintf(out->bearer, sizeof out->bearer, "%s", rig->bearer);
    return true;
}

static bool discover(void *context, const struct deployment *deployment,
                     const struct endpoint *endpoint, struct model_facts *out, struct error *error)
{
    const struct rig *rig = context;

    if (rig->down)
        return error_set(error, ERROR_UPSTREAM, "demo does not answer: connect_refused");
    *out = (struct model_facts){ .deployment_id = deployment->id, .revision = 1 };
    snprintf(out->model, sizeof out->model, "simserve/toy");
    out->context_tokens = rig->context_tokens;
    snprintf(out->engine, sizeof out->engine, "vllm");
    snprintf(out->details, sizeof out->details, "{\"at\":\"%s\"}", endpoint->url);
    return true;
}

static void *witness_begin(void *context, const struct deployment *deployment,
                           const struct endpoint *endpoint, const struct witness_watch *watch)
{
    const struct timespec pause = { .tv_nsec = 5000000 };
    struct rig *rig = context;

    assert_string_equal(endpoint->model, "simserve/toy");
    assert_true(deployment->id > 0);
    rig->attempts++;
    while (rig->attempts == atomic_load(&rig->held_at)
           && !watch->stopped(watch->context, "held by the test"))
        nanosleep(&pause, NULL);
    return context;
}

/* What the test made it say of the next attempts; then that all is well. */
static void witness_end(void *context, void *witness, const struct cell_result *result,
                        struct testimony *out)
{
    struct rig *rig = context;

    assert_ptr_equal(context, witness);
    *out = (struct testimony){ 0 };
    if (result == NULL)
        return;
    if (rig->said < rig->says_count)
        *out = rig->says[rig->said++];
    assert_true(result->state != CELL_MEASURED || result->sent.requests > 0);
    out->json = strdup("{\"seen\":1}");
}

static enum job_end run_sweep(struct job_run *run, char **outcome, struct error *error)
{
    const struct sweep_host host = { run->services, resolve, discover, witness_begin, witness_end };
    const struct sweep_job sweep = { .host = &host, .shards = 1 };

    return sweep_job_run(&sweep, run, outcome, error);
}

static void start_jobs(struct rig *rig)
{
    static const struct job_kind kinds[] = { { "sweep", run_sweep }, { 0 } };

    assert_ok(rig->ledger,
              jobs_create(rig->ledger->store, kinds, 2, rig, &rig->jobs, &rig->ledger->error));
}

/* A sweep by the plan, queued; candidate NULL: of one deployment. */
static struct sweep_row start_sweep_over(struct rig *rig, const struct deployment *deployment,
                                         const struct deployment *candidate, const char *plan_text)
{
    struct ledger *ledger = rig->ledger;
    struct change change = ledger_change("alice", "sweep_start");
    json_auto_t *arguments = json_loads(plan_text, 0, NULL);
    struct plan plan;
    struct cell_plan *cells;
    struct sweep_row row;
    size_t count;

    assert_ok(ledger, plan_read(arguments, &plan, &ledger->error));
    json_auto_t *json = plan_to_json(&plan);
    char *written = json_write(json);
    plan_cells(&plan, candidate == NULL ? 1 : 2, &cells, &count);
    const struct sweep_order order = { .deployment = deployment,
                                       .candidate = candidate,
                                       .plan_json = written,
                                       .plan_digest = "digest",
                                       .provenance_json = "{\"who\":\"alice\"}",
                                       .cells = cells,
                                       .cell_count = count,
                                       .repetitions = plan.repetitions,
                                       .arguments_digest = "" };
    assert_ok(ledger,
              sweep_create(ledger->store, &order, clock_utc_ms(), &change, &row, &ledger->error));
    free(written);
    free(cells);
    jobs_kick(rig->jobs);
    return row;
}

static struct sweep_row start_sweep_of(struct rig *rig, const char *name, const char *plan_text)
{
    struct deployment deployment = ledger_deployment(rig->ledger, name);

    return start_sweep_over(rig, &deployment, NULL, plan_text);
}

static struct sweep_row start_sweep(struct rig *rig, const char *plan_text)
{
    return start_sweep_of(rig, "demo", plan_text);
}

/* Holds that attempt at a cell before it sends anything, so that the cell is seen. */
static void hold(struct rig *rig, int attempt)
{
    atomic_store(&rig->held_at, attempt);
}

static void let_go(struct rig *rig)
{
    atomic_store(&rig->held_at, 0);
}

/* Waits until the job is in the state and its message holds the words. */
static struct job await(struct rig *rig, const char *id, enum job_state state, const char *words)
{
    int64_t until_ns = clock_monotonic_ns() + PATIENCE_MS * 1000000LL;
    struct job job;

    assert_ok(rig->ledger, jobs_show(rig->jobs, id, &job, &rig->ledger->error));
    while (job.state != state || strstr(job.message, words) == NULL) {
        if (clock_monotonic_ns() > until_ns || job.state > JOB_RUNNING)
            fail_msg("job is %s: %s %s", job_state_name(job.state), job.message, job.outcome);
        assert_ok(rig->ledger,
                  jobs_wait(rig->jobs, id, &job, 100, NULL, NULL, &job, &rig->ledger->error));
    }
    return job;
}

static struct sweep_row find_sweep(struct rig *rig, struct sweep_row *old)
{
    struct sweep_row row;

    assert_ok(rig->ledger, sweep_find(rig->ledger->store, old->id, &row, &rig->ledger->error));
    sweep_row_finish(old);
    *old = row;
    return row;
}

static struct cell_row *list_cells(struct rig *rig, const struct sweep_row *row, size_t *count)
{
    struct cell_row *cells;

    assert_ok(rig->ledger,
              cell_list(rig->ledger->store, row->id, NULL, &cells, count, &rig->ledger->error));
    return cells;
}

static void set_up(struct rig *rig, void **state, const char *const *flags)
{
    *rig = (struct rig){ .ledger = *state, .server = simserve_start(flags) };
    rig->port = rig->server.port;
    start_jobs(rig);
}

static void tear_down(struct rig *rig)
{
    jobs_destroy(rig->jobs, PATIENCE_MS);
    if (rig->server.pid != 0)
        simserve_stop(&rig->server);
    if (rig->other.pid != 0)
        simserve_stop(&rig->other);
}

#define QUICK "\"output_tokens\":[4],\"requests\":4,\"warmup_limit_s\":0"

static void check_cell(const struct cell_row *cell)
{
    const struct measurement *measurement = &cell->measurement;

    assert_int_equal(cell->state, CELL_MEASURED);
    assert_int_equal(cell->attempts, 1);
    assert_true(measurement->attempted > 0);
    assert_int_equal(measurement->succeeded, measurement->attempted);
    assert_int_equal(measurement->input_tokens_min, cell->input_tokens);
    assert_int_equal(measurement->input_tokens_max, cell->input_tokens);
    assert_int_equal(measurement->output_tokens_min, 4);
    assert_int_equal(measurement->output_tokens_max, 4);
    assert_int_equal(measurement->cached_tokens, 0);
    assert_int_equal(strlen(cell->workload_digest), 64);
    assert_string_equal(cell->witness, "{\"seen\":1}");
}

static void measures_every_cell(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;
    struct cell_row *cells;
    struct run_row *runs;
    size_t count;

    set_up(&rig, state,
           (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", "--cached-tokens-in-usage", "true",
                             NULL });
    hold(&rig, 2);
    row = start_sweep(&rig, "{\"concurrency\":[1,4],\"input_tokens\":[4,100]," QUICK "}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 2 of 4: 4 users x 4 tokens");
    let_go(&rig);
    job = await(&rig, row.job_id, JOB_COMPLETED, "");
    assert_non_null(strstr(job.outcome, "\"state\":\"completed\""));
    assert_non_null(strstr(job.outcome, "\"measured\":4"));
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "completed");
    assert_non_null(strstr(row.subjects[0].workload, "\"form\":\"ids\""));
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++)
        check_cell(&cells[i]);
    assert_string_not_equal(cells[0].workload_digest, cells[2].workload_digest);
    assert_ok(rig.ledger,
              run_list(rig.ledger->store, NULL, row.id, 0, 10, &runs, &count, &rig.ledger->error));
    assert_non_null(strstr(runs[0].fingerprint_document, "\"engine\":\"vllm\""));
    assert_non_null(strstr(runs[0].fingerprint_document, "\"model_revision\":\"3f2a9c\""));
    assert_non_null(strstr(runs[0].fingerprint_document, "\"chips\":4"));
    run_rows_free(runs, count);
    cell_rows_free(cells, 4);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void an_open_loop_is_measured_rate_by_rate(void **state)
{
    static const double rates[] = { 20, 50.5 };
    struct rig rig;
    struct sweep_row row;
    struct cell_row *cells;
    struct run_row *runs;
    size_t count;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    hold(&rig, 2);
    row = start_sweep(&rig, "{\"arrival\":\"gamma\",\"burstiness\":2,\"request_rate\":[50.5,20],"
                            "\"input_tokens\":[16]," QUICK "}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 2 of 2: 50.5 requests/s x 16 tokens");
    let_go(&rig);
    await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(count, 2);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(cells[i].state, CELL_MEASURED);
        assert_true(cells[i].request_rate == rates[i]);
        assert_true(cells[i].measurement.request_rate_asked == rates[i]);
        assert_int_equal(cells[i].concurrency, PLAN_IN_FLIGHT);
        assert_true(cells[i].measurement.latency[METRIC_QUEUE].count > 0);
    }
    cell_rows_free(cells, count);
    assert_ok(rig.ledger,
              run_list(rig.ledger->store, NULL, row.id, 0, 10, &runs, &count, &rig.ledger->error));
    assert_non_null(strstr(runs[0].fingerprint_document, "\"arrival\":\"gamma\""));
    run_rows_free(runs, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

/* Keeps a dataset; its digest into `digest`. */
static void keep_dataset(struct rig *rig, const char *file, char digest[DIGEST_TEXT_SIZE])
{
    static char lengths[] = "{}";
    struct dataset_entry entry = { .name = "chats", .kind = "prompts", .lengths = lengths };
    struct change change = ledger_change("alice", "dataset_import");
    DATASET_AUTO dataset = { 0 };
    FREE_AUTO void *packed = NULL;
    size_t length;
    bool existed;

    assert_ok(rig->ledger, dataset_read(file, strlen(file), &dataset, &rig->ledger->error));
    assert_ok(rig->ledger, dataset_pack(&dataset, &packed, &length, &rig->ledger->error));
    dataset_digest(&dataset, digest);
    snprintf(entry.digest, sizeof entry.digest, "%s", digest);
    assert_ok(rig->ledger,
              dataset_entry_create(rig->ledger->store, &entry, packed, length, clock_utc_ms(),
                                   &change, &existed, &rig->ledger->error));
}

static void prompts_of_a_dataset_are_measured_and_told(void **state)
{
    char digest[DIGEST_TEXT_SIZE], plan[512];
    const struct measurement *measurement;
    struct rig rig;
    struct sweep_row row;
    struct cell_row *cells;
    struct run_row *runs;
    size_t count;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    keep_dataset(&rig,
                 "{\"prompt\":\"one two three\",\"output_tokens\":3}\n"
                 "{\"prompt\":\"one two three four five\",\"output_tokens\":5}\n",
                 digest);
    snprintf(plan, sizeof plan,
             "{\"concurrency\":[1],\"input_tokens\":[4],\"dataset\":\"chats\","
             "\"dataset_digest\":\"%s\",\"input_distribution\":\"dataset\","
             "\"output_distribution\":\"dataset\",\"api\":\"chat\"," QUICK "}",
             digest);
    row = start_sweep(&rig, plan);
    await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[0].state, CELL_MEASURED);
    measurement = &cells[0].measurement;
    assert_int_equal(measurement->input_tokens_min, 10 + 3); /* and the template */
    assert_int_equal(measurement->input_tokens_max, 10 + 5);
    assert_int_equal(measurement->output_tokens_min, 3);
    assert_int_equal(measurement->output_tokens_max, 5);
    assert_int_equal(measurement->output_tokens_differing, 0);
    assert_int_equal(measurement->input_tokens_requested_max, 0); /* nobody asked for tokens */
    assert_true(measurement->prompts_repeated > 0);
    assert_ok(rig.ledger,
              run_list(rig.ledger->store, NULL, row.id, 0, 10, &runs, &count, &rig.ledger->error));
    assert_non_null(strstr(runs[0].fingerprint_document, digest));
    run_rows_free(runs, count);
    cell_rows_free(cells, 1);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void chat_prompts_are_exact_and_what_the_template_leaves_no_room_for_is_said(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct cell_row *cells;
    size_t count;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    row = start_sweep(&rig,
                      "{\"concurrency\":[2],\"input_tokens\":[4,64],\"api\":\"chat\"," QUICK "}");
    await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[0].state, CELL_INFEASIBLE);
    assert_non_null(strstr(cells[0].reason, "4 input tokens are too few: the server itself adds"));
    assert_non_null(strstr(cells[0].reason, "so that the shortest has 12"));
    check_cell(&cells[1]);
    assert_int_equal(cells[1].measurement.input_tokens_differing, 0);
    assert_int_equal(cells[1].measurement.input_tokens_requested_min, 64);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void a_prompt_over_the_context_is_infeasible_not_failed(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct cell_row *cells;
    size_t count;

    set_up(&rig, state,
           (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", "--max-model-len", "256", NULL });
    row = start_sweep(&rig, "{\"concurrency\":[1,4],\"input_tokens\":[64,512]," QUICK "}");
    await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[1].state, CELL_MEASURED);
    for (int i = 2; i < 4; i++) {
        assert_int_equal(cells[i].state, CELL_INFEASIBLE);
        assert_non_null(strstr(cells[i].reason, "too_long: "));
    }
    assert_int_equal(cells[2].measurement.failures[FAILURE_TOO_LONG], 1);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void a_deployment_that_is_down_fails_the_sweep_at_once(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;

    set_up(&rig, state, NULL);
    rig.down = true;
    row = start_sweep(&rig, "{\"concurrency\":[1],\"input_tokens\":[4]," QUICK "}");
    job = await(&rig, row.job_id, JOB_FAILED, "");
    assert_non_null(strstr(job.outcome, "demo does not answer: connect_refused"));
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "failed");
    assert_non_null(strstr(row.reason, "connect_refused"));
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void a_wrong_token_fails_the_sweep_and_is_not_told(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;

    set_up(&rig, state, (const char *[]){ "--api-key", "right", NULL });
    snprintf(rig.bearer, sizeof rig.bearer, "wrong-token");
    row = start_sweep(&rig, "{\"concurrency\":[1],\"input_tokens\":[4]," QUICK "}");
    job = await(&rig, row.job_id, JOB_FAILED, "");
    assert_non_null(strstr(job.outcome, "auth"));
    assert_null(strstr(job.outcome, "wrong-token"));
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void stops_when_the_deployment_fails_steadily(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;
    struct cell_row *cells;
    size_t count;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    hold(&rig, 2);
    row = start_sweep(&rig, "{\"concurrency\":[1,2,3,4,5,6],\"input_tokens\":[4]," QUICK "}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 2 of 6: 2 users");
    simserve_stop(&rig.server);
    rig.port = 9; /* nobody listens there */
    let_go(&rig);
    job = await(&rig, row.job_id, JOB_FAILED, "");
    assert_non_null(strstr(job.outcome, "3 cells in a row failed"));
    assert_non_null(strstr(job.outcome, "connect_refused"));
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "stopped");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[0].state, CELL_MEASURED);
    assert_int_equal(cells[3].state, CELL_FAILED);
    assert_true(cells[3].measurement.failures[FAILURE_CONNECT_REFUSED] > 0);
    assert_int_equal(cells[5].state, CELL_PENDING);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void a_cancel_is_heard_within_the_cell(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;
    struct attempt_row *attempts;
    struct cell_row *cells;
    size_t count;
    int64_t asked_ns;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    row = start_sweep(&rig, "{\"concurrency\":[2],\"input_tokens\":[4],\"output_tokens\":[4],"
                            "\"window_s\":600,\"warmup_limit_s\":0}");
    await(&rig, row.job_id, JOB_RUNNING, "measuring");
    asked_ns = clock_monotonic_ns();
    assert_ok(rig.ledger, jobs_cancel(rig.jobs, row.job_id, NULL, &job, &rig.ledger->error));
    await(&rig, row.job_id, JOB_CANCELLED, "");
    assert_true(clock_monotonic_ns() - asked_ns < 1000000000);
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "cancelled");
    assert_ok(rig.ledger, attempt_list(rig.ledger->store, row.id, "interrupted", &attempts, &count,
                                       &rig.ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(attempts[0].reason, "cancelled");
    free(attempts);
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[0].state, CELL_PENDING);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void waits_in_line_under_any_name_of_this_machine(void **state)
{
    struct rig rig;
    struct sweep_row first, second;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    hold(&rig, 1);
    first = start_sweep(&rig, "{\"concurrency\":[1],\"input_tokens\":[4,8]," QUICK "}");
    await(&rig, first.job_id, JOB_RUNNING, "cell 1 of 2");
    second = start_sweep_of(&rig, "alias", "{\"concurrency\":[1],\"input_tokens\":[4]," QUICK "}");
    await(&rig, second.job_id, JOB_RUNNING, "held by alice");
    let_go(&rig);
    await(&rig, first.job_id, JOB_COMPLETED, "");
    await(&rig, second.job_id, JOB_COMPLETED, "");
    sweep_row_finish(&first);
    sweep_row_finish(&second);
    tear_down(&rig);
}

static void goes_on_after_a_shutdown_where_it_was(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct cell_row *before, *after;
    char *workload;
    size_t count;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    hold(&rig, 2);
    row = start_sweep(&rig, "{\"concurrency\":[1,2,3],\"input_tokens\":[4]," QUICK "}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 2 of 3");
    jobs_destroy(rig.jobs, PATIENCE_MS);
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "running");
    workload = strdup(row.subjects[0].workload);
    before = list_cells(&rig, &row, &count);
    assert_int_equal(before[0].state, CELL_MEASURED);
    assert_int_equal(before[1].state, CELL_PENDING);
    assert_int_equal(before[1].attempts, 1);
    start_jobs(&rig);
    await(&rig, row.job_id, JOB_COMPLETED, "");
    find_sweep(&rig, &row);
    assert_string_equal(row.subjects[0].workload, workload);
    after = list_cells(&rig, &row, &count);
    assert_int_equal(after[0].attempt_id, before[0].attempt_id);
    assert_int_equal(after[0].attempts, 1);
    assert_int_equal(after[1].attempts, 2);
    assert_int_equal(after[2].state, CELL_MEASURED);
    free(workload);
    cell_rows_free(before, count);
    cell_rows_free(after, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void does_not_go_on_with_another_model(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    rig.context_tokens = 4096;
    hold(&rig, 1);
    row = start_sweep(&rig, "{\"concurrency\":[1],\"input_tokens\":[4]," QUICK "}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 1 of 1");
    jobs_destroy(rig.jobs, PATIENCE_MS);
    rig.context_tokens = 8192;
    start_jobs(&rig);
    job = await(&rig, row.job_id, JOB_FAILED, "");
    assert_non_null(strstr(job.outcome, "context in tokens was '4096', and now it is '8192'"));
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void says(struct rig *rig, enum testimony_verdict verdict, const char *reason)
{
    struct testimony *next = &rig->says[rig->says_count++];

    *next = (struct testimony){ .verdict = verdict };
    snprintf(next->reason, sizeof next->reason, "%s", reason);
    snprintf(next->served, sizeof next->served, "toy");
}

static void what_the_witness_rejects_is_measured_again_or_left(void **state)
{
    struct attempt_row *attempts;
    struct cell_row *cells;
    struct sweep_row row;
    struct rig rig;
    struct job job;
    size_t count;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    says(&rig, TESTIMONY_CONTAMINATED, "busy");
    says(&rig, TESTIMONY_NOTHING, "");
    says(&rig, TESTIMONY_OTHER_MODEL, "other");
    row = start_sweep(&rig, "{\"concurrency\":[1,2,3],\"input_tokens\":[4]," QUICK "}");
    job = await(&rig, row.job_id, JOB_COMPLETED, "");
    assert_non_null(strstr(job.outcome, "other: start a new sweep"));
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "stopped");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[0].state, CELL_MEASURED);
    assert_int_equal(cells[0].attempts, 2);
    assert_int_equal(cells[1].state, CELL_PENDING);
    assert_int_equal(cells[1].attempts, 1);
    assert_int_equal(cells[2].attempts, 0);
    cell_rows_free(cells, count);
    assert_ok(rig.ledger, attempt_list(rig.ledger->store, row.id, "rejected", &attempts, &count,
                                       &rig.ledger->error));
    assert_int_equal(count, 2);
    assert_string_equal(attempts[0].reason, "busy");
    assert_string_equal(attempts[1].reason, "other");
    free(attempts);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void check_inferred(const struct cell_row *cell)
{
    assert_int_equal(cell->state, CELL_INFERRED);
    assert_int_equal(cell->attempts, 0);
    assert_int_equal(cell->attempt_id, 0);
    assert_int_equal(cell->measurement.attempted, 0);
    assert_non_null(strstr(cell->reason, " the saturation point at "));
}

/* Eight at once: more users give no more tokens, and wait. A shutdown in the middle loses nothing.
 */
static void an_adaptive_search_measures_what_tells_and_infers_the_rest(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;
    struct cell_row *cells;
    size_t count, measured = 0;

    set_up(&rig, state,
           (const char *[]){ "--ttft-ms", "20", "--step-ms", "4", "--max-running", "8", NULL });
    hold(&rig, 3);
    row = start_sweep(&rig, "{\"concurrency\":[1,2,3,4,5,6,8,10,12,16,20,24,32,40,48,64],"
                            "\"input_tokens\":[4],\"search\":\"adaptive\",\"limit_percentile\":"
                            "\"p50\",\"limit_ttft_ms\":52,\"output_tokens\":[8],\"window_s\":1,"
                            "\"warmup_limit_s\":0.4,\"requests\":64}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 3, 0 of 16 inferred");
    jobs_destroy(rig.jobs, PATIENCE_MS);
    start_jobs(&rig);
    job = await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(count, 16);
    for (size_t i = 0; i < count; i++) {
        measured += cells[i].state == CELL_MEASURED;
        if (cells[i].state != CELL_MEASURED)
            check_inferred(&cells[i]);
    }
    assert_in_range(measured, 3, 12);
    assert_int_equal(cells[0].state, CELL_MEASURED);
    assert_non_null(strstr(job.outcome, "\"inferred\":"));
    find_sweep(&rig, &row);
    assert_string_equal(row.state, "completed");
    assert_int_equal(row.cells_done, 16);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void stops_at_its_time_limit(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;
    struct cell_row *cells;
    size_t count;

    set_up(&rig, state, (const char *[]){ "--ttft-ms", "5", "--step-ms", "2", NULL });
    row = start_sweep(&rig, "{\"concurrency\":[1],\"input_tokens\":[4],\"output_tokens\":[4],"
                            "\"window_s\":600,\"time_limit_s\":1}");
    job = await(&rig, row.job_id, JOB_COMPLETED, "");
    assert_non_null(strstr(job.outcome, "\"state\":\"stopped\""));
    assert_non_null(strstr(job.outcome, "the time limit of 1 s passed"));
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[0].state, CELL_PENDING);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

/* ---- Two deployments ---- */

static const char *const quick_server[] = { "--ttft-ms", "5", "--step-ms", "2", NULL };
static const char *const slow_server[] = { "--ttft-ms", "60", "--step-ms", "2", NULL };

static void set_up_two(struct rig *rig, void **state)
{
    set_up(rig, state, quick_server);
    rig->other = simserve_start(slow_server);
}

static void check_side(const struct cell_row *cell)
{
    double ttft_ms = cell->measurement.latency[METRIC_TTFT].min_ms;

    assert_int_equal(cell->state, CELL_MEASURED);
    if (strcmp(cell->deployment, "other") == 0)
        assert_true(ttft_ms >= 60);
    else
        assert_true(ttft_ms >= 5 && ttft_ms < 60);
}

static void takes_turns_at_two_deployments_also_after_a_shutdown(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct cell_row *cells;
    struct run_row *runs;
    size_t count;

    set_up_two(&rig, state);
    const struct deployment a = ledger_deployment(rig.ledger, "demo"),
                            b = ledger_deployment(rig.ledger, "other");
    hold(&rig, 2);
    row = start_sweep_over(
        &rig, &a, &b, "{\"concurrency\":[1],\"input_tokens\":[4],\"repetitions\":2," QUICK "}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 2 of 4: 1 user x 4 tokens on other");
    jobs_destroy(rig.jobs, PATIENCE_MS);
    start_jobs(&rig);
    await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        check_side(&cells[i]);
        assert_string_equal(cells[i].deployment, i == 1 || i == 2 ? "other" : "demo");
        assert_int_equal(cells[i].attempts, i == 1 ? 2 : 1);
        assert_string_equal(cells[i].workload_digest, cells[0].workload_digest);
    }
    assert_ok(rig.ledger,
              run_list(rig.ledger->store, NULL, row.id, 0, 10, &runs, &count, &rig.ledger->error));
    assert_int_equal(count, 4);
    assert_string_equal(runs[0].deployment, "demo");
    assert_string_equal(runs[1].deployment, "other");
    assert_string_equal(runs[3].deployment, "demo"); /* the second time it was the last */
    assert_string_equal(runs[0].fingerprint, runs[3].fingerprint);
    assert_string_not_equal(runs[0].fingerprint, runs[1].fingerprint);
    run_rows_free(runs, count);
    cell_rows_free(cells, 4);
    find_sweep(&rig, &row);
    assert_non_null(strstr(row.subjects[1].workload, "\"form\":\"ids\""));
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void sweeps_over_the_same_two_in_other_order_wait_for_one_another(void **state)
{
    static const char plan[] = "{\"concurrency\":[1],\"input_tokens\":[4]," QUICK "}";
    struct rig rig;
    struct sweep_row first, second;

    set_up_two(&rig, state);
    const struct deployment a = ledger_deployment(rig.ledger, "demo"),
                            b = ledger_deployment(rig.ledger, "other");
    first = start_sweep_over(&rig, &a, &b, plan);
    second = start_sweep_over(&rig, &b, &a, plan);
    await(&rig, first.job_id, JOB_COMPLETED, "");
    await(&rig, second.job_id, JOB_COMPLETED, "");
    sweep_row_finish(&first);
    sweep_row_finish(&second);
    tear_down(&rig);
}

static void one_server_under_two_names_is_measured_in_turns(void **state)
{
    struct rig rig;
    struct sweep_row row;

    set_up(&rig, state, quick_server);
    const struct deployment a = ledger_deployment(rig.ledger, "demo"),
                            b = ledger_deployment(rig.ledger, "alias");
    row = start_sweep_over(&rig, &a, &b, "{\"concurrency\":[1],\"input_tokens\":[4]," QUICK "}");
    await(&rig, row.job_id, JOB_COMPLETED, "");
    find_sweep(&rig, &row);
    assert_int_equal(row.cells_done, 2);
    sweep_row_finish(&row);
    tear_down(&rig);
}

/* More prompts than a window takes, and one that fits a context of 100 only with a short template.
 */
static struct sweep_row start_sweep_of_prompts(struct rig *rig, const char *candidate)
{
    const struct deployment a = ledger_deployment(rig->ledger, "demo"),
                            b = ledger_deployment(rig->ledger, candidate);
    char digest[DIGEST_TEXT_SIZE], plan[512];
    TEXT_AUTO file = { 0 };

    text_add(&file, "{\"prompt\":\"just fits\",\"output_tokens\":80}\n");
    for (int i = 0; i < 4000; i++)
        text_addf(&file, "{\"prompt\":\"number %d\",\"output_tokens\":4}\n", i);
    keep_dataset(rig, text_string(&file), digest);
    snprintf(plan, sizeof plan,
             "{\"concurrency\":[1],\"input_tokens\":[4],\"dataset\":\"chats\","
             "\"dataset_digest\":\"%s\",\"input_distribution\":\"dataset\","
             "\"output_distribution\":\"dataset\",\"api\":\"chat\"," QUICK "}",
             digest);
    rig->context_tokens = 100;
    return start_sweep_over(rig, &a, &b, plan);
}

static void two_deployments_are_sent_the_same_prompts_of_a_dataset(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct cell_row *cells;
    size_t count;

    set_up(&rig, state, quick_server);
    rig.other = simserve_start((const char *[]){ "--ttft-ms", "5", "--step-ms", "2",
                                                 "--chat-template-tokens", "30", NULL });
    row = start_sweep_of_prompts(&rig, "other");
    await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(cells[i].state, CELL_MEASURED);
        assert_int_equal(cells[i].measurement.prompts_left_out, 1);
        assert_int_equal(cells[i].measurement.prompts_repeated, 0);
    }
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void what_one_deployment_was_sent_its_server_had_before_as_another(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct cell_row *cells;
    size_t count;

    set_up(&rig, state, quick_server);
    row = start_sweep_of_prompts(&rig, "alias");
    await(&rig, row.job_id, JOB_COMPLETED, "");
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(count, 2);
    assert_int_equal(cells[0].measurement.prompts_repeated, 0);
    assert_true(cells[1].measurement.prompts_repeated > 0);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

static void stops_when_one_of_two_deployments_fails_steadily(void **state)
{
    struct rig rig;
    struct sweep_row row;
    struct job job;
    struct cell_row *cells;
    size_t count;

    set_up_two(&rig, state);
    const struct deployment a = ledger_deployment(rig.ledger, "demo"),
                            b = ledger_deployment(rig.ledger, "other");
    hold(&rig, 3);
    row = start_sweep_over(&rig, &a, &b,
                           "{\"concurrency\":[1,2,3,4,5,6],\"input_tokens\":[4]," QUICK "}");
    await(&rig, row.job_id, JOB_RUNNING, "cell 3 of 12: 2 users");
    simserve_stop(&rig.other);
    let_go(&rig);
    job = await(&rig, row.job_id, JOB_FAILED, "");
    assert_non_null(strstr(job.outcome, "3 cells in a row failed on other, the last with"));
    cells = list_cells(&rig, &row, &count);
    assert_int_equal(cells[0].state, CELL_MEASURED);
    assert_int_equal(cells[11].state, CELL_PENDING);
    cell_rows_free(cells, count);
    sweep_row_finish(&row);
    tear_down(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_every_cell),
        cmocka_unit_test(an_open_loop_is_measured_rate_by_rate),
        cmocka_unit_test(prompts_of_a_dataset_are_measured_and_told),
        cmocka_unit_test(chat_prompts_are_exact_and_what_the_template_leaves_no_room_for_is_said),
        cmocka_unit_test(a_prompt_over_the_context_is_infeasible_not_failed),
        cmocka_unit_test(a_deployment_that_is_down_fails_the_sweep_at_once),
        cmocka_unit_test(a_wrong_token_fails_the_sweep_and_is_not_told),
        cmocka_unit_test(stops_when_the_deployment_fails_steadily),
        cmocka_unit_test(a_cancel_is_heard_within_the_cell),
        cmocka_unit_test(waits_in_line_under_any_name_of_this_machine),
        cmocka_unit_test(goes_on_after_a_shutdown_where_it_was),
        cmocka_unit_test(does_not_go_on_with_another_model),
        cmocka_unit_test(what_the_witness_rejects_is_measured_again_or_left),
        cmocka_unit_test(an_adaptive_search_measures_what_tells_and_infers_the_rest),
        cmocka_unit_test(stops_at_its_time_limit),
        cmocka_unit_test(takes_turns_at_two_deployments_also_after_a_shutdown),
        cmocka_unit_test(sweeps_over_the_same_two_in_other_order_wait_for_one_another),
        cmocka_unit_test(one_server_under_two_names_is_measured_in_turns),
        cmocka_unit_test(two_deployments_are_sent_the_same_prompts_of_a_dataset),
        cmocka_unit_test(what_one_deployment_was_sent_its_server_had_before_as_another),
        cmocka_unit_test(stops_when_one_of_two_deployments_fails_steadily),
    };
    struct error error;

    if (!outbound_global_init(&error))
        return 1;
    int failed = ledger_run(tests);
    outbound_global_finish();
    return failed;
}
