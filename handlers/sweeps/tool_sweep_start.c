/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_start: starts a benchmark as a job. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/digest.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "handlers/answers/deployment_argument.h"
#include "handlers/answers/deployment_endpoint.h"
#include "handlers/answers/job_verdict.h"
#include "handlers/answers/sweep_answer.h"
#include "handlers/options.h"
#include "handlers/sweeps/corrections.h"
#include "handlers/sweeps/reviewed_plans.h"
#include "handlers/sweeps/sweep_request.h"

extern const struct tool tool_sweep_start; /* below */

static const struct param params[] = {
    PARAM_DEPLOYMENT,         PARAM_CANDIDATE,
#include "bench/plan/plan_parameters.h"
    PARAM_PLAN_DIGEST(false), PARAMS_ORDER,    PARAM_IDEMPOTENCY_KEY, { 0 },
};

static const struct field fields[] = {
    { "sweep", VALUE_OBJECT, .help = "The sweep as it is stored.", .fields = sweep_answer_fields,
      .described_in = "sweep_show" },
    { "job", VALUE_TEXT, .help = "The sweep's job, for job_show." },
    { "started", VALUE_BOOLEAN, .optional = true,
      .help = "False: this idempotency key was used before; the sweep is the one that the first "
              "call started." },
    { "duration_s", VALUE_NUMBER, .optional = true,
      .help = "Estimated maximum duration, in seconds." },
    FIELD_OUTCOME,
    FIELDS_VERDICT,
    FIELD_NEXT_STEP,
    { 0 },
};

/* Computes a digest of all arguments that must be equal in calls with the same idempotency key. */
static void digest_arguments(const struct call *call, char out[DIGEST_TEXT_SIZE])
{
    json_auto_t *arguments = json_copy(json_iterable(call->arguments));
    FREE_AUTO char *written = NULL;

    json_object_del(arguments, "idempotency_key");
    written = json_write_canonical(arguments);
    digest_sha256_text(written, strlen(written), out);
}

/* Finds the sweep that an earlier call with the same idempotency key started. */
static CHECKED bool find_earlier(const struct call *call, const char *digest, struct sweep_row *out,
                                 bool *found, struct error *error)
{
    const char *key = call_text(call, "idempotency_key");
    char id[ID_SIZE];

    *found = false;
    if (key == NULL)
        return true;
    return idempotency_find(call->services->store, call->principal.name, call->change.tool, key,
                            digest, id, found, error)
           && (!*found || sweep_find(call->services->store, id, out, error));
}

/* Refuses a server that is down or lacks the model, before a sweep is stored. */
static CHECKED bool check_server(const struct call *call, const struct deployment *deployment,
                                 struct error *error)
{
    ENDPOINT_AUTO endpoint = { 0 };
    struct model_facts facts;
    struct error problem;

    if (deployment_endpoint_discover(call->services, deployment, &endpoint, &facts, &problem))
        return true;
    return error_set(error, problem.kind, "%s cannot be measured now: %s", deployment->name,
                     problem.message);
}

static json_t *provenance(const struct call *call)
{
    return json_pack("{s:s, s:s*, s:s, s:s, s:s, s:s}", "principal", call->principal.name,
                     "purpose", call_text(call, "purpose"), "client", call->change.actor.client,
                     "request", call->change.actor.request_id, "host", call->services->host,
                     "version", call->services->version);
}

static CHECKED bool create(struct call *call, const struct sweep_request *request,
                           const char *digest, struct sweep_row *out, struct error *error)
{
    FREE_AUTO struct correction *corrections = NULL;
    FREE_AUTO struct cell_plan *cells = NULL;
    json_auto_t *plan = plan_to_json(&request->plan), *who = provenance(call);
    FREE_AUTO char *plan_text = json_write(plan);
    FREE_AUTO char *who_text = json_write(who);
    size_t count, correction_count;

    if (!corrections_find(call->services->store, call_text(call, "corrects"), request, &corrections,
                          &correction_count, error))
        return false;
    plan_cells(&request->plan, request->subjects, &cells, &count);
    const struct sweep_order order = { .deployment = &request->deployment,
                                       .candidate = sweep_request_candidate(request),
                                       .corrections = corrections,
                                       .correction_count = correction_count,
                                       .plan_json = plan_text,
                                       .plan_digest = request->digest,
                                       .provenance_json = who_text,
                                       .cells = cells,
                                       .cell_count = count,
                                       .repetitions = request->plan.repetitions,
                                       .active_limit = call->services->sweeps_per_principal,
                                       .idempotency_key = call_text(call, "idempotency_key"),
                                       .arguments_digest = digest };

    return sweep_create(call->services->store, &order, clock_utc_ms(), &call->change, out, error);
}

