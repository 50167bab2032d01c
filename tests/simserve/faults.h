/* SPDX-License-Identifier: Apache-2.0 */
/* The faults that the server can show on purpose. They are drawn for each request, unless the
 * request itself names its faults (in X-Sim-Fault). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"

enum fault {
    /* The request is refused with an error status. If it has several of these faults, the first in
     * this list decides. */
    FAULT_UNAUTHORIZED,
    FAULT_TOO_LONG,
    FAULT_RATE_LIMITED,
    FAULT_INTERNAL,
    FAULT_UNAVAILABLE,
    /* Connection faults. */
    FAULT_RESET_BEFORE_HEADERS,
    FAULT_SLOW_HEADERS,
    FAULT_CLOSE_AFTER_ANSWER,
    /* Faults in what is sent and when. */
    FAULT_STALL_BEFORE_FIRST,
    FAULT_STALL_MID_STREAM,
    FAULT_RESET_MID_STREAM,
    FAULT_ERROR_EVENT,
    FAULT_TRUNCATED,
    FAULT_MISSING_DONE,
    FAULT_SHORT_OUTPUT,
    FAULT_PROMPT_TRUNCATED,
    /* Faults in the content of events. */
    FAULT_NOT_SSE,
    FAULT_MISSING_USAGE,
    FAULT_USAGE_IN_LAST_CONTENT,
    FAULT_USAGE_IN_EVERY_CHUNK,
    FAULT_USAGE_NULL,
    FAULT_USAGE_AS_TIMINGS,
    FAULT_WRONG_FINISH_REASON,
    FAULT_ABORTED,
    FAULT_MISSING_FINISH,
    FAULT_NO_ROLE_CHUNK,
    FAULT_REASONING_FIRST,
    FAULT_TOOL_CALL,
    /* Faults in the layout of the bytes. */
    FAULT_COMMENT_LINES,
    FAULT_CRLF_LINES,
    FAULT_NO_SPACE_AFTER_DATA,
    FAULT_SPLIT_EVENTS,
    FAULT_JOINED_EVENTS,
    FAULT_COUNT
};

#define FAULT_BIT(fault) (UINT64_C(1) << (fault))

struct fault_kind {
    const char *name;
    const char *help;
    int status;          /* of the refusal; 0 if the fault is not a refusal */
    const char *type;    /* of the error that the refusal reports */
    const char *message; /* NULL if it is composed for each request */
};

/* When a fault strikes: every period-th request, or with a probability, or both. */
struct fault_rate {
    double probability;
    int64_t period; /* 0 = no period */
};

const struct fault_kind *fault_kind(enum fault fault);
/* Returns FAULT_COUNT if no fault has that name. */
enum fault fault_find(const char *name, size_t length);
/* Reads a comma-separated list of names into a mask of FAULT_BIT. */
bool faults_parse(const char *names, uint64_t *out, struct error *error);
/* Draws the faults of request `number`, as a mask. The same seed and number give the same faults.
 */
uint64_t faults_draw(const struct fault_rate rates[FAULT_COUNT], uint64_t seed, uint64_t number);
/* Returns the first fault in the mask that is a refusal; NULL if none is. */
const struct fault_kind *faults_refusal(uint64_t mask);
