/* SPDX-License-Identifier: Apache-2.0 */
/* A cell's second witness: the server's own counters, held against what was sent. What bench/,
 * which sends, and fleet/, which scrapes, tell each other, and what is kept of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* Everything that was sent in one attempt, from its first request (the probe) to its last (cut at
 * the end of the drain). */
struct sent {
    int64_t requests;                    /* answered whole */
    int64_t input_tokens, output_tokens; /* of those, by the server's usage, else by chunks */
    /* What the server may have counted on top: requests that failed or were cut, those sent twice,
     * and what an answer without usage may have had. */
    int64_t more_requests, more_input_tokens, more_output_tokens;
    bool input_untold; /* of answers without usage the input is not known: it is not compared */
};

enum cross_check_verdict {
    CROSS_CHECK_NOTHING, /* nothing speaks against the cell: the counts agree, or there are none */
    CROSS_CHECK_CONTAMINATED, /* the server did work for others */
    CROSS_CHECK_RESTARTED,    /* or went away */
    CROSS_CHECK_OTHER_MODEL,  /* it serves another model now than when the attempt began */
};

/* Whether whoever waits for a server is to stop. Asked at least five times a second. */
struct witness_watch {
    bool (*stopped)(void *context, const char *doing);
    void *context;
};

struct cross_check {
    enum cross_check_verdict verdict;
    char reason[256]; /* one sentence; "" where nothing speaks against the cell */
    double gap_s;     /* in the window, without metrics, far beyond the usual; 0: none such */
    char served[256]; /* the model as the server tells it, with what tells it from others; "" */
    char *json;       /* heap; what run_show tells as `witness` */
    void *series;     /* heap, packed; NULL: none */
    size_t series_length;
    int64_t series_scrapes;
};
#define CROSS_CHECK_AUTO __attribute__((cleanup(cross_check_finish))) struct cross_check
void cross_check_finish(struct cross_check *testimony);

/* The scrapes of an attempt, as columns: {"at_ms": [...], "requests_running": [...], ...}. Takes
 * the JSON's text into testimony->series, packed; where that fails it is logged and left out. */
void cross_check_set_series(struct cross_check *testimony, const json_t *columns, int64_t scrapes);
