#include "bench/tally.h"

#include <math.h>
#include <string.h>

#include "base/statistics.h"
#include "base/text.h"

static int64_t window_start_ns(const struct tally *tally)
{
    return atomic_load_explicit(&tally->load->window_start_ns, memory_order_relaxed);
}

static int64_t window_end_ns(const struct tally *tally)
{
    return atomic_load_explicit(&tally->load->window_end_ns, memory_order_relaxed);
}

static void note(struct range *range, int64_t value)
{
    range->low = value < range->low ? value : range->low;
    range->high = value > range->high ? value : range->high;
}

void tally_init(struct tally *tally, const struct load *load)
{
    *tally = (struct tally){
        .load = load, .input.low = INT64_MAX, .output.low = INT64_MAX, .flight.range.low = INT64_MAX
    };
    for (int i = 0; i < METRIC_COUNT; i++)
        tally->latency[i] = histogram_create();
    tally->lag = histogram_create();
    tally->wake = histogram_create();
    tally->start_lag = histogram_create();
}

void tally_finish(struct tally *tally)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        histogram_destroy(tally->latency[i]);
    histogram_destroy(tally->lag);
    histogram_destroy(tally->wake);
    histogram_destroy(tally->start_lag);
    records_finish(&tally->records);
}

/* ---- While it runs --------------------------------------------------------------------------- */

/* Accounts for the time since the last change, as far as it lies in the window. */
static void advance_flight(struct tally *tally, int64_t now_ns)
{
    struct flight *flight = &tally->flight;
    int64_t start = window_start_ns(tally), end = window_end_ns(tally);
    int64_t from = flight->changed_ns > start ? flight->changed_ns : start;
    int64_t to = now_ns < end ? now_ns : end;

    flight->changed_ns = now_ns;
    if (to <= from)
        return;
    flight->busy_ns += (double)flight->count * (double)(to - from);
    note(&flight->range, flight->count);
}

void tally_sent(struct tally *tally, int64_t now_ns)
{
    advance_flight(tally, now_ns);
    tally->flight.count++;
}

void tally_chunk(struct tally *tally, struct request *request, int64_t now_ns)
{
    bool in_window = load_in_window(tally->load, now_ns);
    int64_t second;

    if (request->first_ns == 0)
        request->first_ns = now_ns;
    else if (in_window)
        histogram_record(tally->latency[METRIC_ITL], (uint64_t)(now_ns - request->latest_ns));
    request->latest_ns = now_ns;
    request->chunks++;
    atomic_fetch_add_explicit(&tally->arrived, 1, memory_order_relaxed);
    if (!in_window)
        return;
    request->window_chunks++;
    tally->window_chunks++;
    second = (now_ns - window_start_ns(tally)) / 1000000000;
    if (second < TALLY_SECONDS)
        tally->second_chunks[second]++;
}

static void record(struct tally *tally, enum metric metric, int64_t from_ns, int64_t to_ns,
                   bool censored)
{
    if (censored)
        histogram_record_censored(tally->latency[metric], (uint64_t)(to_ns - from_ns));
    else
        histogram_record(tally->latency[metric], (uint64_t)(to_ns - from_ns));
}

/* Tokens of the answer: by usage, else its chunks. */
static int64_t output_tokens(const struct request *request)
{
    return request->completion_tokens >= 0 ? request->completion_tokens : request->chunks;
}

/* Mean time per output token behind the first; 0 where there is only one. */
static int64_t time_per_token_ns(const struct request *request)
{
    int64_t tokens = output_tokens(request);

    return tokens > 1 ? (request->end_ns - request->first_ns) / (tokens - 1) : 0;
}

static bool is_good(const struct tally *tally, const struct request *request)
{
    const struct load *load = tally->load;

    return (load->goodput_ttft_ns == 0
            || request->first_ns - request->sent_ns <= load->goodput_ttft_ns)
           && (load->goodput_tpot_ns == 0 || time_per_token_ns(request) <= load->goodput_tpot_ns);
}

