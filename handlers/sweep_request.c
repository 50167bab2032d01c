#include "handlers/sweep_request.h"

#include <inttypes.h>
#include <string.h>

#include "base/outbound.h"

const char *const bench_apis[] = { "completions", "chat", NULL };
const char *const bench_arrivals[] = { "closed", "constant", "poisson", "gamma", NULL };
const char *const bench_thinks[] = { "fixed", "exponential", NULL };
const char *const bench_searches[] = { "full", "adaptive", NULL };
const char *const limit_percentiles[] = { "p50", "p90", "p95", "p99", NULL };

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
        text_addf(out, ", in turns with %s (revision %" PRId64 ")", request->candidate.name,
                  request->candidate.revision);
}

static bool is_same_server(const struct deployment *a, const struct deployment *b)
{
    char hosts[2][URL_HOST_SIZE];
    int ports[2];
    struct error ignored;

    return url_check(a->url, hosts[0], &ports[0], &ignored)
           && url_check(b->url, hosts[1], &ports[1], &ignored) && strcmp(hosts[0], hosts[1]) == 0
           && ports[0] == ports[1];
}

static bool find_subjects(const struct call *call, struct sweep_request *out, struct error *error)
{
    const char *candidate = call_text(call, "candidate");

    out->subjects = 1;
    out->same_server = false;
    if (!deployment_of(call, &out->deployment, error))
        return false;
    if (candidate == NULL)
        return true;
    if (strcmp(candidate, out->deployment.name) == 0)
        return error_set(error, ERROR_INVALID,
                         "\"candidate\" is %s, the deployment itself: name another one. To see "
                         "what two measurements of one server differ by, register it under a "
                         "second name",
                         candidate);
    out->subjects = 2;
    if (!deployment_find(call->services->store, candidate, &out->candidate, error))
        return false;
    out->same_server = is_same_server(&out->deployment, &out->candidate);
    return true;
}

static bool check_http2(const struct sweep_request *request, const struct deployment *deployment,
                        struct error *error)
{
    if (request->plan.http2_streams == 0 || strncmp(deployment->url, "https://", 8) == 0)
        return true;
    return error_set(error, ERROR_INVALID,
                     "\"http2_streams\" is %ld, but %s is at %s: HTTP/2 is negotiated over TLS. "
                     "Leave it out, or register the server's https:// address",
                     request->plan.http2_streams, deployment->name, deployment->url);
}

bool sweep_request_read(const struct call *call, struct sweep_request *out, struct error *error)
{
    if (!find_subjects(call, out, error) || !plan_read(call->arguments, &out->plan, error)
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
    TEXT_AUTO named = { 0 };

    if (given == NULL)
        return !request->needs_go_ahead || refuse_large(&request->estimate, error);
    if (strcmp(given, request->digest) == 0)
        return true;
    sweep_request_name(request, &named);
    return error_set(error, ERROR_CONFLICT,
                     "\"plan_digest\" is of another plan: the arguments differ from those given to "
                     "sweep_plan, or a deployment was changed since (now: %s). Call sweep_plan "
                     "again with the same arguments",
                     text_string(&named));
}
