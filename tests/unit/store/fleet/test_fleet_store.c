/* SPDX-License-Identifier: Apache-2.0 */
/* Targets, plans and managed deployments: who may begin a plan, how often, and up to what cost. */
#include "store/fleet/fleet_managed.h"
#include "store/fleet/fleet_plans.h"
#include "store/ledger/jobs.h"
#include "tests/unit/support/ledger.h"

#define HOUR_MS 3600000LL
#define NOW 1000000LL

static struct fleet_target_row target_of(const char *name)
{
    struct fleet_target_row row = { .provider = "testing",
                                    .place = "{\"project\":\"p\"}",
                                    .regions = "[\"east\"]",
                                    .source_ranges = "[]",
                                    .recipes = "[]",
                                    .credential = "service_account_file",
                                    .credential_file = "cloud.json",
                                    .deployment_usd = 3,
                                    .total_usd = 5,
                                    .life_limit_s = 7200 };

    text_copy(row.name, sizeof row.name, name);
    return row;
}

static struct fleet_target_row put(struct ledger *ledger, struct fleet_target_row wanted)
{
    struct change change = ledger_change("root", "target_register");
    struct fleet_target_row row;
    bool changed;

    assert_ok(ledger, fleet_target_put(ledger->store, &wanted, NOW, &change, &row, &changed,
                                       &ledger->error));
    return row;
}

/* `usd`: the price per hour; negative: not known. `life_ms`: the time from NOW to the deployment's
 * end; 0: no end. The plan is made `later_ms` after NOW. */
static struct fleet_plan_row plan_later(struct ledger *ledger, const char *verb,
                                        const char *deployment, double usd, int64_t life_ms,
                                        int64_t later_ms)
{
    struct change change = ledger_change("alice", "deployment_plan");
    char document[] = "{\"steps\":[]}";
    struct fleet_plan_row plan = { .digest = "d",
                                   .target = "lab",
                                   .target_revision = 1,
                                   .document = document,
                                   .usd_known = usd >= 0,
                                   .usd_per_hour = usd >= 0 ? usd : 0,
                                   .ends_ms = life_ms == 0 ? 0 : NOW + life_ms,
                                   .created_ms = NOW + later_ms,
                                   .good_until_ms = NOW + 24 * HOUR_MS };
    struct fleet_plan_row out;

    text_copy(plan.verb, sizeof plan.verb, verb);
    text_copy(plan.deployment, sizeof plan.deployment, deployment);
    text_copy(plan.at_end, sizeof plan.at_end, life_ms == 0 ? "" : "destroy");
    assert_ok(ledger, fleet_plan_add(ledger->store, &plan, &change, &out, &ledger->error));
    fleet_plan_finish(&out);
    return out;
}

static struct fleet_plan_row plan_with(struct ledger *ledger, const char *verb,
                                       const char *deployment, double usd, int64_t life_ms)
{
    return plan_later(ledger, verb, deployment, usd, life_ms, 0);
}

static bool begin_as(struct ledger *ledger, const char *principal, const char *way,
                     const struct fleet_plan_row *plan, struct fleet_plan_begun *out)
{
    struct change change = ledger_change(principal, "deployment_apply");

    return fleet_plan_begin(ledger->store, plan->id, way, "{\"w\":1}", NOW + 1, &change, out,
                            &ledger->error);
}

static void begin(struct ledger *ledger, const struct fleet_plan_row *plan)
{
    struct fleet_plan_begun begun;

    assert_ok(ledger, begin_as(ledger, "alice", FLEET_WAY_PERSON, plan, &begun));
}

/* Asserts that the plan cannot be begun, and stays in the state "planned". */
static void expect_refusal(struct ledger *ledger, const char *way,
                           const struct fleet_plan_row *plan, enum error_kind kind,
                           const char *words)
{
    struct fleet_plan_begun begun;
    struct fleet_plan_row found;

    assert_refused(ledger, begin_as(ledger, "alice", way, plan, &begun), kind, words);
    assert_ok(ledger, fleet_plan_find(ledger->store, plan->id, &found, &ledger->error));
    assert_string_equal(found.state, "planned");
    fleet_plan_finish(&found);
}

