/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether the audit log has been changed since it was written. */
#pragma once

#include <stdatomic.h>

#include "base/core/digest.h"
#include "base/core/text.h"
#include "store/ledger/change.h"

#define AUDIT_WRONG_SHOWN 10

/* A digest noted earlier, from a log line or an export. */
struct audit_mark {
    int64_t id; /* 0: none */
    char digest[DIGEST_TEXT_SIZE];
};
/* Reads "1234:9f86..."; false if it is invalid. */
bool audit_mark_read(const char *text, struct audit_mark *out);

struct audit_verdict {
    bool whole; /* nothing was changed, removed, moved or added, as far as can be detected */
    int64_t rows, first_id, last_id, first_ms, last_ms;
    int64_t removed, removed_until_ms; /* rows before the first one, removed by retention */
    int64_t wrong;                     /* rows whose digest does not fit the row before */
    int64_t wrong_ids[AUDIT_WRONG_SHOWN];
    int64_t missing;        /* rows that were written and have disappeared */
    int64_t alarms;         /* rows that report that another program wrote to the audit log */
    int64_t keyless_before; /* rows from before there was a key */
    int64_t keyless_after;  /* later rows without a key: not written by opsbrain */
    int64_t locked;         /* rows whose key is not available */
    char locked_key[20];    /* one of those keys */
    bool end_changed, anchor_changed;
    bool end_keyless; /* although a key is available */
    struct audit_mark newest;
    char key_id[20]; /* of the newest row; "": none */
    enum { MARK_NONE, MARK_HOLDS, MARK_WRONG, MARK_GONE, MARK_OLDER } mark;
    int64_t at_ms;
};

/* Reads the whole log, with a connection of its own: 3 to 5 s of CPU for a million rows. `mark` may
 * be NULL. CANCELLED once *stop is set, if it is not NULL. */
CHECKED bool audit_verify(struct store *store, const struct audit_mark *mark,
                          const atomic_bool *stop, struct audit_verdict *out, struct error *error);
/* The verdict of the latest check; false: there was none yet. */
bool audit_last_verdict(struct store *store, struct audit_verdict *out);
/* The verdict in words: one line, without an end of line. */
void audit_verdict_describe(const struct audit_verdict *verdict, struct text *out);
/* The newest row's id and digest, without reading the rest; id 0: the log is empty. */
CHECKED bool audit_newest(struct store *store, struct audit_mark *out, struct error *error);
