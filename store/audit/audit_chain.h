/* SPDX-License-Identifier: Apache-2.0 */
/* The audit log as a chain. A row's digest is over its own contents and the digest of the row
 * before, as SHA-256, or HMAC-SHA-256 where there is a key. Private to store/.
 *
 * The digested bytes: "opsbrain audit row 1", the digest before (32 bytes, zeros before the first),
 * the numbers in the order of enum audit_number, 8 bytes each, the highest first, and the texts in
 * the order of enum audit_text, each with its length before it, 8 bytes too. */
#pragma once

#include "store/audit/audit_key.h"
#include "store/engine/sql.h"

enum audit_number { AUDIT_ID, AUDIT_AT_MS, AUDIT_INTENT, AUDIT_TIMES, AUDIT_NUMBERS };

enum audit_text {
    AUDIT_REQUEST_ID,
    AUDIT_PRINCIPAL,
    AUDIT_ROLE,
    AUDIT_CLIENT,
    AUDIT_TOOL,
    AUDIT_ARGUMENTS,
    AUDIT_PHASE,
    AUDIT_OUTCOME,
    AUDIT_DETAIL,
    AUDIT_SUBJECT,
    AUDIT_CHANGED,
    AUDIT_KEY_ID,
    AUDIT_TEXTS
};

/* The columns of both, in their order. */
#define AUDIT_COLUMNS                                                                              \
    "id, at_ms, intent, times, request_id, principal, role, client, tool, arguments, phase, "      \
    "outcome, detail, subject, changed, key_id"

/* the principal of rows that no principal caused: none can have this name */
#define AUDIT_SERVER "(server)"
#define AUDIT_ALARM                                                                                \
    "audit_alarm" /* a row that says that another program wrote to the audit log                   \
                   */

/* A row to be written to the table, or read from it; borrowed. */
struct audit_link {
    int64_t numbers[AUDIT_NUMBERS];
    struct audit_span {
        const char *bytes;
        size_t length;
    } texts[AUDIT_TEXTS];
};

/* Appends the row, in the caller's transaction. Its texts are those that are not NULL; its id and
 * its key are set here. If the newest row is not the one that was added last, a row that says so is
 * added first. INVALID: the chain has a key, and none was given. */
CHECKED bool audit_chain_append(struct sql_connection *connection, const struct audit_keys *keys,
                                struct audit_link *link, struct error *error);
void audit_chain_set(struct audit_link *link, enum audit_text text, const char *value);

/* ---- For those that check it or shorten it ---- */

/* A column's digest; a blob of another length is invalid and becomes zeros. */
void audit_chain_read_digest(const struct sql *sql, int column, uint8_t out[DIGEST_BYTES]);
/* The row of the current step, whose columns are AUDIT_COLUMNS. Borrowed until the next step. */
void audit_chain_read(const struct sql *sql, struct audit_link *out);
/* False: its key is not among them. */
bool audit_chain_digest(const struct audit_keys *keys, const struct audit_link *link,
                        const uint8_t before[DIGEST_BYTES], uint8_t out[DIGEST_BYTES]);

/* The newest row, as the chain left it. */
struct audit_chain_head {
    int64_t id;
    int64_t stored_id;   /* the newest row in the table; 0: none */
    int64_t anchored_id; /* the newest row that retention removed; 0: none */
    uint8_t digest[DIGEST_BYTES];
    char key_id[AUDIT_KEY_ID_SIZE];
    bool sealed;  /* written by opsbrain, not by another program; also true if its key is unknown */
    bool missing; /* somebody removed it; the other members are then 0, except stored_id and
                   * anchored_id */
};
CHECKED bool audit_chain_head_read(struct sql_connection *connection, const struct audit_keys *keys,
                                   struct audit_chain_head *out, struct error *error);
/* INVALID: the chain has a key, and none was given. */
CHECKED bool audit_chain_check_key(const struct audit_keys *keys,
                                   const struct audit_chain_head *head, struct error *error);
CHECKED bool audit_chain_head_write(struct sql_connection *connection,
                                    const struct audit_keys *keys,
                                    const struct audit_chain_head *head, struct error *error);
/* Adds a row whose id is set; it becomes the head, which the caller still has to write. */
CHECKED bool audit_chain_extend(struct sql_connection *connection, const struct audit_keys *keys,
                                struct audit_chain_head *head, struct audit_link *link,
                                struct error *error);

/* The anchor, which represents the removed rows. */
struct audit_chain_anchor {
    int64_t last_id, at_ms, removed, from_ms, to_ms;
    uint8_t digest[DIGEST_BYTES];
    char key_id[AUDIT_KEY_ID_SIZE];
    bool sealed; /* as above */
};
CHECKED bool audit_chain_anchor_read(struct sql_connection *connection,
                                     const struct audit_keys *keys, struct audit_chain_anchor *out,
                                     bool *found, struct error *error);
/* Seals it with the current key. */
CHECKED bool audit_chain_anchor_add(struct sql_connection *connection,
                                    const struct audit_keys *keys,
                                    const struct audit_chain_anchor *anchor, struct error *error);