static void count_success(struct tally *tally, const struct request *request)
{
    int64_t tokens = output_tokens(request), mean_ns = time_per_token_ns(request);

    tally->succeeded++;
    tally->good += is_good(tally, request);
    if (request->prompt_tokens >= 0) {
        tally->input_told++;
        tally->input_tokens += request->prompt_tokens;
        note(&tally->input, request->prompt_tokens);
    }
    tally->output_tokens += tokens;
    note(&tally->output, tokens);
    tally->cached_tokens += request->cached_tokens > 0 ? request->cached_tokens : 0;
    tally->chunks += request->chunks;
    tally->e2e_ns += (double)(request->end_ns - request->sent_ns);
    record(tally, METRIC_TTFT, request->sent_ns, request->first_ns, false);
    record(tally, METRIC_E2E, request->sent_ns, request->end_ns, false);
    if (mean_ns > 0)
        histogram_record(tally->latency[METRIC_TPOT], (uint64_t)mean_ns);
}

/* Cut by a timeout: what is known is that it would have taken longer. */
static void count_censored(struct tally *tally, const struct request *request)
{
    bool has_first = request->first_ns != 0;

    record(tally, METRIC_TTFT, request->sent_ns, has_first ? request->first_ns : request->end_ns,
           !has_first);
    record(tally, METRIC_E2E, request->sent_ns, request->end_ns, true);
    if (request->failure == FAILURE_IDLE_TIMEOUT && has_first)
        record(tally, METRIC_ITL, request->latest_ns, request->end_ns, true);
}

static bool is_timeout(enum failure failure)
{
    return failure == FAILURE_TTFT_TIMEOUT || failure == FAILURE_IDLE_TIMEOUT
           || failure == FAILURE_TOTAL_TIMEOUT;
}

static void count_ended(struct tally *tally, const struct request *request)
{
    enum failure failure = request->failure;

    tally->attempted++;
    if (failure == FAILURE_NONE) {
        count_success(tally, request);
        return;
    }
    tally->failures[failure]++;
    if (is_timeout(failure) && request->sent_ns != 0)
        count_censored(tally, request);
}

/* Its chunks in the window as tokens, by the tokens that a chunk of this answer had. */
static void count_window_tokens(struct tally *tally, const struct request *request)
{
    if (request->window_chunks == 0)
        return;
    if (request->completion_tokens < 0)
        tally->untold_chunks += request->window_chunks;
    else
        tally->window_tokens += (double)request->window_chunks * (double)request->completion_tokens
                                / (double)request->chunks;
}

