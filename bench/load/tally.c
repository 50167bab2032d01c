/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/load/tally.h"

#include "base/core/text.h"

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
    *tally = (struct tally){ .load = load,
                             .input.low = INT64_MAX,
                             .output.low = INT64_MAX,
                             .flight.range.low = INT64_MAX,
                             .thinking.range.low = INT64_MAX };
    for (int i = 0; i < METRIC_COUNT; i++)
        tally->latency[i] = histogram_create();
    tally->chunk_gaps = histogram_create();
    tally->lag = histogram_create();
    tally->wake = histogram_create();
    tally->start_lag = histogram_create();
    tally->connect = histogram_create();
    tally->tls = histogram_create();
}

void tally_finish(struct tally *tally)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        histogram_destroy(tally->latency[i]);
    histogram_destroy(tally->chunk_gaps);
    histogram_destroy(tally->lag);
    histogram_destroy(tally->wake);
    histogram_destroy(tally->start_lag);
    histogram_destroy(tally->connect);
    histogram_destroy(tally->tls);
    request_records_finish(&tally->records);
}

/* ---- While the thread runs ------------------------------------------------------------------- */

/* Adds the part of the time since the last change that is within the window. */
static void advance_flight(const struct tally *tally, struct flight *flight, int64_t now_ns)
{
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
    advance_flight(tally, &tally->flight, now_ns);
    tally->flight.count++;
    tally->window_sent += load_in_window(tally->load, now_ns);
}

void tally_think(struct tally *tally, int64_t now_ns, int users)
{
    advance_flight(tally, &tally->thinking, now_ns);
    tally->thinking.count += users;
}

void tally_connection(struct tally *tally, int64_t connect_ns, int64_t tls_ns)
{
    tally->new_connections++;
    if (connect_ns > 0)
        histogram_record(tally->connect, (uint64_t)connect_ns);
    if (tls_ns > 0)
        histogram_record(tally->tls, (uint64_t)tls_ns);
}

/* Tokens that were read together share the time since the previous read with tokens, because a
 * proxy or the network may have joined chunks that the server sent one after the other. For the
 * tokens of the first read, there is no such time. */
static void record_read(struct tally *tally, const struct request *request)
{
    int64_t at_ns = request->latest_ns;

    if (request->before_ns == 0 || !request->read_in_window)
        return;
    histogram_record_many(tally->chunk_gaps,
                          (uint64_t)((at_ns - request->before_ns) / request->read_chunks),
                          (uint64_t)request->read_chunks);
    if (request->read_tokens > 0)
        histogram_record_many(tally->latency[METRIC_ITL],
                              (uint64_t)((at_ns - request->tokens_ns) / request->read_tokens),
                              (uint64_t)request->read_tokens);
}

/* Adds a chunk to the read that brought it. If the chunk is the first of a new read, first records
 * the previous read. */
static void note_read(struct tally *tally, struct request *request, int64_t now_ns, int64_t tokens)
{
    if (now_ns != request->latest_ns) {
        record_read(tally, request);
        if (request->read_tokens > 0)
            request->tokens_ns = request->latest_ns;
        request->before_ns = request->latest_ns;
        request->read_tokens = request->read_chunks = 0;
    }
    request->read_chunks++;
    request->read_tokens += tokens > 0 ? tokens : 0;
}

static void count_in_window(struct tally *tally, struct request *request, int64_t now_ns,
                            int64_t tokens)
{
    int64_t second = (now_ns - window_start_ns(tally)) / 1000000000;

    request->window_chunks++;
    request->window_tokens += tokens > 0 ? tokens : 0;
    tally->window_chunks++;
    if (second < TALLY_SECONDS)
        tally->second_chunks[second]++;
}

static void note_times(struct request *request, int64_t now_ns, int64_t tokens)
{
    if (request->chunks == 0) {
        request->first_ns = now_ns;
        request->first_tokens = tokens > 0 ? tokens : 1;
    } else if (request->chunks == 1) {
        request->second_ns = now_ns;
    }
    request->latest_ns = now_ns;
}

