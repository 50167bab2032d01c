/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/requested_lengths.h"

#include <math.h>

static void note_length(struct requested_lengths_lengths *lengths, int64_t wanted)
{
    bool first = lengths->count == 0;

    lengths->low = first || wanted < lengths->low ? wanted : lengths->low;
    lengths->high = first || wanted > lengths->high ? wanted : lengths->high;
    lengths->sum += wanted;
    lengths->count++;
}

static void note_difference(struct requested_lengths_lengths *lengths, int64_t difference)
{
    int64_t size = difference < 0 ? -difference : difference;

    lengths->differing += size > 0;
    lengths->difference_most = size > lengths->difference_most ? size : lengths->difference_most;
}

static void note_input(struct requested_lengths *asked, int64_t wanted, int64_t got)
{
    note_length(&asked->input, wanted);
    if (got >= 0)
        note_difference(&asked->input, got - wanted);
    else
        asked->uncounted_input += wanted;
}

void requested_lengths_count(struct requested_lengths *asked, const struct wanted *wanted,
                             int64_t prompt_tokens, int64_t completion_tokens,
                             int64_t cached_tokens)
{
    note_length(&asked->output, wanted->output_tokens);
    if (wanted->input_tokens >= 0)
        note_input(asked, wanted->input_tokens, prompt_tokens);
    if (completion_tokens > wanted->output_tokens || (completion_tokens >= 0 && !wanted->may_stop))
        note_difference(&asked->output, completion_tokens - wanted->output_tokens);
    asked->repeated += wanted->repeated;
    asked->cut += wanted->cut;
    asked->shared_tokens += wanted->shared_tokens;
    asked->reported_caching += cached_tokens >= 0;
}

static void merge_lengths(struct requested_lengths_lengths *into,
                          const struct requested_lengths_lengths *from)
{
    bool first = into->count == 0;

    if (from->count == 0)
        return;
    into->low = first || from->low < into->low ? from->low : into->low;
    into->high = first || from->high > into->high ? from->high : into->high;
    into->sum += from->sum;
    into->count += from->count;
    into->differing += from->differing;
    if (from->difference_most > into->difference_most)
        into->difference_most = from->difference_most;
}

void requested_lengths_merge(struct requested_lengths *into, const struct requested_lengths *from)
{
    merge_lengths(&into->input, &from->input);
    merge_lengths(&into->output, &from->output);
    into->uncounted_input += from->uncounted_input;
    into->repeated += from->repeated;
    into->cut += from->cut;
    into->shared_tokens += from->shared_tokens;
    into->reported_caching += from->reported_caching;
}

static double mean(const struct requested_lengths_lengths *lengths)
{
    return lengths->count > 0 ? (double)lengths->sum / (double)lengths->count : NAN;
}

void requested_lengths_fill(const struct requested_lengths *asked, struct measurement *out)
{
    out->input_tokens_requested_mean = mean(&asked->input);
    out->input_tokens_requested_min = asked->input.low;
    out->input_tokens_requested_max = asked->input.high;
    out->input_tokens_differing = asked->input.differing;
    out->input_tokens_difference_max = asked->input.difference_most;
    out->output_tokens_requested_mean = mean(&asked->output);
    out->output_tokens_requested_min = asked->output.low;
    out->output_tokens_requested_max = asked->output.high;
    out->output_tokens_differing = asked->output.differing;
    out->output_tokens_difference_max = asked->output.difference_most;
    out->prompts_repeated = asked->repeated;
    out->lengths_cut = asked->cut;
    out->shared_tokens = asked->shared_tokens;
    out->cached_told = asked->reported_caching;
}
