/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/sent_totals.h"

#include "bench/load/tally.h"

/* If the server never reported the length of a prompt, a prompt is assumed to have at most
 * LONGER_TIMES as many tokens as requested (a word can have several), plus TEMPLATE_TOKENS for a
 * chat template. */
#define LONGER_TIMES 2
#define TEMPLATE_TOKENS 256

static int64_t at_least_zero(int64_t value)
{
    return value > 0 ? value : 0;
}

static void add_successful(struct sent_totals_sums *sums, const struct request *request)
{
    struct sent *sent = &sums->sent;

    sent->requests++;
    if (request->prompt_tokens >= 0)
        sent->input_tokens += request->prompt_tokens;
    else
        sent->input_unknown = true;
    if (request->completion_tokens >= 0) {
        sent->output_tokens += request->completion_tokens;
    } else {
        /* Each chunk counts as one token. The server may count more, up to the length requested. */
        sent->output_tokens += request->chunks;
        sent->more_output_tokens += at_least_zero(request->wanted.output_tokens - request->chunks);
    }
}

/* Counts one sending of the request that did not lead to a successful answer. The server may
 * nevertheless have counted all of its tokens. */
static void add_uncertain(struct sent_totals_sums *sums, const struct request *request)
{
    sums->sent.more_requests++;
    if (request->prompt_tokens >= 0)
        sums->sent.more_input_tokens += request->prompt_tokens;
    else
        sums->unsized++;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void sent_totals_add(struct sent_totals_sums *sums, const struct request *request)
{
    bool succeeded = request->failure == FAILURE_NONE;

    sums->longest_input = larger(sums->longest_input, request->prompt_tokens);
    sums->longest_output = larger(
        sums->longest_output, larger(request->completion_tokens, request->wanted.output_tokens));
    if (succeeded)
        add_successful(sums, request);
    for (unsigned i = succeeded ? 1 : 0; i + request->unread < request->sends; i++)
        add_uncertain(sums, request);
}

void sent_totals_merge(struct sent_totals_sums *into, const struct sent_totals_sums *from)
{
    struct sent *sent = &into->sent;

    sent->requests += from->sent.requests;
    sent->input_tokens += from->sent.input_tokens;
    sent->output_tokens += from->sent.output_tokens;
    sent->more_requests += from->sent.more_requests;
    sent->more_input_tokens += from->sent.more_input_tokens;
    sent->more_output_tokens += from->sent.more_output_tokens;
    sent->input_unknown = sent->input_unknown || from->sent.input_unknown;
    into->unsized += from->unsized;
    into->longest_input = larger(into->longest_input, from->longest_input);
    into->longest_output = larger(into->longest_output, from->longest_output);
}

struct sent sent_totals_total(const struct sent_totals_sums *sums, int64_t input_tokens)
{
    int64_t most = sums->longest_input > 0 ? sums->longest_input
                                           : LONGER_TIMES * input_tokens + TEMPLATE_TOKENS;
    struct sent sent = sums->sent;

    sent.more_input_tokens += sums->unsized * most;
    sent.more_output_tokens += sent.more_requests * sums->longest_output;
    return sent;
}