static struct claim claim_next(struct ledger *ledger)
{
    static const char *const kinds[] = { JOB_KIND_APPLY, NULL };
    struct claim claim = { 0 };
    struct job job;
    bool found;

    assert_ok(ledger,
              job_claim(ledger->store, "me", kinds, NOW, 10000, &job, &found, &ledger->error));
    assert_true(found);
    text_copy(claim.job_id, sizeof claim.job_id, job.id);
    claim.fence = job.fence;
    return claim;
}

static void end_with(struct ledger *ledger, const struct fleet_plan_row *plan,
                     const struct fleet_plan_end *end)
{
    struct claim claim = claim_next(ledger);
    const struct job_ending ending = { .state = JOB_COMPLETED };

    assert_ok(ledger,
              fleet_plan_end(ledger->store, &claim, plan->id, end, NOW + HOUR_MS, &ledger->error));
    assert_ok(ledger, job_finish(ledger->store, &claim, &ending, NOW + HOUR_MS, &ledger->error));
}

static void finish(struct ledger *ledger, const struct fleet_plan_row *plan, const char *managed)
{
    const struct fleet_plan_end end = {
        .state = "done", .reason = "", .managed_state = managed, .sets_terms = true
    };

    end_with(ledger, plan, &end);
}

static void end_failed(struct ledger *ledger, const struct fleet_plan_row *plan,
                       bool changed_nothing)
{
    const struct fleet_plan_end end = { .state = "failed",
                                        .reason = "",
                                        .changed_nothing = changed_nothing };

    end_with(ledger, plan, &end);
}

/* ---- Targets ---- */

static void a_target_has_revisions_and_keeps_its_provider(void **state)
{
    struct ledger *ledger = *state;
    struct fleet_target_row wanted = target_of("lab"), row = put(ledger, wanted);
    struct change change = ledger_change("root", "target_register");
    bool changed;

    assert_int_equal(row.revision, 1);
    assert_string_equal(row.created_by, "root");
    assert_ok(ledger, fleet_target_put(ledger->store, &wanted, NOW, &change, &row, &changed,
                                       &ledger->error));
    assert_false(changed);
    wanted.total_usd = 7.5;
    assert_ok(ledger, fleet_target_put(ledger->store, &wanted, NOW, &change, &row, &changed,
                                       &ledger->error));
    assert_true(changed);
    assert_int_equal(row.revision, 2);
    assert_ok(ledger, fleet_target_find(ledger->store, "lab", &row, &ledger->error));
    assert_true(row.total_usd > 7.4 && row.total_usd < 7.6);
    strcpy(wanted.provider, "other");
    assert_refused(
        ledger,
        fleet_target_put(ledger->store, &wanted, NOW, &change, &row, &changed, &ledger->error),
        ERROR_CONFLICT, "is testing: to use other, choose another target name");
}

static void a_removed_target_is_not_found_until_it_is_registered_again(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("root", "target_remove");
    struct fleet_target_row row, *rows;
    size_t count;

    put(ledger, target_of("lab"));
    assert_ok(ledger, fleet_target_retire(ledger->store, "lab", NOW, &change, &ledger->error));
    assert_refused(ledger, fleet_target_find(ledger->store, "lab", &row, &ledger->error),
                   ERROR_NOT_FOUND, "there are no targets; an admin");
    assert_int_equal(put(ledger, target_of("lab")).revision, 2);
    put(ledger, target_of("attic"));
    assert_ok(ledger, fleet_target_list(ledger->store, &rows, &count, &ledger->error));
    assert_int_equal(count, 2);
    assert_string_equal(rows[0].name, "attic");
    free(rows);
    assert_refused(ledger, fleet_target_find(ledger->store, "labs", &row, &ledger->error),
                   ERROR_NOT_FOUND, "existing targets: attic, lab");
}

static void a_target_with_a_managed_deployment_keeps_its_place_and_is_not_removed(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("root", "target_remove");
    struct fleet_target_row wanted = target_of("lab"), row;
    struct fleet_plan_row plan;
    bool changed;

    put(ledger, wanted);
    plan = plan_with(ledger, "create", "gemma", 1, HOUR_MS);
    begin(ledger, &plan);
    assert_refused(ledger, fleet_target_retire(ledger->store, "lab", NOW, &change, &ledger->error),
                   ERROR_CONFLICT, "the managed deployment gemma");
    wanted.total_usd = 7.5;
    put(ledger, wanted);
    strcpy(wanted.place, "{\"project\":\"elsewhere\"}");
    assert_refused(
        ledger,
        fleet_target_put(ledger->store, &wanted, NOW, &change, &row, &changed, &ledger->error),
        ERROR_CONFLICT, "so its regions, project, namespace, network");
}

