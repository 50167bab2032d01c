#include "handlers/sweep_request.h"

#include <inttypes.h>
#include <string.h>

const char *const bench_apis[] = { "completions", "chat", NULL };
const char *const bench_arrivals[] = { "closed", "constant", "poisson", "gamma", NULL };
const char *const bench_thinks[] = { "fixed", "exponential", NULL };

static int64_t total_tokens(const struct plan_estimate *estimate)
{
    return estimate->input_tokens + estimate->output_tokens;
}

bool sweep_request_read(const struct call *call, struct sweep_request *out, struct error *error)
{
    if (!deployment_of(call, &out->deployment, error)
        || !plan_read(call->arguments, &out->plan, error))
        return false;
    plan_estimate(&out->plan, &out->estimate);
    plan_digest(&out->plan, &out->deployment, out->digest);
    out->needs_go_ahead = out->estimate.duration_s > GO_AHEAD_MINUTES * 60
                          || total_tokens(&out->estimate) > GO_AHEAD_TOKENS;
    return true;
}

static bool refuse_large(const struct plan_estimate *estimate, struct error *error)
{
    char duration[DURATION_SHOWN_SIZE], tokens[DURATION_SHOWN_SIZE];

    return error_set(error, ERROR_INVALID,
                     "this sweep would take up to %s and %s tokens (%" PRId64
                     " cells): over %d minutes or %d million tokens it needs the go-ahead. Call "
                     "sweep_plan with the same arguments, show its estimate to whoever decides, "
                     "and give its plan_digest here",
                     duration_show(estimate->duration_s, duration),
                     count_show(total_tokens(estimate), tokens), estimate->cells, GO_AHEAD_MINUTES,
                     GO_AHEAD_TOKENS / 1000000);
}

bool sweep_request_check(const struct call *call, const struct sweep_request *request,
                         struct error *error)
{
    const char *given = call_text(call, "plan_digest");

    if (given == NULL)
        return !request->needs_go_ahead || refuse_large(&request->estimate, error);
    if (strcmp(given, request->digest) != 0)
        return error_set(error, ERROR_CONFLICT,
                         "\"plan_digest\" is of another plan: the arguments differ from those "
                         "given to sweep_plan, or %s was changed since (revision %" PRId64
                         " now). Call sweep_plan again with the same arguments",
                         request->deployment.name, request->deployment.revision);
    return true;
}
