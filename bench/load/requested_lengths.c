/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/requested_lengths.h"

#include <math.h>

static void note_length(struct length_sums *sums, int64_t wanted)
{
    bool first = sums->count == 0;

    sums->low = first || wanted < sums->low ? wanted : sums->low;
    sums->high = first || wanted > sums->high ? wanted : sums->high;
    sums->sum += wanted;
    sums->count++;
}

static void note_difference(struct length_sums *sums, int64_t difference)
{
    int64_t size = difference < 0 ? -difference : difference;

    sums->differing += size > 0;
    sums->difference_most = size > sums->difference_most ? size : sums->difference_most;
}

static void note_input(struct requested_lengths *lengths, int64_t wanted, int64_t got)
{
    note_length(&lengths->input, wanted);
    if (got >= 0)
        note_difference(&lengths->input, got - wanted);
    else
        lengths->uncounted_input += wanted;
}

void requested_lengths_add(struct requested_lengths *lengths, const struct wanted *wanted,
                           int64_t prompt_tokens, int64_t completion_tokens, int64_t cached_tokens)
{
    note_length(&lengths->output, wanted->output_tokens);
    if (wanted->input_tokens >= 0)
        note_input(lengths, wanted->input_tokens, prompt_tokens);
    if (completion_tokens > wanted->output_tokens || (completion_tokens >= 0 && !wanted->may_stop))
        note_difference(&lengths->output, completion_tokens - wanted->output_tokens);
    lengths->repeated += wanted->repeated;
    lengths->cut += wanted->cut;
    lengths->shared_tokens += wanted->shared_tokens;
    lengths->reported_caching += cached_tokens >= 0;
}

static void merge_lengths(struct length_sums *into, const struct length_sums *from)
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

static double mean(const struct length_sums *sums)
{
    return sums->count > 0 ? (double)sums->sum / (double)sums->count : NAN;
}

void requested_lengths_fill(const struct requested_lengths *lengths, struct measurement *out)
{
    out->input_tokens_requested_mean = mean(&lengths->input);
    out->input_tokens_requested_min = lengths->input.low;
    out->input_tokens_requested_max = lengths->input.high;
    out->input_tokens_differing = lengths->input.differing;
    out->input_tokens_difference_max = lengths->input.difference_most;
    out->output_tokens_requested_mean = mean(&lengths->output);
    out->output_tokens_requested_min = lengths->output.low;
    out->output_tokens_requested_max = lengths->output.high;
    out->output_tokens_differing = lengths->output.differing;
    out->output_tokens_difference_max = lengths->output.difference_most;
    out->prompts_repeated = lengths->repeated;
    out->lengths_cut = lengths->cut;
    out->shared_tokens = lengths->shared_tokens;
    out->cached_told = lengths->reported_caching;
}