static uint32_t microseconds(int64_t from_ns, int64_t to_ns)
{
    int64_t us = (to_ns - from_ns) / 1000;

    if (from_ns == 0 || to_ns == 0 || us < 0)
        return 0;
    return us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

static uint32_t count_or_unsaid(int64_t count)
{
    return count < 0 || count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

static enum record_phase record_phase(const struct tally *tally, const struct request *request)
{
    if (request->is_probe)
        return RECORD_PROBE;
    if (load_in_window(tally->load, request->end_ns))
        return RECORD_WINDOW;
    return request->end_ns < window_start_ns(tally) ? RECORD_WARMUP : RECORD_DRAIN;
}

static void note_record(struct tally *tally, const struct request *request, enum record_phase phase)
{
    const struct record row = {
        .index = request->index,
        .sent_us = request->sent_ns, /* in nanoseconds until the window's start is known */
        .ttft_us = microseconds(request->sent_ns, request->first_ns),
        .e2e_us = microseconds(request->sent_ns, request->end_ns),
        .output_tokens = count_or_unsaid(output_tokens(request)),
        .chunks = count_or_unsaid(request->chunks),
        .input_tokens = count_or_unsaid(request->prompt_tokens),
        .cached_tokens = count_or_unsaid(request->cached_tokens),
        .failure = (uint8_t)request->failure,
        .phase = (uint8_t)phase,
    };

    records_add(&tally->records, &row);
}

void tally_request(struct tally *tally, const struct request *request, int64_t now_ns)
{
    enum record_phase phase = record_phase(tally, request);

    if (request->sent_ns != 0) {
        advance_flight(tally, now_ns);
        tally->flight.count--;
    }
    if (phase == RECORD_PROBE)
        tally->probe = *request;
    if (phase == RECORD_WINDOW)
        count_ended(tally, request);
    if (phase == RECORD_WARMUP || phase == RECORD_PROBE)
        tally->early_failures[request->failure]++;
    if (phase != RECORD_DRAIN && tally->said[request->failure][0] == '\0')
        text_copy(tally->said[request->failure], TALLY_SAID_SIZE, request->said);
    if (phase != RECORD_PROBE && request->sends > 1)
        tally->stale_connections += request->sends - 1;
    count_window_tokens(tally, request);
    note_record(tally, request, phase);
}

/* ---- When it is over ------------------------------------------------------------------------- */

void tally_close(struct tally *tally, int64_t now_ns)
{
    int64_t start_ns = window_start_ns(tally);

    advance_flight(tally, now_ns);
    if (start_ns == INT64_MAX) /* it never came to a window */
        start_ns = now_ns;
    tally->records.origin_ns = start_ns;
    for (size_t i = 0; i < tally->records.count; i++) {
        struct record *row = &tally->records.rows[i];

        row->sent_us = row->sent_us == 0 ? 0 : (row->sent_us - start_ns) / 1000;
    }
}

static void merge_range(struct range *into, const struct range *from)
{
    if (from->low == INT64_MAX)
        return;
    note(into, from->low);
    note(into, from->high);
}

/* Threads load at the same time: what they have in flight adds up. */
static void merge_flight(struct flight *into, const struct flight *from)
{
    if (from->range.low == INT64_MAX)
        return;
    into->busy_ns += from->busy_ns;
    into->range.low = into->range.low == INT64_MAX ? 0 : into->range.low;
    into->range.low += from->range.low;
    into->range.high += from->range.high;
}

static void merge_failures(struct tally *into, const struct tally *from)
{
    for (int i = 0; i < FAILURE_COUNT; i++) {
        into->failures[i] += from->failures[i];
        into->early_failures[i] += from->early_failures[i];
        if (into->said[i][0] == '\0')
            memcpy(into->said[i], from->said[i], TALLY_SAID_SIZE);
    }
}

static void merge_tokens(struct tally *into, const struct tally *from)
{
    merge_range(&into->input, &from->input);
    merge_range(&into->output, &from->output);
    into->input_told += from->input_told;
    into->input_tokens += from->input_tokens;
    into->cached_tokens += from->cached_tokens;
    into->output_tokens += from->output_tokens;
    into->chunks += from->chunks;
    into->window_tokens += from->window_tokens;
    into->window_chunks += from->window_chunks;
    into->untold_chunks += from->untold_chunks;
    for (int i = 0; i < TALLY_SECONDS; i++)
        into->second_chunks[i] += from->second_chunks[i];
}

void tally_merge(struct tally *into, const struct tally *from)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        histogram_merge(into->latency[i], from->latency[i]);
    histogram_merge(into->lag, from->lag);
    histogram_merge(into->wake, from->wake);
    histogram_merge(into->start_lag, from->start_lag);
    into->attempted += from->attempted;
    into->succeeded += from->succeeded;
    into->good += from->good;
    into->e2e_ns += from->e2e_ns;
    into->stale_connections += from->stale_connections;
    merge_failures(into, from);
    merge_tokens(into, from);
    merge_flight(&into->flight, &from->flight);
    if (from->probe.end_ns != 0)
        into->probe = from->probe;
    records_merge(&into->records, &from->records);
}