/* ---- The go-ahead ---- */

static void nothing_begins_without_a_go_ahead(void **state)
{
    struct ledger *ledger = *state;
    struct fleet_plan_row plan;

    put(ledger, target_of("lab"));
    plan = plan_with(ledger, "create", "gemma", 1, HOUR_MS);
    expect_refusal(ledger, NULL, &plan, ERROR_FORBIDDEN, "needs a person's go-ahead");
    expect_refusal(ledger, FLEET_WAY_AGENT, &plan, ERROR_FORBIDDEN,
                   "an agent may not approve it on this target");
    begin(ledger, &plan);
}

/* The price per hour and the total price are limited, so the price and the end must be known. */
static void an_agent_may_approve_only_up_to_the_targets_limits_for_agents(void **state)
{
    struct ledger *ledger = *state;
    struct fleet_target_row target = target_of("lab");
    struct fleet_plan_row plan;
    struct fleet_plan_begun begun;

    target.agent_usd = 1;
    target.agent_life_usd = 1.5;
    target.allows_no_price = target.allows_no_end = 1;
    put(ledger, target);
    plan = plan_with(ledger, "create", "dear", 1.01, HOUR_MS);
    expect_refusal(ledger, FLEET_WAY_AGENT, &plan, ERROR_FORBIDDEN, "needs a person's");
    plan = plan_with(ledger, "create", "long", 1, 2 * HOUR_MS);
    expect_refusal(ledger, FLEET_WAY_AGENT, &plan, ERROR_FORBIDDEN, "needs a person's");
    plan = plan_with(ledger, "create", "unknown", -1, HOUR_MS);
    expect_refusal(ledger, FLEET_WAY_AGENT, &plan, ERROR_FORBIDDEN, "needs a person's");
    plan = plan_with(ledger, "create", "endless", 0.1, 0);
    expect_refusal(ledger, FLEET_WAY_AGENT, &plan, ERROR_FORBIDDEN, "needs a person's");
    plan = plan_with(ledger, "create", "small", 1, HOUR_MS);
    assert_ok(ledger, begin_as(ledger, "alice", FLEET_WAY_AGENT, &plan, &begun));
    finish(ledger, &plan, "running");
    plan = plan_later(ledger, "extend", "small", 1, 2 * HOUR_MS, HOUR_MS); /* by a second hour */
    expect_refusal(ledger, FLEET_WAY_AGENT, &plan, ERROR_FORBIDDEN, "needs a person's");
}

static void two_approvals_must_be_from_two_people(void **state)
{
    struct ledger *ledger = *state;
    struct fleet_target_row target = target_of("lab");
    struct change agent = ledger_change("bob", "deployment_apply");
    struct change command_line = ledger_change("alice", "plan approve");
    struct change bob = ledger_change("bob", "plan_approve");
    struct fleet_approval *approvals;
    struct fleet_plan_begun begun;
    struct fleet_plan_row plan;
    size_t count;

    target.needs_two = 1;
    target.agent_usd = target.agent_life_usd = 100;
    put(ledger, target);
    plan = plan_with(ledger, "create", "gemma", 1, HOUR_MS);
    assert_ok(ledger, fleet_plan_approve(ledger->store, plan.id, FLEET_WAY_AGENT, NOW, &agent,
                                         &ledger->error));
    assert_ok(ledger, fleet_plan_approve(ledger->store, plan.id, FLEET_WAY_COMMAND_LINE, NOW,
                                         &command_line, &ledger->error));
    expect_refusal(ledger, FLEET_WAY_PERSON, &plan, ERROR_FORBIDDEN, "two people (so far: 1)");
    assert_ok(ledger, fleet_plan_approve(ledger->store, plan.id, FLEET_WAY_PERSON, NOW, &bob,
                                         &ledger->error));
    assert_ok(ledger, fleet_plan_approve(ledger->store, plan.id, FLEET_WAY_PERSON, NOW, &bob,
                                         &ledger->error));
    assert_ok(ledger,
              fleet_plan_approvals(ledger->store, plan.id, &approvals, &count, &ledger->error));
    assert_int_equal(count, 3);
    free(approvals);
    assert_ok(ledger, begin_as(ledger, "alice", NULL, &plan, &begun));
}

