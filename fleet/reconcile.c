/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/reconcile.h"

#include <math.h>

#include "base/json/json.h"

/* If a server counted more than was sent, other clients are suspected. No further request is
 * tolerated. For tokens, an excess of TOKENS_SHARE is tolerated, plus TOKENS_PER_REQUEST for
 * each request, because an engine can count two tokens per request (begin and end of sequence) that
 * its `usage` omits. If the engine does not count requests, only tokens can reveal other clients:
 * then, instead of TOKENS_PER_REQUEST, only TOKENS_LEAST in all is tolerated. */
#define TOKENS_SHARE 0.01
#define TOKENS_PER_REQUEST 2.0
#define TOKENS_LEAST 2.0
#define SHORT_SHARE 0.9 /* a server that counted a smaller share counted too little */

static double tolerance(const struct reconciliation *reconciliation, int which)
{
    const struct count *requests = &reconciliation->counts[COUNT_REQUESTS];
    const struct count *count = &reconciliation->counts[which];

    if (which == COUNT_REQUESTS)
        return 0.5;
    return TOKENS_SHARE * (count->ours + count->more)
           + (isnan(requests->server) ? TOKENS_LEAST
                                      : TOKENS_PER_REQUEST * (requests->ours + requests->more));
}

static void compare(struct reconciliation *out, int which)
{
    struct count *count = &out->counts[which];
    double excess = count->server - count->ours - count->more;

    if (!(excess > tolerance(out, which))) /* also if the server reports no count (NaN) */
        return;
    count->foreign = excess;
    out->has_foreign = true;
}

/* Returns true if the server counted far fewer requests than it answered or, if it does not count
 * requests, far fewer output tokens. Input tokens are not used, because a server might not count
 * those that it found in its prefix cache. */
static bool is_short(const struct reconciliation *out)
{
    const struct count *requests = &out->counts[COUNT_REQUESTS];
    const struct count *count = isnan(requests->server) ? &out->counts[COUNT_OUTPUT] : requests;

    return count->server < SHORT_SHARE * count->ours - 1;
}

void reconcile(const struct engine_metrics_snapshot *first,
               const struct engine_metrics_snapshot *last, const struct sent *sent,
               struct reconciliation *out)
{
    *out = (struct reconciliation){
        .counts = {
            [COUNT_REQUESTS] = { "requests", engine_metrics_growth(first->requests_total, last->requests_total),
                                 (double)sent->requests, (double)sent->more_requests, 0 },
            [COUNT_INPUT] = { "input_tokens",
                              engine_metrics_growth(first->prompt_tokens_total, last->prompt_tokens_total),
                              (double)sent->input_tokens, (double)sent->more_input_tokens, 0 },
            [COUNT_OUTPUT] = { "output_tokens",
                               engine_metrics_growth(first->generation_tokens_total, last->generation_tokens_total),
                               (double)sent->output_tokens, (double)sent->more_output_tokens, 0 },
        },
    };
    for (int i = 0; i < COUNTS; i++)
        if (i != COUNT_INPUT || !sent->input_unknown)
            compare(out, i);
    out->is_shortfall = is_short(out);
}

void reconcile_describe(const struct reconciliation *reconciliation, struct text *out)
{
    static const char *const names[COUNTS] = { "request", "input token", "output token" };
    const char *comma = "";

    for (int i = 0; i < COUNTS; i++) {
        double foreign = reconciliation->counts[i].foreign;

        if (!(foreign > 0))
            continue;
        text_addf(out, "%s%.0f %s%s", comma, foreign, names[i], foreign < 1.5 ? "" : "s");
        comma = ", ";
    }
}

json_t *reconcile_to_json(const struct reconciliation *reconciliation)
{
    json_t *out = json_object();

    for (int i = 0; i < COUNTS; i++) {
        const struct count *count = &reconciliation->counts[i];
        json_t *json = json_pack(
            "{s:o, s:o, s:o, s:o, s:o}", "server", json_number_or_null(count->server), "ours",
            json_number_or_null(count->ours), "uncertain", json_number_or_null(count->more),
            "ratio", json_number_or_null(count->server / count->ours), "foreign",
            json_number_or_null(count->foreign));

        json_object_set_new(out, count->name, json);
    }
    return out;
}
