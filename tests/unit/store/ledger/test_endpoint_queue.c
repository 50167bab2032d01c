/* SPDX-License-Identifier: Apache-2.0 */
/* Which sweep may measure next. At each endpoint, sweeps wait in a line; principals and endpoints
 * take turns. */
#include "base/core/random.h"
#include "base/core/text.h"
#include "store/ledger/questions.h"
#include "store/ledger/store.h"
#include "tests/unit/support/backdoor.h"
#include "tests/unit/support/ledger.h"

#define LEASE_MS 1000

static struct deployment deploy(struct ledger *ledger, const char *name, const char *url)
{
    struct deployment wanted = { .model = "gemma" }, stored;

    snprintf(wanted.name, sizeof wanted.name, "%s", name);
    snprintf(wanted.url, sizeof wanted.url, "%s", url);
    assert_ok(ledger, deployment_add(ledger->store, &wanted, 1000, NULL, &stored, &ledger->error));
    return stored;
}

static struct deployment deploy_nth(struct ledger *ledger, int number)
{
    char name[16], url[40];

    snprintf(name, sizeof name, "d%d", number);
    snprintf(url, sizeof url, "http://127.0.0.1:%d", 1000 + number);
    return deploy(ledger, name, url);
}

/* A principal's request for a sweep. */
struct request {
    const char *principal;
    const char *key; /* the idempotency key; NULL: none */
    const struct deployment *deployment, *candidate;
    int64_t limit; /* the principal's maximum number of queued and running sweeps; 0: no limit */
};

static bool start_sweep(struct ledger *ledger, const struct request *request, struct sweep_row *out)
{
    static const struct cell_plan cells[] = {
        { .concurrency = 1, .input_tokens = 4, .output_tokens = 4, .repetition = 1 },
        { .concurrency = 1,
          .input_tokens = 4,
          .output_tokens = 4,
          .repetition = 1,
          .position = 1,
          .subject = 1 },
    };
    struct change change = ledger_change(request->principal, "sweep_start");
    const struct sweep_order order = { .deployment = request->deployment,
                                       .candidate = request->candidate,
                                       .plan_json = "{}",
                                       .plan_digest = "plan",
                                       .provenance_json = "{}",
                                       .cells = cells,
                                       .cell_count = request->candidate == NULL ? 1 : 2,
                                       .repetitions = 1,
                                       .active_limit = request->limit,
                                       .idempotency_key = request->key,
                                       .arguments_digest = "" };

    return sweep_create(ledger->store, &order, 10, &change, out, &ledger->error);
}

/* Queues a sweep over one deployment or, if `candidate` is not NULL, over a pair of deployments.
 * Writes the id of the sweep's job to `job`, unless `job` is NULL. */
static void queue(struct ledger *ledger, const char *principal, const struct deployment *deployment,
                  const struct deployment *candidate, char job[ID_SIZE])
{
    const struct request request = { principal, NULL, deployment, candidate, 0 };
    struct sweep_row row;

    assert_ok(ledger, start_sweep(ledger, &request, &row));
    if (job != NULL)
        text_copy(job, ID_SIZE, row.job_id);
    sweep_row_finish(&row);
}

static void queue_many(struct ledger *ledger, const char *principal,
                       const struct deployment *deployment, int count)
{
    for (int i = 0; i < count; i++)
        queue(ledger, principal, deployment, NULL, NULL);
}

static bool claim_for(struct ledger *ledger, const char *owner, struct job *out)
{
    static const char *const kinds[] = { "sweep", NULL };
    bool found;

    assert_ok(ledger,
              job_claim(ledger->store, owner, kinds, 100, LEASE_MS, out, &found, &ledger->error));
    return found;
}

static bool claim(struct ledger *ledger, struct job *out)
{
    return claim_for(ledger, "me", out);
}

static struct job claimed(struct ledger *ledger)
{
    struct job job;

    assert_true(claim(ledger, &job));
    return job;
}

static void assert_claims(struct ledger *ledger, const char *id)
{
    assert_string_equal(claimed(ledger).id, id);
}

static void assert_none_can_be_claimed(struct ledger *ledger)
{
    struct job job;

    assert_false(claim(ledger, &job));
}

static struct claim claim_of(const struct job *job)
{
    struct claim claim = { .fence = job->fence };

    text_copy(claim.job_id, sizeof claim.job_id, job->id);
    return claim;
}