static void a_plan_is_valid_for_a_day_and_for_one_revision_of_its_target(void **state)
{
    struct ledger *ledger = *state;
    struct fleet_target_row target = target_of("lab");
    struct change change = ledger_change("alice", "deployment_apply");
    struct fleet_plan_begun begun;
    struct fleet_plan_row plan;

    put(ledger, target);
    plan = plan_with(ledger, "create", "gemma", 1, HOUR_MS);
    assert_refused(ledger,
                   fleet_plan_begin(ledger->store, plan.id, FLEET_WAY_PERSON, NULL,
                                    NOW + 24 * HOUR_MS, &change, &begun, &ledger->error),
                   ERROR_CONFLICT, "valid for 24 hours");
    target.total_usd = 9;
    put(ledger, target);
    expect_refusal(ledger, FLEET_WAY_PERSON, &plan, ERROR_CONFLICT, "changed by root");
}

/* ---- Ceilings ---- */

static void limits_apply_to_each_deployment_and_to_all_together(void **state)
{
    struct ledger *ledger = *state;
    struct fleet_plan_row plan;

    put(ledger, target_of("lab"));
    plan = plan_with(ledger, "create", "dear", 3.01, HOUR_MS);
    expect_refusal(ledger, FLEET_WAY_PERSON, &plan, ERROR_FORBIDDEN, "the target lab allows 3.00");
    plan = plan_with(ledger, "create", "unknown", -1, HOUR_MS);
    expect_refusal(ledger, FLEET_WAY_PERSON, &plan, ERROR_FORBIDDEN,
                   "is not known, and the target lab requires");
    plan = plan_with(ledger, "create", "long", 1, 2 * HOUR_MS + 1000);
    expect_refusal(ledger, FLEET_WAY_PERSON, &plan, ERROR_FORBIDDEN, "longer than the 7200 s");
    plan = plan_with(ledger, "create", "endless", 1, 0);
    expect_refusal(ledger, FLEET_WAY_PERSON, &plan, ERROR_FORBIDDEN, "requires an end");
    plan = plan_with(ledger, "create", "one", 3, HOUR_MS);
    begin(ledger, &plan);
    plan = plan_with(ledger, "create", "two", 2.5, HOUR_MS);
    expect_refusal(ledger, FLEET_WAY_PERSON, &plan, ERROR_CONFLICT,
                   "in addition to 3.00 for other deployments");
    plan = plan_with(ledger, "create", "three", 2, HOUR_MS);
    begin(ledger, &plan);
}

/* During a change, the higher of the deployment's two prices counts; afterwards, the new price. */
static void a_change_reserves_the_higher_price(void **state)
{
    struct ledger *ledger = *state;
    struct fleet_plan_row one, two, three, scale, stop, start;

    put(ledger, target_of("lab"));
    one = plan_with(ledger, "create", "one", 3, HOUR_MS);
    begin(ledger, &one);
    finish(ledger, &one, "running");
    scale = plan_with(ledger, "scale", "one", 1, HOUR_MS);
    begin(ledger, &scale);
    two = plan_with(ledger, "create", "two", 3, HOUR_MS);
    expect_refusal(ledger, FLEET_WAY_PERSON, &two, ERROR_CONFLICT, "in addition to 3.00");
    finish(ledger, &scale, "running");
    begin(ledger, &two);
    finish(ledger, &two, "running");
    stop = plan_with(ledger, "stop", "two", 0, HOUR_MS);
    begin(ledger, &stop);
    finish(ledger, &stop, "stopped");
    three = plan_with(ledger, "create", "three", 3, HOUR_MS);
    begin(ledger, &three);
    start = plan_with(ledger, "start", "two", 3, HOUR_MS);
    expect_refusal(ledger, FLEET_WAY_PERSON, &start, ERROR_CONFLICT, "in addition to 4.00");
}

/* If the platform refused the change, the old price counts again. If the change might have taken
 * place, the reserved price stays. */
