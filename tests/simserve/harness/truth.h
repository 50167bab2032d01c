/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the true latencies in a cell (one measurement of a sweep): for each request, joins the
 * time when the load generator sent it with the times when simserve wrote the answer. Both read the
 * same monotonic clock. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "base/net/outbound.h"
#include "bench/load/request_id.h"
#include "bench/load/request_records.h"
#include "store/ledger/sweeps.h"

/* The histograms are in nanoseconds. All except `itl` cover the requests that count in the
 * measurement window. `itl` and `tokens` need simserve's flag --truth-chunks. */
struct truth {
    struct histogram *ttft;     /* from sending to the first content chunk */
    struct histogram *ttft_due; /* from when the request was due to the first content chunk */
    struct histogram *itl;      /* gaps between chunks, if they end in the window */
    struct histogram *tpot;     /* from the first to the last chunk, per token after the first */
    struct histogram *e2e;      /* from sending to the end */
    struct histogram *e2e_due;  /* from when the request was due to the end */
    double tokens;              /* tokens written in the window */
    int64_t joined;             /* requests in `ttft` and `e2e` */
};

static inline void truth_create(struct truth *truth)
{
    *truth = (struct truth){ .ttft = histogram_create(),
                             .ttft_due = histogram_create(),
                             .itl = histogram_create(),
                             .tpot = histogram_create(),
                             .e2e = histogram_create(),
                             .e2e_due = histogram_create() };
}

static inline void truth_finish(struct truth *truth)
{
    histogram_destroy(truth->ttft);
    histogram_destroy(truth->ttft_due);
    histogram_destroy(truth->itl);
    histogram_destroy(truth->tpot);
    histogram_destroy(truth->e2e);
    histogram_destroy(truth->e2e_due);
}

struct truth_send {
    int64_t at_ns, due_ns;
};

/* Returns an array of *count entries, which the caller frees. By the request's index, it has the
 * times when each request was sent and was due; at_ns is 0 if the request does not count in the
 * window. */
static inline struct truth_send *truth_sends(const struct request_records *records, size_t *count)
{
    struct truth_send *sends;

    *count = 0;
    for (size_t i = 0; i < records->count; i++)
        if (records->rows[i].index >= *count)
            *count = records->rows[i].index + 1;
    sends = calloc(*count + 1, sizeof *sends);
    for (size_t i = 0; i < records->count; i++)
        if (records->rows[i].phase == RECORD_WINDOW)
            sends[records->rows[i].index] =
                (struct truth_send){ records->origin_ns + records->rows[i].sent_us * 1000,
                                     records->origin_ns + records->rows[i].due_us * 1000 };
    return sends;
}

static inline void truth_add_chunks(struct truth *truth, const json_t *record, int64_t start_ns,
                                    int64_t end_ns)
{
    const json_t *chunks = json_object_get(record, "chunk_us"), *chunk;
    int64_t first_ns = json_get_integer(record, "first_write_ns", 0), last_us = 0;
    double later_tokens = (double)json_get_integer(record, "output_tokens", 0) - 1;
    double per_chunk = later_tokens / ((double)json_array_size(chunks) - 1);
    size_t i;

    json_array_foreach(chunks, i, chunk) {
        int64_t at_us = json_integer_value(chunk), at_ns = first_ns + at_us * 1000;

        if (at_ns >= start_ns && at_ns < end_ns)
            truth->tokens += i > 0 ? per_chunk : 1;
        if (i > 0 && at_ns >= start_ns && at_ns < end_ns)
            histogram_record(truth->itl, (uint64_t)(at_us - last_us) * 1000);
        last_us = at_us;
    }
}

/* Adds a record of GET /sim/truth, if its request id has this nonce and an index below `count`. */
static inline void truth_add(struct truth *truth, const json_t *record, uint64_t nonce,
                             int64_t start_ns, int64_t end_ns, const struct truth_send *sends,
                             size_t count)
{
    const char *id = json_get_text(record, "request_id", "");
    int64_t first_ns = json_get_integer(record, "first_write_ns", 0);
    int64_t last_ns = json_get_integer(record, "last_write_ns", 0);
    int64_t ended_ns = json_get_integer(record, "end_ns", 0);
    int64_t later_tokens = json_get_integer(record, "output_tokens", 0) - 1;
    uint64_t record_nonce, index;

    if (!request_id_read(id, &record_nonce, &index) || record_nonce != nonce || index >= count)
        return;
    truth_add_chunks(truth, record, start_ns, end_ns);
    if (sends[index].at_ns == 0 || first_ns == 0)
        return;
    histogram_record(truth->ttft, (uint64_t)(first_ns - sends[index].at_ns));
    histogram_record(truth->ttft_due, (uint64_t)(first_ns - sends[index].due_ns));
    histogram_record(truth->e2e, (uint64_t)(ended_ns - sends[index].at_ns));
    histogram_record(truth->e2e_due, (uint64_t)(ended_ns - sends[index].due_ns));
    if (later_tokens > 0)
        histogram_record(truth->tpot, (uint64_t)((last_ns - first_ns) / later_tokens));
    truth->joined++;
}

/* What is needed to join simserve's records with those of one attempt at a cell. */
struct truth_join {
    const char *url;
    uint64_t nonce;           /* part of the request ids of the attempt */
    int64_t start_ns, end_ns; /* of the window */
    struct truth_send *sends;
    size_t count;
};

/* Adds the record in each line of an answer, and sets *since to the sequence number of the last
 * record. */
static inline bool truth_add_lines(const struct truth_join *join, const char *lines, int64_t *since,
                                   struct truth *out, struct error *error)
{
    const char *end;

    for (; lines != NULL && (end = strchr(lines, '\n')) != NULL; lines = end + 1) {
        json_t *record = NULL;

        if (!json_parse(lines, (size_t)(end - lines), &record, error))
            return false;
        truth_add(out, record, join->nonce, join->start_ns, join->end_ns, join->sends, join->count);
        *since = json_get_integer(record, "sequence", 0);
        json_decref(record);
    }
    return true;
}

/* Reads page after page, because simserve limits the number of records in an answer. */
static inline bool truth_read_pages(const struct truth_join *join, struct truth *out,
                                    struct error *error)
{
    int64_t since = 0, before;
    bool is_read;

    do {
        TEXT_AUTO url = { 0 };
        struct outbound_request request = { .accept = "*/*",
                                            .response_limit_bytes = 1024UL * 1024 * 1024 };
        struct outbound_response response = { 0 };

        before = since;
        text_addf(&url, "%s/sim/truth?since=%lld", join->url, (long long)since);
        request.url = text_string(&url);
        is_read = outbound_perform(&request, &response, error)
                  && truth_add_lines(join, response.body.data, &since, out, error);
        outbound_response_finish(&response);
    } while (is_read && since > before);
    return is_read;
}

/* Adds simserve's records of the attempt with this nonce to *out, which the caller has created. */
static inline bool truth_read(const char *url, const struct cell_result *result, uint64_t nonce,
                              struct truth *out, struct error *error)
{
    struct truth_join join = { .url = url, .nonce = nonce };
    struct request_records records = { 0 };
    bool is_read;

    if (!request_records_unpack(result->records, result->records_length, &records, error))
        return false;
    join.start_ns = records.origin_ns;
    join.end_ns = records.origin_ns + (int64_t)(result->measurement.window_s * 1e9);
    join.sends = truth_sends(&records, &join.count);
    is_read = truth_read_pages(&join, out, error);
    free(join.sends);
    request_records_finish(&records);
    return is_read;
}