static void finish(struct ledger *ledger, const struct job *job)
{
    struct claim held = claim_of(job);

    assert_ok(ledger,
              job_finish(ledger->store, &held, &(struct job_ending){ .state = JOB_COMPLETED }, 200,
                         &ledger->error));
}

/* Claims and finishes jobs until none can be claimed, and appends the initials of their principals
 * to `turns`. */
static void serve_all(struct ledger *ledger, struct text *turns)
{
    struct job job;

    while (claim(ledger, &job)) {
        text_add_char(turns, job.principal[0]);
        finish(ledger, &job);
    }
}

static void cancel(struct ledger *ledger, const char *job)
{
    struct job out;

    assert_ok(ledger, job_cancel(ledger->store, job, 300, NULL, &out, &ledger->error));
    assert_int_equal(out.state, JOB_CANCELLED);
}

static void assert_place(struct ledger *ledger, const char *job, size_t expected)
{
    struct line_place place;
    bool found;

    assert_ok(ledger, job_line_place(ledger->store, job, &place, &found, &ledger->error));
    assert_true(found);
    assert_int_equal(place.place, expected);
}

static void a_line_of_300_sweeps_delays_nobody_at_an_idle_endpoint(void **state)
{
    struct ledger *ledger = *state;
    struct deployment a = deploy(ledger, "a", "http://127.0.0.1:1001"),
                      b = deploy(ledger, "b", "http://127.0.0.1:1002"),
                      c = deploy(ledger, "c", "http://127.0.0.1:1003");
    char idle[ID_SIZE], own[ID_SIZE], last[ID_SIZE];

    queue_many(ledger, "alice", &a, 299);
    queue(ledger, "alice", &a, NULL, last);
    queue(ledger, "bob", &b, NULL, idle);
    queue(ledger, "alice", &c, NULL, own);
    assert_string_equal(claimed(ledger).principal, "alice");
    assert_place(ledger, last, 299);
    assert_claims(ledger, idle);
    assert_claims(ledger, own);
    assert_none_can_be_claimed(ledger);
}

static void loopback_addresses_with_the_same_port_are_one_endpoint(void **state)
{
    struct ledger *ledger = *state;
    struct deployment a = deploy(ledger, "a", "http://localhost:1001"),
                      b = deploy(ledger, "b", "http://127.0.0.1:1001/x"),
                      c = deploy(ledger, "c", "http://[::1]:1001");

    queue(ledger, "alice", &a, NULL, NULL);
    queue(ledger, "bob", &b, NULL, NULL);
    queue(ledger, "carol", &c, &b, NULL);
    claimed(ledger);
    assert_none_can_be_claimed(ledger);
}

static void principals_take_turns_at_an_endpoint(void **state)
{
    struct ledger *ledger = *state;
    struct deployment a = deploy(ledger, "a", "http://127.0.0.1:1001");
    TEXT_AUTO turns = { 0 };
    struct job first;

    queue_many(ledger, "alice", &a, 6);
    first = claimed(ledger);
    queue_many(ledger, "bob", &a, 3);
    queue_many(ledger, "carol", &a, 1);
    finish(ledger, &first);
    serve_all(ledger, &turns);
    assert_string_equal(text_string(&turns), "bcababaaa");
}

/* A principal that comes back after each turn gets no more turns than one that queued everything at
 * once. */
static void a_new_request_after_each_job_wins_no_extra_turn(void **state)
{
    struct ledger *ledger = *state;
    struct deployment a = deploy(ledger, "a", "http://127.0.0.1:1001");
    TEXT_AUTO turns = { 0 };

    queue_many(ledger, "alice", &a, 5);
    queue_many(ledger, "bob", &a, 1);
    queue_many(ledger, "carol", &a, 1);
    for (int i = 0; i < 9; i++) {
        struct job job = claimed(ledger);

        text_add_char(&turns, job.principal[0]);
        finish(ledger, &job);
        if (job.principal[0] != 'a')
            queue_many(ledger, job.principal, &a, 1);
    }
    assert_string_equal(text_string(&turns), "abcabcabc");
}

static void the_jobs_of_a_principal_run_in_the_order_of_their_requests(void **state)
{
    struct ledger *ledger = *state;
    struct deployment a = deploy(ledger, "a", "http://127.0.0.1:1001");
    char ids[4][ID_SIZE];

    for (int i = 0; i < 4; i++)
        queue(ledger, "alice", &a, NULL, ids[i]);
    for (int i = 0; i < 4; i++) {
        struct job job = claimed(ledger);

        assert_string_equal(job.id, ids[i]);
        finish(ledger, &job);
    }
}