static void a_refused_change_gives_back_what_it_reserved(void **state)
{
    struct ledger *ledger = *state;
    struct fleet_plan_row one, two, scale;

    put(ledger, target_of("lab"));
    one = plan_with(ledger, "create", "one", 1, HOUR_MS);
    begin(ledger, &one);
    finish(ledger, &one, "running");
    two = plan_with(ledger, "create", "two", 3, HOUR_MS);
    scale = plan_with(ledger, "scale", "one", 3, HOUR_MS);
    begin(ledger, &scale);
    end_failed(ledger, &scale, false);
    expect_refusal(ledger, FLEET_WAY_PERSON, &two, ERROR_CONFLICT, "in addition to 3.00");
    scale = plan_with(ledger, "scale", "one", 1, HOUR_MS);
    begin(ledger, &scale);
    finish(ledger, &scale, "running");
    scale = plan_with(ledger, "scale", "one", 3, HOUR_MS);
    begin(ledger, &scale);
    end_failed(ledger, &scale, true);
    begin(ledger, &two);
}

/* Before the deployment was stopped, its price was higher than the refused plan's. The earlier
 * price must not count again. */
static void a_refused_start_does_not_raise_the_price(void **state)
{
    struct ledger *ledger = *state;
    struct fleet_plan_row one, two;

    put(ledger, target_of("lab"));
    one = plan_with(ledger, "create", "one", 3, HOUR_MS);
    begin(ledger, &one);
    finish(ledger, &one, "stopped");
    one = plan_with(ledger, "start", "one", 2, HOUR_MS);
    begin(ledger, &one);
    end_failed(ledger, &one, true);
    two = plan_with(ledger, "create", "two", 3, HOUR_MS);
    begin(ledger, &two);
}

/* ---- One job per plan ---- */

static void two_principals_who_begin_the_same_plan_get_one_job(void **state)
{
    struct ledger *ledger = *state;
    struct fleet_plan_begun first, second;
    struct fleet_plan_row plan, other;
    struct fleet_managed_row *rows;
    size_t count;

    put(ledger, target_of("lab"));
    plan = plan_with(ledger, "create", "gemma", 1, HOUR_MS);
    other = plan_with(ledger, "create", "gemma", 1, HOUR_MS);
    assert_ok(ledger, begin_as(ledger, "alice", FLEET_WAY_PERSON, &plan, &first));
    assert_ok(ledger, begin_as(ledger, "bob", FLEET_WAY_PERSON, &plan, &second));
    assert_false(first.existed);
    assert_true(second.existed);
    assert_string_equal(first.job_id, second.job_id);
    expect_refusal(ledger, FLEET_WAY_PERSON, &other, ERROR_CONFLICT, ") is changing gemma");
    finish(ledger, &plan, "running");
    expect_refusal(ledger, FLEET_WAY_PERSON, &other, ERROR_CONFLICT, "is already managed");
    assert_ok(ledger, begin_as(ledger, "bob", FLEET_WAY_PERSON, &plan, &second));
    assert_true(second.existed);
    assert_ok(ledger, fleet_managed_list(ledger->store, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_string_equal(rows[0].wish, "{\"w\":1}");
    assert_string_equal(rows[0].state, "running");
    fleet_managed_rows_free(rows, count);
}

static void a_registered_name_cannot_be_used_for_a_new_deployment(void **state)
{
    struct ledger *ledger = *state;
    struct fleet_plan_row plan;

    put(ledger, target_of("lab"));
    ledger_deployment(ledger, "gemma");
    plan = plan_with(ledger, "create", "gemma", 1, HOUR_MS);
    expect_refusal(ledger, FLEET_WAY_PERSON, &plan, ERROR_CONFLICT, "is already registered");
}

/* ---- Journal, cancelled jobs, observations, the database's place ---- */

static void a_worker_whose_job_was_taken_over_writes_nothing_into_the_journal(void **state)
{
    struct ledger *ledger = *state;
    const struct fleet_journal_row row = { .step = "service", .action = "do", .at_ms = NOW };
    struct fleet_journal_row *rows;
    struct fleet_plan_row plan;
    struct claim claim;
    size_t count;

    put(ledger, target_of("lab"));
    plan = plan_with(ledger, "create", "gemma", 1, HOUR_MS);
    begin(ledger, &plan);
    claim = claim_next(ledger);
    assert_ok(ledger, fleet_journal_add(ledger->store, &claim, plan.id, &row, &ledger->error));
    claim.fence--;
    assert_refused(ledger, fleet_journal_add(ledger->store, &claim, plan.id, &row, &ledger->error),
                   ERROR_CONFLICT, "taken over");
    assert_ok(ledger, fleet_journal_list(ledger->store, plan.id, &rows, &count, &ledger->error));
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].sequence, 1);
    assert_string_equal(rows[0].outcome, "");
    fleet_journal_rows_free(rows, count);
}

