/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/sweeps/sweep_request.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json/json.h"
#include "bench/plan/plan_settings.h"
#include "handlers/answer.h"
#include "handlers/answers/deployment_argument.h"
#include "store/ledger/datasets.h"

/* Returns a list with one length: the mean of `range`, rounded, but at least 1. New reference. */
static json_t *mean_as_list(const json_t *range)
{
    return json_pack("[I]", (json_int_t)lround(fmax(1, json_get_number(range, "mean", 1))));
}

static int64_t total_tokens(const struct plan_estimate *estimate)
{
    return estimate->input_tokens + estimate->output_tokens;
}

const struct deployment *sweep_request_candidate(const struct sweep_request *request)
{
    return request->subjects > 1 ? &request->candidate : NULL;
}

void sweep_request_name(const struct sweep_request *request, struct text *out)
{
    text_addf(out, "%s (revision %" PRId64 ")", request->deployment.name,
              request->deployment.revision);
    if (request->subjects > 1)
        text_addf(out, ", alternating with %s (revision %" PRId64 ")", request->candidate.name,
                  request->candidate.revision);
}

static bool is_same_server(const struct deployment *a, const struct deployment *b)
{
    char names[2][ENDPOINT_NAME_SIZE];
    struct error ignored;

    return endpoint_lease_name(a->url, names[0], &ignored)
           && endpoint_lease_name(b->url, names[1], &ignored) && strcmp(names[0], names[1]) == 0;
}

static CHECKED bool find_subjects(const struct call *call, struct sweep_request *out,
                                  struct error *error)
{
    const char *candidate = call_text(call, "candidate");

    out->subjects = 1;
    out->same_server = false;
    if (!deployment_argument(call, &out->deployment, error))
        return false;
    if (candidate == NULL)
        return true;
    if (strcmp(candidate, out->deployment.name) == 0)
        return error_set(error, ERROR_INVALID,
                         "\"candidate\" is %s, the deployment itself: name a different one. To see "
                         "by how much two measurements of one server differ, register that server "
                         "under a second name",
                         candidate);
    out->subjects = 2;
    if (!deployment_find(call->services->store, candidate, &out->candidate, error))
        return false;
    out->same_server = is_same_server(&out->deployment, &out->candidate);
    return true;
}

static CHECKED bool check_http2(const struct sweep_request *request,
                                const struct deployment *deployment, struct error *error)
{
    if (request->plan.http2_streams == 0 || strncmp(deployment->url, "https://", 8) == 0)
        return true;
    return error_set(error, ERROR_INVALID,
                     "\"http2_streams\" is %ld, but %s is at %s: HTTP/2 is negotiated over TLS. "
                     "Omit \"http2_streams\", or register the server's https:// address",
                     request->plan.http2_streams, deployment->name, deployment->url);
}

/* Refuses lengths that the dataset's own lengths would replace: input lengths and, with
 * `replaces_output`, output lengths. */
static CHECKED bool check_lengths(const json_t *arguments, bool replaces_output,
                                  struct error *error)
{
    const char *distribution = json_get_text(arguments, "input_distribution", "fixed");
    json_auto_t *stated = tool_omit_defaults(tool_find("sweep_plan"), arguments);

    if (json_object_get(arguments, "input_tokens") != NULL)
        return error_set(error, ERROR_INVALID,
                         "a dataset's prompts already have their lengths: omit \"input_tokens\"");
    if (strcmp(distribution, "fixed") != 0 && strcmp(distribution, "dataset") != 0)
        return error_set(
            error, ERROR_INVALID,
            "a dataset's prompts already have their lengths: omit \"input_distribution\", "
            "which is %s",
            distribution);
    if (replaces_output && json_object_get(stated, "output_tokens") != NULL)
        return error_set(
            error, ERROR_INVALID,
            "if \"output_distribution\" is dataset, outputs are as long as the dataset's answers: "
            "omit \"output_tokens\" or \"output_distribution\"");
    return true;
}

/* If the call names a dataset, sets the plan's input length to the dataset's mean input length and,
 * if `output_distribution` is "dataset", the output length to its mean output length. */
