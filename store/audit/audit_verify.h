/* SPDX-License-Identifier: Apache-2.0 */
/* Checks whether the audit log has been changed since it was written. */
#pragma once

#include <stdatomic.h>

#include "base/core/digest.h"
#include "base/core/text.h"
#include "store/ledger/change.h"

#define AUDIT_WRONG_SHOWN 10 /* maximum number of ids in wrong_ids */

/* A row's id and digest as noted earlier, from a log line or an export. */
struct audit_mark {
    int64_t id; /* 0: none */
    char digest[DIGEST_TEXT_SIZE];
};
/* Reads "1234:9f86..."; returns false if it is invalid. */
bool audit_mark_read(const char *text, struct audit_mark *out);

struct audit_verdict {
    /* Every row could be checked, and nothing found suggests that another program changed, removed,
     * moved or added rows. */
    bool intact;
    int64_t rows;                                 /* rows in the table audit */
    int64_t first_id, last_id, first_ms, last_ms; /* ids and times of the oldest and newest row */
    int64_t removed;                              /* rows that retention removed */
    int64_t removed_until_ms;                     /* when the newest of them was written */
    int64_t wrong; /* rows whose digest does not match the row and the previous row's digest */
    int64_t wrong_ids[AUDIT_WRONG_SHOWN]; /* the ids of the first of them */
    int64_t missing;                      /* rows that have disappeared from the end */
    int64_t alarms;         /* rows that report that another program wrote to the audit log */
    int64_t keyless_before; /* rows without a key, before any row with one */
    int64_t keyless_after;  /* later rows without a key: not written by opsbrain */
    int64_t locked;         /* rows whose key is not available */
    char locked_key[20];    /* the id of a key that is not available; "": none */
    /* The newest row is not the one that opsbrain's record names, or the record was
     * changed or removed. */
    bool end_changed;
    /* The anchor (audit_chain.h) was changed, or rows still exist that it says were removed. */
    bool anchor_changed;
    bool end_keyless;         /* the newest row has no key, although one is available */
    struct audit_mark newest; /* the newest row; a later check can use it as its mark */
    char key_id[20];          /* of the newest row; "": none */
    enum {
        MARK_NONE,  /* no mark was given */
        MARK_RIGHT, /* the mark's row has the mark's digest */
        MARK_WRONG, /* the mark's row has a different digest */
        MARK_GONE,  /* the mark's row is missing */
        MARK_OLDER, /* retention removed the mark's row */
    } mark;
    int64_t at_ms; /* when the check began */
};

/* Checks the entire log, which takes 3 to 5 s of CPU time for a million rows and occupies a reader
 * connection. `mark` and `stop` may be NULL. CANCELLED: *stop was set. */
CHECKED bool audit_verify(struct store *store, const struct audit_mark *mark,
                          const atomic_bool *stop, struct audit_verdict *out, struct error *error);
/* Copies the verdict of the latest check. Returns false if there was none yet. */
bool audit_last_verdict(struct store *store, struct audit_verdict *out);
/* Appends the verdict in words: one line, without a newline. */
void audit_verdict_describe(const struct audit_verdict *verdict, struct text *out);
/* Reads the newest row's id and digest from opsbrain's record, unchecked; id 0: there is none. */
CHECKED bool audit_newest(struct store *store, struct audit_mark *out, struct error *error);