/* If the cancelled job left the queue, its plan would never end, and its resources might keep
 * running. */
static void a_queued_apply_that_is_cancelled_can_still_be_claimed(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("alice", "job_cancel");
    struct fleet_plan_begun begun;
    struct fleet_plan_row plan;
    struct job job;

    put(ledger, target_of("lab"));
    plan = plan_with(ledger, "create", "gemma", 1, HOUR_MS);
    assert_ok(ledger, begin_as(ledger, "alice", FLEET_WAY_PERSON, &plan, &begun));
    assert_ok(ledger, job_cancel(ledger->store, begun.job_id, NOW, &change, &job, &ledger->error));
    assert_int_equal(job.state, JOB_QUEUED);
    assert_true(job.cancel_requested_ms != 0);
    claim_next(ledger);
}

/* A job has ended before its plan was finished: the plan's resources must not be forgotten. */
static void a_plan_whose_job_has_ended_gets_a_new_job_and_stays_cancelled(void **state)
{
    struct ledger *ledger = *state;
    const struct job_ending ending = { .state = JOB_FAILED };
    struct change change = ledger_change("alice", "job_cancel");
    struct fleet_plan_row plan;
    struct claim claim, next;
    struct job job;
    size_t count;

    put(ledger, target_of("lab"));
    plan = plan_with(ledger, "create", "gemma", 1, HOUR_MS);
    begin(ledger, &plan);
    assert_ok(ledger, fleet_plan_requeue(ledger->store, NOW, &count, &ledger->error));
    assert_int_equal(count, 0);
    claim = claim_next(ledger);
    assert_ok(ledger, job_cancel(ledger->store, claim.job_id, NOW, &change, &job, &ledger->error));
    assert_ok(ledger, job_finish(ledger->store, &claim, &ending, NOW, &ledger->error));
    assert_ok(ledger, fleet_plan_requeue(ledger->store, NOW, &count, &ledger->error));
    assert_int_equal(count, 1);
    next = claim_next(ledger);
    assert_string_not_equal(claim.job_id, next.job_id);
    assert_ok(ledger, job_find(ledger->store, next.job_id, &job, &ledger->error));
    assert_true(job.cancel_requested_ms != 0);
}

static void observations_update_the_cost_and_a_repeated_warning_is_not_called_new(void **state)
{
    struct ledger *ledger = *state;
    struct fleet_observation observation = { .observed = "{\"state\":\"ready\"}", .problem = "" };
    struct fleet_managed_row row;
    struct fleet_plan_row plan;
    bool found, first;

    put(ledger, target_of("lab"));
    plan = plan_with(ledger, "create", "gemma", 2, HOUR_MS);
    begin(ledger, &plan); /* at NOW + 1 */
    finish(ledger, &plan, "running");
    assert_ok(ledger, fleet_managed_find(ledger->store, "gemma", &row, &found, &ledger->error));
    observation.id = row.id;
    observation.plan_id = "pln_an_older_one";
    observation.state = "gone";
    observation.now_ms = NOW + 1;
    assert_ok(ledger, fleet_managed_note(ledger->store, &observation, &ledger->error));
    observation.plan_id = row.plan_id;
    observation.state = NULL;
    observation.now_ms = NOW + 1 + 2 * HOUR_MS;
    assert_ok(ledger, fleet_managed_note(ledger->store, &observation, &ledger->error));
    assert_ok(ledger, fleet_managed_warn(ledger->store, row.id, 1, &first, &ledger->error));
    assert_true(first);
    assert_ok(ledger, fleet_managed_warn(ledger->store, row.id, 1, &first, &ledger->error));
    assert_false(first);
    observation.state = "gone";
    fleet_managed_finish(&row);
    assert_ok(ledger, fleet_managed_find(ledger->store, "gemma", &row, &found, &ledger->error));
    assert_true(row.spent_usd > 3.99 && row.spent_usd < 4.01);
    assert_string_equal(row.observed, "{\"state\":\"ready\"}");
    observation.id = row.id;
    observation.plan_id = row.plan_id;
    assert_ok(ledger, fleet_managed_note(ledger->store, &observation, &ledger->error));
    fleet_managed_finish(&row);
    assert_ok(ledger, fleet_managed_find(ledger->store, "gemma", &row, &found, &ledger->error));
    assert_false(found);
}