void tally_chunk(struct tally *tally, struct request *request, int64_t now_ns, int64_t tokens)
{
    bool counts = load_in_window(tally->load, now_ns);

    if (counts) {
        if (request->chunks > 0)
            histogram_record(tally->latency[METRIC_ICL], (uint64_t)(now_ns - request->latest_ns));
        count_in_window(tally, request, now_ns, tokens);
    }
    note_read(tally, request, now_ns, tokens);
    request->read_in_window = counts;
    note_times(request, now_ns, tokens);
    request->chunks++;
    atomic_fetch_add_explicit(&tally->arrived, 1, memory_order_relaxed);
}

static void record(struct tally *tally, enum metric metric, int64_t from_ns, int64_t to_ns,
                   bool censored)
{
    if (censored)
        histogram_record_censored(tally->latency[metric], (uint64_t)(to_ns - from_ns));
    else
        histogram_record(tally->latency[metric], (uint64_t)(to_ns - from_ns));
}

static bool is_open_loop(const struct tally *tally)
{
    return tally->load->arrivals != NULL;
}

int64_t tally_origin_ns(const struct tally *tally, const struct request *request)
{
    return is_open_loop(tally) ? request->due_ns : request->sent_ns;
}

int64_t tally_output_tokens(const struct request *request)
{
    if (request->completion_tokens >= 0)
        return request->completion_tokens;
    return request->has_chunk_tokens ? request->chunk_tokens : request->chunks;
}

/* Mean time per output token after the first chunk; 0 if no tokens came after it. */
static int64_t time_per_token_ns(const struct request *request)
{
    int64_t tokens = tally_output_tokens(request) - request->first_tokens;

    return tokens > 0 ? (request->latest_ns - request->first_ns) / tokens : 0;
}

static bool is_good(const struct tally *tally, const struct request *request)
{
    const struct load *load = tally->load;

    return (load->goodput_ttft_ns == 0
            || request->first_ns - tally_origin_ns(tally, request) <= load->goodput_ttft_ns)
           && (load->goodput_tpot_ns == 0 || time_per_token_ns(request) <= load->goodput_tpot_ns);
}

/* Counts oddities in answers that are nevertheless complete. */
static void count_oddities(struct tally *tally, const struct request *request)
{
    bool is_full = request->completion_tokens >= request->wanted.output_tokens;
    bool must_not_stop =
        (tally->load->workload->fields & (FIELD_IGNORE_EOS | FIELD_MIN_TOKENS)) != 0;

    tally->finish_wrong += request->finish == FINISH_STOP && is_full && must_not_stop;
    tally->finish_missing += request->finish == FINISH_UNKNOWN;
    tally->done_missing += !request->done;
}

/* Records the latencies from from_ns to the first output and to the end. `censored`: the request
 * did not end by itself, but was cut off. Of a latency whose event had not happened by then, only a
 * lower bound is known. */
static void record_span(struct tally *tally, const struct request *request, int64_t from_ns,
                        enum metric first, enum metric end, bool censored)
{
    bool has_first = request->first_ns != 0;

    record(tally, first, from_ns, has_first ? request->first_ns : request->end_ns, !has_first);
    record(tally, end, from_ns, request->end_ns, censored);
}

static void record_first_and_end(struct tally *tally, const struct request *request, bool censored)
{
    bool is_sent = request->sent_ns != 0;

    record_span(tally, request, tally_origin_ns(tally, request), METRIC_TTFT, METRIC_E2E, censored);
    if (!is_open_loop(tally))
        return;
    record(tally, METRIC_QUEUE, request->due_ns, is_sent ? request->sent_ns : request->end_ns,
           !is_sent);
    if (is_sent)
        record_span(tally, request, request->sent_ns, METRIC_TTFT_SENT, METRIC_E2E_SENT, censored);
}