static CHECKED bool add_dataset(const struct call *call, json_t *arguments, struct error *error)
{
    struct dataset_entry entry;
    json_auto_t *lengths = NULL;
    const json_t *output;
    bool replaces_output =
        strcmp(json_get_text(arguments, "output_distribution", ""), "dataset") == 0;

    if (call_text(call, "dataset") == NULL)
        return true;
    if (!check_lengths(arguments, replaces_output, error))
        return false;
    if (!dataset_entry_find(call->services->store, call_text(call, "dataset"), &entry, NULL, NULL,
                            error))
        return false;
    lengths = answer_json_stored(entry.lengths);
    output = json_object_get(lengths, "output_tokens");
    json_object_set_new(arguments, "dataset_digest", json_string(entry.digest));
    dataset_entry_finish(&entry);
    if (replaces_output && json_get_integer(output, "count", 0) == 0)
        return error_set(error, ERROR_INVALID,
                         "\"output_distribution\" is dataset, but the dataset has no answer "
                         "lengths: give output_tokens instead");
    json_object_set_new(arguments, "input_distribution", json_string("dataset"));
    json_object_set_new(arguments, "input_tokens",
                        mean_as_list(json_object_get(lengths, "input_tokens")));
    if (replaces_output)
        json_object_set_new(arguments, "output_tokens", mean_as_list(output));
    return true;
}

/* Returns the model's context in tokens, as last reported for this revision of the deployment; 0:
 * not known. */
static int64_t context_of(const struct call *call, const struct deployment *deployment)
{
    struct model_facts facts;
    struct error ignored;
    bool found;

    return model_facts_latest(call->services->store, deployment->id, &facts, &found, &ignored)
                   && found && facts.revision == deployment->revision
               ? facts.context_tokens
               : 0;
}

bool sweep_request_read(const struct call *call, struct sweep_request *out, struct error *error)
{
    json_auto_t *arguments = json_copy(json_iterable(call->arguments));

    if (!find_subjects(call, out, error) || !add_dataset(call, arguments, error))
        return false;
    plan_set_usual_grid(arguments, context_of(call, &out->deployment));
    if (!plan_read(arguments, &out->plan, error) || !plan_check_settings(&out->plan, error)
        || !plan_check_cells(&out->plan, out->subjects, error)
        || !check_http2(out, &out->deployment, error)
        || (out->subjects > 1 && !check_http2(out, &out->candidate, error)))
        return false;
    plan_estimate(&out->plan, out->subjects, &out->estimate);
    plan_digest(&out->plan, &out->deployment, sweep_request_candidate(out), out->digest);
    out->needs_go_ahead = out->estimate.duration_s > GO_AHEAD_MINUTES * 60
                          || total_tokens(&out->estimate) > GO_AHEAD_TOKENS;
    return true;
}

static CHECKED bool refuse_large(const struct plan_estimate *estimate, struct error *error)
{
    char duration[DURATION_SHOWN_SIZE], tokens[DURATION_SHOWN_SIZE];

    return error_set(error, ERROR_INVALID,
                     "this sweep would take up to %s and %s tokens (cells: %" PRId64
                     "): a sweep over %d minutes or %d million tokens needs a go-ahead. Call "
                     "sweep_plan with the same arguments, show its estimate to whoever decides, "
                     "and give its plan_digest here",
                     answer_duration(estimate->duration_s, duration),
                     answer_count(total_tokens(estimate), tokens), estimate->cells,
                     GO_AHEAD_MINUTES, GO_AHEAD_TOKENS / 1000000);
}

bool sweep_request_digest_differs(const struct call *call, const struct sweep_request *request)
{
    const char *given = call_text(call, "plan_digest");

    return given != NULL && strcmp(given, request->digest) != 0;
}

bool sweep_request_check(const struct call *call, const struct sweep_request *request,
                         struct error *error)
{
    TEXT_AUTO named = { 0 };

    if (call_text(call, "plan_digest") == NULL)
        return !request->needs_go_ahead || refuse_large(&request->estimate, error);
    if (!sweep_request_digest_differs(call, request))
        return true;
    sweep_request_name(request, &named);
    return error_set(
        error, ERROR_CONFLICT,
        "\"plan_digest\" belongs to a different plan: the arguments differ from those given "
        "to sweep_plan, or a deployment has changed since then (now: %s). Call sweep_plan "
        "again with the arguments of this call",
        text_string(&named));
}