static void a_failed_plan_does_not_erase_the_last_observation(void **state)
{
    struct ledger *ledger = *state;
    struct fleet_observation observation = { .observed = "{\"state\":\"ready\"}",
                                             .problem = "its key was replaced",
                                             .now_ms = NOW + 2 };
    struct fleet_managed_row row;
    struct fleet_plan_row plan;
    bool found;

    put(ledger, target_of("lab"));
    plan = plan_with(ledger, "create", "gemma", 1, HOUR_MS);
    begin(ledger, &plan);
    finish(ledger, &plan, "running");
    plan = plan_with(ledger, "scale", "gemma", 1, HOUR_MS);
    begin(ledger, &plan);
    assert_ok(ledger, fleet_managed_find(ledger->store, "gemma", &row, &found, &ledger->error));
    observation.id = row.id;
    observation.plan_id = row.plan_id;
    assert_ok(ledger, fleet_managed_note(ledger->store, &observation, &ledger->error));
    fleet_managed_finish(&row);
    end_failed(ledger, &plan, false);
    assert_ok(ledger, fleet_managed_find(ledger->store, "gemma", &row, &found, &ledger->error));
    assert_int_equal(row.observed_ms, NOW + 2);
    assert_string_equal(row.problem, "its key was replaced");
    fleet_managed_finish(&row);
}

static void a_database_counts_as_moved_until_its_new_place_is_recorded(void **state)
{
    struct ledger *ledger = *state;
    struct change change = ledger_change("local", "fleet resume");
    struct fleet_instance first, second;

    assert_ok(ledger, fleet_instance_read(ledger->store, "here", &first, &ledger->error));
    assert_false(first.moved);
    ledger_reopen(ledger);
    assert_ok(ledger, fleet_instance_read(ledger->store, "there", &second, &ledger->error));
    assert_true(second.moved);
    assert_string_equal(first.id, second.id);
    assert_ok(ledger, fleet_instance_settle(ledger->store, "there", &change, &ledger->error));
    assert_ok(ledger, fleet_instance_read(ledger->store, "there", &second, &ledger->error));
    assert_false(second.moved);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, ledger_set_up, ledger_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_target_has_revisions_and_keeps_its_provider),
        TEST(a_removed_target_is_not_found_until_it_is_registered_again),
        TEST(a_target_with_a_managed_deployment_keeps_its_place_and_is_not_removed),
        TEST(nothing_begins_without_a_go_ahead),
        TEST(an_agent_may_approve_only_up_to_the_targets_limits_for_agents),
        TEST(two_approvals_must_be_from_two_people),
        TEST(a_plan_is_valid_for_a_day_and_for_one_revision_of_its_target),
        TEST(limits_apply_to_each_deployment_and_to_all_together),
        TEST(a_change_reserves_the_higher_price),
        TEST(a_refused_change_gives_back_what_it_reserved),
        TEST(a_refused_start_does_not_raise_the_price),
        TEST(two_principals_who_begin_the_same_plan_get_one_job),
        TEST(a_registered_name_cannot_be_used_for_a_new_deployment),
        TEST(a_worker_whose_job_was_taken_over_writes_nothing_into_the_journal),
        TEST(a_queued_apply_that_is_cancelled_can_still_be_claimed),
        TEST(a_plan_whose_job_has_ended_gets_a_new_job_and_stays_cancelled),
        TEST(observations_update_the_cost_and_a_repeated_warning_is_not_called_new),
        TEST(a_failed_plan_does_not_erase_the_last_observation),
        TEST(a_database_counts_as_moved_until_its_new_place_is_recorded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
