/* SPDX-License-Identifier: Apache-2.0 */
/* What can be wrong with the form of a request, and the answer to each fault. */
#pragma once

enum request_fault_kind {
    BAD_REQUEST_LINE,
    BAD_VERSION,
    BAD_LINE_END,
    BAD_FOLD,
    BAD_BLANK,
    BAD_NAME,
    BAD_VALUE,
    BAD_LENGTH,
    BAD_CODING,
    UNKNOWN_CODING,
    OLD_CODING,
    TWICE,
    CONTRADICTION,
    BAD_TRAILER,
    BAD_CHUNK,
    TOO_LONG,
};

struct request_fault {
    unsigned status;
    const char *message;
};

extern const struct request_fault request_faults[]; /* indexed by the kind */