static void a_cancelled_job_leaves_its_turn_to_its_principals_next_job(void **state)
{
    struct ledger *ledger = *state;
    struct deployment a = deploy(ledger, "a", "http://127.0.0.1:1001");
    char ids[9][ID_SIZE];
    TEXT_AUTO turns = { 0 };

    queue(ledger, "zoe", &a, NULL, NULL);
    struct job first = claimed(ledger);
    for (int i = 0; i < 9; i++)
        queue(ledger, "alice", &a, NULL, ids[i]);
    queue_many(ledger, "bob", &a, 4);
    for (int i = 0; i < 8; i++)
        cancel(ledger, ids[i]);
    assert_place(ledger, ids[8], 1);
    finish(ledger, &first);
    serve_all(ledger, &turns);
    assert_string_equal(text_string(&turns), "abbbb");
}

static void free_workers_go_to_the_principal_with_the_fewest_running_jobs(void **state)
{
    struct ledger *ledger = *state;
    struct deployment at[6];
    TEXT_AUTO turns = { 0 };

    for (int i = 0; i < 6; i++) {
        at[i] = deploy_nth(ledger, i);
        queue(ledger, i < 4 ? "alice" : "bob", &at[i], NULL, NULL);
    }
    for (int i = 0; i < 6; i++)
        text_add_char(&turns, claimed(ledger).principal[0]);
    assert_string_equal(text_string(&turns), "ababaa");
}

/* With one worker, a long line at one endpoint does not delay the same principal's job at another
 * endpoint. */
static void endpoints_take_turns_too(void **state)
{
    struct ledger *ledger = *state;
    struct deployment a = deploy(ledger, "a", "http://127.0.0.1:1001"),
                      b = deploy(ledger, "b", "http://127.0.0.1:1002");
    char other[ID_SIZE];
    struct job job;

    queue_many(ledger, "alice", &a, 20);
    queue(ledger, "alice", &b, NULL, other);
    job = claimed(ledger);
    finish(ledger, &job);
    assert_claims(ledger, other);
}

static void a_pair_holds_its_first_endpoint_while_it_waits_for_its_second(void **state)
{
    struct ledger *ledger = *state;
    struct deployment a = deploy(ledger, "a", "http://127.0.0.1:1001"),
                      b = deploy(ledger, "b", "http://127.0.0.1:1002");
    char pair[ID_SIZE], single[ID_SIZE];
    struct endpoint_lease *rows;
    struct job at_b;
    size_t count;

    queue(ledger, "bob", &b, NULL, NULL);
    at_b = claimed(ledger);
    queue(ledger, "alice", &b, &a, pair);
    assert_none_can_be_claimed(ledger);
    queue(ledger, "bob", &a, NULL, single);
    queue(ledger, "bob", &b, NULL, NULL);
    assert_none_can_be_claimed(ledger);
    assert_ok(ledger, endpoint_lease_list(ledger->store, &rows, &count, &ledger->error));
    assert_int_equal(count, 5);
    assert_string_equal(rows[0].job_id, pair);
    assert_int_equal(rows[0].place, 0);
    assert_string_equal(rows[1].job_id, single);
    assert_string_equal(rows[3].job_id, pair);
    assert_int_equal(rows[3].place, 1);
    free(rows);
    finish(ledger, &at_b);
    assert_claims(ledger, pair);
    assert_none_can_be_claimed(ledger);
}

static void pairs_in_either_order_do_not_deadlock(void **state)
{
    struct ledger *ledger = *state;
    struct deployment a = deploy(ledger, "a", "http://127.0.0.1:1001"),
                      b = deploy(ledger, "b", "http://127.0.0.1:1002"),
                      c = deploy(ledger, "c", "http://127.0.0.1:1003");
    TEXT_AUTO turns = { 0 };

    for (int i = 0; i < 4; i++) {
        queue(ledger, "alice", &a, &b, NULL);
        queue(ledger, "bob", &b, &a, NULL);
        queue(ledger, "carol", &c, &a, NULL);
        queue(ledger, "dan", &b, &c, NULL);
    }
    serve_all(ledger, &turns);
    assert_int_equal(turns.length, 16);
}

/* At each of the pair's endpoints, there is a long line of sweeps over one deployment, but the pair
 * still gets its turn. */