static void count_success(struct tally *tally, const struct request *request)
{
    int64_t tokens = tally_output_tokens(request), mean_ns = time_per_token_ns(request);

    tally->succeeded++;
    count_oddities(tally, request);
    requested_lengths_add(&tally->asked, &request->wanted, request->prompt_tokens,
                          request->completion_tokens, request->cached_tokens);
    if (request->prompt_tokens >= 0) {
        tally->input_reported++;
        tally->input_tokens += request->prompt_tokens;
        note(&tally->input, request->prompt_tokens);
    }
    tally->output_tokens += tokens;
    note(&tally->output, tokens);
    tally->cached_tokens += request->cached_tokens > 0 ? request->cached_tokens : 0;
    if (request->reasoning_tokens >= 0) {
        tally->reasoning_reported++;
        tally->reasoning_tokens += request->reasoning_tokens;
    }
    tally->reasoned += request->reasoned;
    tally->chunks += request->chunks;
    record_first_and_end(tally, request, false);
    if (request->visible_ns != 0)
        record(tally, METRIC_TTFO, tally_origin_ns(tally, request), request->visible_ns, false);
    if (request->second_ns != 0 && request->first_tokens == 1)
        record(tally, METRIC_TTST, request->first_ns, request->second_ns, false);
    if (mean_ns > 0)
        histogram_record(tally->latency[METRIC_TPOT], (uint64_t)mean_ns);
}

/* Records a request that was cut off, by a timeout or by the cell's end. For latencies whose end
 * was not reached, records that they are at least this long. */
static void count_censored(struct tally *tally, const struct request *request)
{
    record_first_and_end(tally, request, true);
    if (request->failure != FAILURE_IDLE_TIMEOUT || request->first_ns == 0)
        return;
    record(tally, METRIC_ICL, request->latest_ns, request->end_ns, true);
    if (request->has_chunk_tokens)
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
    tally->waited += request->waited;
    if (failure == FAILURE_NONE) {
        count_success(tally, request);
        return;
    }
    if (is_open_loop(tally) && failure == FAILURE_CANCELLED) {
        tally->unanswered++;
        count_censored(tally, request);
        return;
    }
    tally->failures[failure]++;
    if (is_timeout(failure) && request->sent_ns != 0)
        count_censored(tally, request);
}

/* In a closed loop: whether the request was in flight during the whole window, and did not succeed
 * after it either. Such a request counts neither as a success nor as a failure. */
static bool was_held(const struct tally *tally, const struct request *request)
{
    return !is_open_loop(tally) && request->failure != FAILURE_NONE && request->sent_ns != 0
           && request->sent_ns < window_start_ns(tally) && request->end_ns >= window_end_ns(tally);
}

static void count_rates(struct tally *tally, const struct request *request)
{
    if (request->failure != FAILURE_NONE || !load_in_window(tally->load, request->end_ns))
        return;
    tally->ended.requests++;
    tally->ended.good += is_good(tally, request);
    tally->ended.e2e_ns += (double)(request->end_ns - request->sent_ns);
    if (request->prompt_tokens < 0)
        return;
    tally->ended.input_reported++;
    tally->ended.input_tokens += request->prompt_tokens;
}

/* Adds the tokens of those of the answer's chunks that arrived in the window: as the chunks
 * reported them, else estimated from the answer's mean number of tokens per chunk. Tokens that no
 * chunk reported are spread over all chunks. If the answer reported no tokens, only its chunks are
 * counted. */
static void count_window_tokens(struct tally *tally, const struct request *request)
{
    double tokens = (double)tally_output_tokens(request);

    if (request->window_chunks == 0)
        return;
    if (request->has_chunk_tokens)
        tally->window_tokens +=
            (double)request->window_tokens * tokens / (double)request->chunk_tokens;
    else if (request->completion_tokens >= 0)
        tally->window_tokens += (double)request->window_chunks * tokens / (double)request->chunks;
    else
        tally->uncounted_chunks += request->window_chunks;
}

