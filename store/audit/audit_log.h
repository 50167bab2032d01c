/* SPDX-License-Identifier: Apache-2.0 */
/* The audit log: who called what, with which client and arguments, and with what outcome. */
#pragma once

#include "store/ledger/change.h"

struct audit_row {
    int64_t id, at_ms;
    int64_t began_ms; /* of an outcome: when its intent was recorded; 0: it has none */
    int64_t times;    /* how many calls it represents */
    char request_id[40], principal[64], role[16], client[128], tool[64], outcome[24];
    char phase[8]; /* "outcome", or "intent" if the call's outcome has not been recorded */
    char *arguments, *detail, *subject, *changed; /* heap */
};

/* Records the intent of a call that has effects outside opsbrain, before the call runs. Its outcome
 * must be recorded with the same `change`, which links the two rows. */
CHECKED bool audit_log_announce(struct store *store, struct change *change, struct error *error);
/* Records an outcome that store_change does not record: a refusal, a failure, a call that changed
 * nothing, or an event of the server itself, such as its start. */
CHECKED bool audit_log_add(struct store *store, const struct change *change, const char *outcome,
                           const char *detail, const char *subject, struct error *error);

struct audit_filter {
    const char *principal, *tool, *subject; /* NULL: any */
    int64_t before_id;                      /* only rows with a smaller id; 0: any */
    int64_t since_ms, until_ms;             /* until_ms is exclusive; 0: no limit */
};
/* Lists at most `limit` rows, newest first. *rows is a heap array; free it with
 * audit_log_rows_free. */
CHECKED bool audit_log_list(struct store *store, const struct audit_filter *filter, size_t limit,
                            struct audit_row **rows, size_t *count, struct error *error);
void audit_log_rows_free(struct audit_row *rows, size_t count);

/* ---- Events too frequent for a row each ---- */

enum audit_kind {
    AUDIT_REFUSED, /* calls that were refused or failed, or that changed nothing */
    AUDIT_READ,    /* reads of the audit log, and exports */
    AUDIT_LOGIN,   /* keys and sign-ins that were refused; `subject`: IPv4 address or IPv6 /64 */
    AUDIT_SESSION, /* sessions that were opened or ended */
    AUDIT_SECRET,  /* uses of secrets; `subject`: the name of the secret, and where it was sent */
};

struct audit_event {
    enum audit_kind kind;
    /* Who called what, with which client. The arguments are kept only if the call gets a row of
     * its own. */
    const struct change *change;
    const char *outcome, *detail, *subject;
};
/* Records one call. Depending on the kind, the first calls with the same principal, tool, outcome
 * and subject get a row each, as long as the principal's rows together are not too large. The
 * others are counted and share one row, which audit_log_flush writes. Memory and the number of rows
 * are bounded no matter what callers send: if there are too many principals, or one principal's
 * calls differ in too many ways, the rest are counted as "(several)". Returns false if the call's
 * row could be neither written nor queued. Thread safe. Waits for the disk only if the kind is
 * AUDIT_REFUSED. */
CHECKED bool audit_log_count(struct store *store, const struct audit_event *event,
                             struct error *error);
/* Call it once a minute: it writes what was counted since the last time. Uses of a secret are an
 * exception: only the 60th flush after the first use writes their count. Counts that cannot be
 * written are kept. Closing the store writes all counts. */
CHECKED bool audit_log_flush(struct store *store, struct error *error);