static CHECKED bool start(struct call *call, const struct sweep_request *request,
                          const char *digest, struct sweep_row *out, bool *repeated,
                          struct error *error)
{
    if (!find_earlier(call, digest, out, repeated, error))
        return false;
    if (*repeated)
        return true;
    if (!check_server(call, &request->deployment, error)
        || (request->subjects > 1 && !check_server(call, &request->candidate, error))
        || !create(call, request, digest, out, error))
        return false;
    job_pool_wake(call->services->jobs);
    return true;
}

/* A call that repeats an earlier one (same idempotency key) needs no go-ahead, no matter what the
 * plan would take now: it starts nothing, and returns the sweep that the first call started. */
static CHECKED bool go_ahead(struct call *call, struct error *error)
{
    char digest[DIGEST_TEXT_SIZE];
    struct sweep_request request;
    struct sweep_row sweep;
    bool repeated;

    digest_arguments(call, digest);
    if (!sweep_request_read(call, &request, error)
        || !find_earlier(call, digest, &sweep, &repeated, error))
        return false;
    if (!repeated)
        return sweep_request_check(call, &request, error);
    sweep_row_finish(&sweep);
    return true;
}

/* Returns true if all the call's arguments are in `allowed`, and so none describes a grid. */
static bool is_digest_alone(const json_t *arguments)
{
    static const char *const allowed[] = { "plan_digest", "deployment", "purpose",
                                           "idempotency_key" };
    size_t found = 0;

    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        found += json_object_get(arguments, allowed[i]) != NULL;
    return found == json_object_size(arguments);
}

/* Adds to the call's arguments those of the plan that its plan_digest names, if the server still
 * has them. An argument that the call gives itself takes precedence. */
static CHECKED bool recall(const struct call *call, const json_t *given, json_t **out,
                           struct error *error)
{
    json_auto_t *arguments = NULL, *planned = NULL;
    const char *digest;

    if (!json_is_object(given) || !options_unfold(&tool_sweep_start, given, &arguments, error)) {
        *out = json_incref(json_iterable(given));
        return true;
    }
    digest = json_get_text(arguments, "plan_digest", NULL);
    planned = digest == NULL ? NULL
                             : reviewed_plans_find(call->services->reviewed_plans,
                                                   call->principal.name, digest);
    if (digest != NULL && planned == NULL && is_digest_alone(arguments))
        return error_set(
            error, ERROR_NOT_FOUND,
            "\"plan_digest\" matches none of your plans that the server still has: call "
            "sweep_plan, or also give the plan's arguments");
    if (planned != NULL)
        json_object_update(planned, arguments);
    *out = json_incref(planned != NULL ? planned : arguments);
    return true;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct sweep_request request;
    const char *next;
    struct sweep_row sweep;
    char digest[DIGEST_TEXT_SIZE], duration[DURATION_SHOWN_SIZE];
    bool repeated;

    digest_arguments(call, digest);
    if (!sweep_request_read(call, &request, error)
        || !start(call, &request, digest, &sweep, &repeated, error))
        return false;
    next = request.subjects > 1
               ? "job_show with this job and wait_s 600, until it has ended; then run_compare "
                 "with this sweep"
               : "job_show with this job and wait_s 600, until it has ended; then run_report";
    answer->structured =
        json_pack("{s:o, s:s, s:b, s:f}", "sweep", sweep_answer_json(&sweep), "job", sweep.job_id,
                  "started", !repeated, "duration_s", request.estimate.duration_s);
    text_copy(answer->job_id, sizeof answer->job_id, sweep.job_id);
    if (repeated)
        text_add(&answer->text, "Started earlier with the same idempotency key.\n");
    sweep_answer_describe(&sweep, &answer->text);
    text_addf(&answer->text, "Estimate: %s at most.\n",
              answer_duration(request.estimate.duration_s, duration));
    answer_next(answer, next);
    answer_shows(answer, "/sweeps/%s", sweep.id);
    sweep_row_finish(&sweep);
    return true;
}

const struct tool tool_sweep_start = {
    .name = "sweep_start",
    .title = "Start a benchmark",
    .help = "Starts a benchmark job, which puts load on the server, and answers at once. Give only "
            "the deployment (to find where it saturates), a plan as for sweep_plan, or its "
            "plan_digest.",
    .more = "Above 60 minutes or 10 million tokens, plan_digest is required. The job survives "
            "restarts, every finished cell is kept, and only one sweep at a time measures an "
            "endpoint (others wait in line). Wait with job_show. With `candidate`, the sweep "
            "alternates between two deployments, which is fair to both: run_compare on it then "
            "says which is faster. With `corrects`, it replaces an earlier run or sweep, which is "
            "kept: nothing changes a finished run.",
    .sets = SET_MEASURE,
    .params = params,
    .params_described_in = "sweep_plan",
    .fields = fields,
    .role = ROLE_OPERATOR,
    .placement = PLACE_WAITING,
    .open_world = true,
    .destroys = STATED_NO,
    .spends_money = STATED_YES,
    .changes_resources = true,
    .grows = true,
    .recall = recall,
    .go_ahead = go_ahead,
    .run = run,
};