static uint32_t microseconds(int64_t from_ns, int64_t to_ns)
{
    int64_t us = (to_ns - from_ns) / 1000;

    if (from_ns == 0 || to_ns == 0 || us < 0)
        return 0;
    return us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
}

static uint32_t count_or_unknown(int64_t count)
{
    return count < 0 || count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

static enum record_phase record_phase(const struct tally *tally, const struct request *request)
{
    int64_t at_ns;

    if (request->is_probe)
        return RECORD_PROBE;
    if (tally_counts(tally->load, request))
        return RECORD_WINDOW;
    at_ns = is_open_loop(tally) ? request->due_ns : request->end_ns;
    return at_ns < window_start_ns(tally) ? RECORD_WARMUP : RECORD_DRAIN;
}

static void note_record(struct tally *tally, const struct request *request, enum record_phase phase)
{
    const struct record row = {
        .index = request->index,
        /* These two are in nanoseconds until tally_close converts them: */
        .sent_us = request->sent_ns,
        .due_us = request->due_ns,
        .ttft_us = microseconds(request->sent_ns, request->first_ns),
        .e2e_us = microseconds(request->sent_ns, request->end_ns),
        .output_tokens = count_or_unknown(tally_output_tokens(request)),
        .chunks = count_or_unknown(request->chunks),
        .input_tokens = count_or_unknown(request->prompt_tokens),
        .cached_tokens = count_or_unknown(request->cached_tokens),
        .failure = (uint8_t)request->failure,
        .phase = (uint8_t)phase,
    };

    request_records_add(&tally->records, &row);
}

void tally_request(struct tally *tally, const struct request *request, int64_t now_ns)
{
    enum record_phase phase = record_phase(tally, request);

    record_read(tally, request);
    if (request->sent_ns != 0) {
        advance_flight(tally, &tally->flight, now_ns);
        tally->flight.count--;
    }
    if (phase == RECORD_PROBE)
        tally->probe = *request;
    if (phase == RECORD_WINDOW)
        count_ended(tally, request);
    tally->held += was_held(tally, request);
    if (phase == RECORD_WARMUP || phase == RECORD_PROBE)
        tally->early_failures[request->failure]++;
    if (phase != RECORD_DRAIN && tally->failure_texts[request->failure][0] == '\0')
        text_copy(tally->failure_texts[request->failure], TALLY_FAILURE_TEXT_SIZE,
                  request->failure_text);
    if (phase != RECORD_PROBE && request->sends > 1)
        tally->stale_connections += request->sends - 1;
    tally->left_open += phase != RECORD_PROBE && request->left_open;
    if (phase != RECORD_PROBE)
        count_rates(tally, request);
    count_window_tokens(tally, request);
    sent_totals_add(&tally->sent, request);
    note_record(tally, request, phase);
}

void tally_unsent(struct tally *tally, int64_t due_ns, int64_t now_ns, bool waited)
{
    const struct request request = {
        .due_ns = due_ns, .end_ns = now_ns, .waited = waited, .failure = FAILURE_CANCELLED
    };

    if (!load_in_window(tally->load, due_ns))
        return;
    tally->unsent++;
    if (!waited)
        histogram_record(tally->start_lag, (uint64_t)(now_ns - due_ns));
    count_ended(tally, &request);
}

/* ---- When the thread ends -------------------------------------------------------------------- */

void tally_close(struct tally *tally, int64_t now_ns)
{
    int64_t start_ns = window_start_ns(tally);

    advance_flight(tally, &tally->flight, now_ns);
    advance_flight(tally, &tally->thinking, now_ns);
    if (start_ns == INT64_MAX) /* there was no window */
        start_ns = now_ns;
    tally->records.origin_ns = start_ns;
    for (size_t i = 0; i < tally->records.count; i++) {
        struct record *row = &tally->records.rows[i];

        row->sent_us = row->sent_us == 0 ? 0 : (row->sent_us - start_ns) / 1000;
        row->due_us = (row->due_us - start_ns) / 1000;
    }
}