static void a_pair_does_not_starve_among_singles(void **state)
{
    struct ledger *ledger = *state;
    struct deployment sides[] = { deploy(ledger, "a", "http://127.0.0.1:1001"),
                                  deploy(ledger, "b", "http://127.0.0.1:1002") };
    const char *const others[] = { "bob", "carol" };
    struct job at[2];
    char pair[ID_SIZE];
    int served = 0;

    for (int side = 0; side < 2; side++) {
        queue_many(ledger, others[side], &sides[side], 30);
        at[side] = claimed(ledger);
    }
    queue(ledger, "alice", &sides[0], &sides[1], pair);
    for (struct job next = { 0 }; strcmp(next.id, pair) != 0; served++) {
        int side = served % 2;

        assert_true(served < 6);
        if (at[side].id[0] != '\0')
            finish(ledger, &at[side]);
        at[side].id[0] = '\0';
        if (claim(ledger, &next))
            at[strcmp(next.principal, "carol") == 0] = next;
    }
}

static void the_place_in_line_survives_a_restart(void **state)
{
    struct ledger *ledger = *state;
    struct deployment a = deploy(ledger, "a", "http://127.0.0.1:1001");
    char ids[3][ID_SIZE];
    struct job holder, again;

    queue(ledger, "alice", &a, NULL, NULL);
    holder = claimed(ledger);
    queue(ledger, "alice", &a, NULL, ids[0]);
    queue(ledger, "bob", &a, NULL, ids[1]);
    queue(ledger, "alice", &a, NULL, ids[2]);
    ledger_reopen(ledger);
    assert_ok(ledger, job_orphans_release(ledger->store, "next", &ledger->error));
    assert_place(ledger, ids[1], 1);
    assert_place(ledger, ids[0], 2);
    assert_place(ledger, ids[2], 3);
    assert_true(claim_for(ledger, "next", &again));
    assert_string_equal(again.id, holder.id);
    assert_int_equal(again.fence, 2);
    assert_none_can_be_claimed(ledger);
    struct claim held = claim_of(&again);
    assert_ok(ledger, job_yield(ledger->store, &held, &ledger->error));
    ledger_reopen(ledger);
    again = claimed(ledger);
    assert_string_equal(again.id, holder.id);
    finish(ledger, &again);
    assert_claims(ledger, ids[1]);
}

static void a_job_that_waits_for_an_answer_delays_nobody(void **state)
{
    struct ledger *ledger = *state;
    struct deployment a = deploy(ledger, "a", "http://127.0.0.1:1001");
    const struct question_text question = { "go_on", "{}" };
    const struct answer_text answer = { "go_on", "{}" };
    char asking[ID_SIZE], other[ID_SIZE];
    size_t stored;

    queue(ledger, "alice", &a, NULL, asking);
    queue(ledger, "bob", &a, NULL, other);
    struct job first = claimed(ledger), second;
    struct claim held = claim_of(&first);
    assert_ok(ledger, question_add(ledger->store, &held, &question, 1, 5, &ledger->error));
    assert_ok(ledger, job_yield(ledger->store, &held, &ledger->error));
    second = claimed(ledger);
    assert_string_equal(second.id, other);
    assert_ok(ledger,
              question_answer(ledger->store, asking, &answer, 1, 6, NULL, &stored, &ledger->error));
    assert_none_can_be_claimed(ledger);
    finish(ledger, &second);
    assert_claims(ledger, asking);
}

static void the_number_of_a_principals_active_sweeps_is_limited(void **state)
{
    struct ledger *ledger = *state;
    struct deployment a = deploy(ledger, "a", "http://127.0.0.1:1001");
    struct request keyed = { "alice", "once", &a, NULL, 3 }, more = { "alice", NULL, &a, NULL, 3 },
                   others = { "bob", NULL, &a, NULL, 3 };
    struct sweep_row first, again, row;
    struct job job;

    assert_ok(ledger, start_sweep(ledger, &keyed, &first));
    queue_many(ledger, "alice", &a, 2);
    claimed(ledger);
    assert_refused(
        ledger, start_sweep(ledger, &more, &row), ERROR_BUSY,
        "alice has 3 sweeps queued or running, and the limit is 3 (sweeps_per_principal)");
    assert_ok(ledger, start_sweep(ledger, &keyed, &again));
    assert_string_equal(again.id, first.id);
    assert_ok(ledger, start_sweep(ledger, &others, &row));
    sweep_row_finish(&row);
    assert_ok(ledger, job_find(ledger->store, first.job_id, &job, &ledger->error));
    finish(ledger, &job);
    assert_ok(ledger, start_sweep(ledger, &more, &row));
    sweep_row_finish(&row);
    struct change change = ledger_change("alice", "sweep_resume");
    assert_refused(
        ledger, sweep_reopen(ledger->store, first.id, false, 3, 300, &change, &row, &ledger->error),
        ERROR_BUSY, "alice has 3 sweeps");
    sweep_row_finish(&first);
    sweep_row_finish(&again);
}

