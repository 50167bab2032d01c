/* SPDX-License-Identifier: Apache-2.0 */
/* The cross-check of a cell compares the server's own counters with what was sent. This is the
 * interface between bench/, which sends the requests, and fleet/, which scrapes the counters. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* Everything that one attempt sent, from the probe (if there is one) to the end of the drain. */
struct sent {
    int64_t requests; /* only those that succeeded */
    /* The tokens of these requests, as the server's usage reports them. If an answer has no usage,
     * each of its chunks counts as one output token, and its input tokens are missing here. */
    int64_t input_tokens, output_tokens;
    /* What the server may also have counted: requests that failed, were cut off or were sent again,
     * with their tokens, and the further output tokens that answers without usage may have had. */
    int64_t more_requests, more_input_tokens, more_output_tokens;
    bool input_unknown; /* input tokens cannot be compared: not all answers reported them */
};

enum cross_check_verdict {
    CROSS_CHECK_NOTHING,      /* no evidence against the cell: the counts agree, or prove nothing */
    CROSS_CHECK_CONTAMINATED, /* the server also worked for other clients */
    CROSS_CHECK_RESTARTED,    /* the server restarted, or stopped answering */
    CROSS_CHECK_OTHER_MODEL,  /* the server has changed its model since the attempt began */
};

/* While a monitor waits for a server, it calls `stopped` at least five times a second, and gives up
 * when `stopped` returns true. `doing` says what the monitor is waiting for; a job shows it as its
 * progress. */
struct monitor_watch {
    bool (*stopped)(void *context, const char *doing);
    void *context;
};

struct cross_check {
    enum cross_check_verdict verdict;
    char reason[256]; /* one sentence; "" if there is no evidence against the cell */
    double gap_s;     /* longest time in the window without metrics; 0: normal, or not known */
    char served[256]; /* the model that the server lists, or "NAME (not listed)"; "": not known */
    char *json;       /* run_show returns it as `witness`; NULL: none */
    void *series;     /* packed by cross_check_set_series; NULL: none */
    size_t series_length;
    int64_t series_scrapes;
};
#define CROSS_CHECK_AUTO __attribute__((cleanup(cross_check_finish))) struct cross_check
void cross_check_finish(struct cross_check *cross_check);

/* Packs the scrapes of an attempt into cross_check->series. `columns` is {"at_ms": [...],
 * "requests_running": [...], ...}. If packing fails, logs a warning and leaves the series empty. */
void cross_check_set_series(struct cross_check *cross_check, const json_t *columns,
                            int64_t scrapes);