/* Leaves the database as an older version would, which did not put queued jobs in a line. */
static void forget_lines(struct ledger *ledger)
{
    store_close(ledger->store);
    backdoor_run(ledger->folder, "DELETE FROM endpoint_leases");
    assert_ok(ledger, store_open(ledger->folder, test_database(ledger->folder), 4, &ledger->store,
                                 &ledger->error));
}

static void sweeps_queued_by_an_older_version_join_the_line(void **state)
{
    struct ledger *ledger = *state;
    struct deployment a = deploy(ledger, "a", "http://127.0.0.1:1001");
    char ids[2][ID_SIZE];
    struct job first;

    queue(ledger, "alice", &a, NULL, ids[0]);
    queue(ledger, "alice", &a, NULL, ids[1]);
    forget_lines(ledger);
    assert_ok(ledger, job_orphans_release(ledger->store, "me", &ledger->error));
    first = claimed(ledger);
    assert_string_equal(first.id, ids[0]);
    assert_none_can_be_claimed(ledger);
    finish(ledger, &first);
    assert_claims(ledger, ids[1]);
}

/* Three workers claim and finish jobs at random. */
static void every_sweep_in_a_random_schedule_is_served(void **state)
{
    enum { SERVERS = 4, WORKERS = 3, STEPS = 400 };
    static const char *const names[] = { "alice", "bob", "carol" };
    struct ledger *ledger = *state;
    struct deployment at[SERVERS];
    struct job running[WORKERS] = { 0 };
    TEXT_AUTO turns = { 0 };
    struct generator random;

    generator_init(&random, 7);
    for (int i = 0; i < SERVERS; i++)
        at[i] = deploy_nth(ledger, i);
    for (int step = 0; step < STEPS; step++) {
        struct job *worker = &running[generator_below(&random, WORKERS)];
        uint64_t one = generator_below(&random, SERVERS), other = generator_below(&random, SERVERS);

        if (generator_below(&random, 3) == 0)
            queue(ledger, names[generator_below(&random, 3)], &at[one],
                  one == other ? NULL : &at[other], NULL);
        if (worker->id[0] != '\0')
            finish(ledger, worker);
        worker->id[0] = '\0';
        if (!claim(ledger, worker))
            worker->id[0] = '\0';
    }
    for (int i = 0; i < WORKERS; i++)
        if (running[i].id[0] != '\0')
            finish(ledger, &running[i]);
    serve_all(ledger, &turns);
    struct job_filter queued = { .state = JOB_QUEUED };
    struct job *rows;
    size_t count;
    assert_ok(ledger, job_list(ledger->store, &queued, 9, &rows, &count, &ledger->error));
    assert_int_equal(count, 0);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_of_300_sweeps_delays_nobody_at_an_idle_endpoint),
        cmocka_unit_test(loopback_addresses_with_the_same_port_are_one_endpoint),
        cmocka_unit_test(principals_take_turns_at_an_endpoint),
        cmocka_unit_test(a_new_request_after_each_job_wins_no_extra_turn),
        cmocka_unit_test(the_jobs_of_a_principal_run_in_the_order_of_their_requests),
        cmocka_unit_test(a_cancelled_job_leaves_its_turn_to_its_principals_next_job),
        cmocka_unit_test(free_workers_go_to_the_principal_with_the_fewest_running_jobs),
        cmocka_unit_test(endpoints_take_turns_too),
        cmocka_unit_test(a_pair_holds_its_first_endpoint_while_it_waits_for_its_second),
        cmocka_unit_test(pairs_in_either_order_do_not_deadlock),
        cmocka_unit_test(a_pair_does_not_starve_among_singles),
        cmocka_unit_test(the_place_in_line_survives_a_restart),
        cmocka_unit_test(a_job_that_waits_for_an_answer_delays_nobody),
        cmocka_unit_test(the_number_of_a_principals_active_sweeps_is_limited),
        cmocka_unit_test(sweeps_queued_by_an_older_version_join_the_line),
        cmocka_unit_test(every_sweep_in_a_random_schedule_is_served),
    };

    return ledger_run(tests);
}
