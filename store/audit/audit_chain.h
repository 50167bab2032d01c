/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the audit log a chain: each row has a digest, which covers the row's contents and the
 * previous row's digest. A digest is an HMAC-SHA-256 if there is a key, otherwise a plain SHA-256.
 * Private to store/.
 *
 * The digest covers these bytes: the string "opsbrain audit row 1"; the previous row's digest (32
 * bytes; zeros for the first row); the numbers, in the order of enum audit_number; and the texts,
 * in the order of enum audit_text, each preceded by its length. Numbers and lengths have 8 bytes,
 * big-endian. */
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

/* The columns for both enums, in the same order. */
#define AUDIT_COLUMNS                                                                              \
    "id, at_ms, intent, times, request_id, principal, role, client, tool, arguments, phase, "      \
    "outcome, detail, subject, changed, key_id"

/* The tool in rows that report that another program wrote to the audit log. */
#define AUDIT_ALARM "audit_alarm"

/* A row to be written to the table audit, or read from it. Its texts are borrowed. */
struct audit_link {
    int64_t numbers[AUDIT_NUMBERS];
    struct audit_span {
        const char *bytes;
        size_t length;
    } texts[AUDIT_TEXTS];
};

/* Appends the row, in the caller's transaction, and sets its id and its key's id. A NULL text is
 * stored as an empty string. Adds an AUDIT_ALARM row first if opsbrain's record of the last row
 * that it added (struct audit_chain_head) was removed, has an invalid seal, or does not name the
 * newest row. INVALID: the chain has a key, but `keys` is empty. */
CHECKED bool audit_chain_append(struct sql_connection *connection, const struct audit_keys *keys,
                                struct audit_link *link, struct error *error);
/* Makes a text of the link point to `value`, which may be NULL. */
void audit_chain_set(struct audit_link *link, enum audit_text text, const char *value);

/* ---- For checking the chain, upgrading to it, and removing its oldest rows ---- */

/* Reads a digest from a column; a blob that is not DIGEST_BYTES long is read as zeros. */
void audit_chain_read_digest(const struct sql *sql, int column, uint8_t out[DIGEST_BYTES]);
/* Reads the current row, whose columns begin with AUDIT_COLUMNS. Its texts are borrowed until the
 * next step. */
void audit_chain_read(const struct sql *sql, struct audit_link *out);
/* Computes the row's digest; `before` is the digest of the previous row. Returns false if `keys`
 * lacks the key that the row names. */
bool audit_chain_digest(const struct audit_keys *keys, const struct audit_link *link,
                        const uint8_t before[DIGEST_BYTES], uint8_t out[DIGEST_BYTES]);

/* The record that opsbrain keeps of the last row that it added (table audit_head), and the newest
 * ids according to the tables audit and audit_anchors. The seal is a digest of the record. */
struct audit_chain_head {
    int64_t id;                     /* of the recorded row */
    int64_t stored_id;              /* the newest row in the table audit; 0: none */
    int64_t anchored_id;            /* the newest row that retention removed; 0: none */
    uint8_t digest[DIGEST_BYTES];   /* of the recorded row */
    char key_id[AUDIT_KEY_ID_SIZE]; /* the key of the row and of the seal; "": none */
    bool sealed; /* the seal is valid, or cannot be checked because its key is unknown */
    /* The record itself was removed: only stored_id and anchored_id are set. */
    bool missing;
};
CHECKED bool audit_chain_head_read(struct sql_connection *connection, const struct audit_keys *keys,
                                   struct audit_chain_head *out, struct error *error);
/* INVALID: the chain has a key, but `keys` is empty. */
CHECKED bool audit_chain_check_key(const struct audit_keys *keys,
                                   const struct audit_chain_head *head, struct error *error);
/* Writes the head's id and digest, sealed with the current key. */
CHECKED bool audit_chain_head_write(struct sql_connection *connection,
                                    const struct audit_keys *keys,
                                    const struct audit_chain_head *head, struct error *error);
/* Adds a row whose id the caller has set, and updates *head, which the caller must then write. */
CHECKED bool audit_chain_extend(struct sql_connection *connection, const struct audit_keys *keys,
                                struct audit_chain_head *head, struct audit_link *link,
                                struct error *error);

/* The anchor: a record that stands for the rows that retention removed. The oldest row that
 * is left is chained to the anchor's digest. */
struct audit_chain_anchor {
    int64_t last_id;                /* the newest removed row */
    int64_t at_ms;                  /* when the anchor was written */
    int64_t removed;                /* how many rows have been removed so far */
    int64_t from_ms, to_ms;         /* times of the oldest and newest removed rows */
    uint8_t digest[DIGEST_BYTES];   /* of the newest removed row */
    char key_id[AUDIT_KEY_ID_SIZE]; /* the key of the seal; "": none */
    bool sealed;                    /* as in struct audit_chain_head */
};
CHECKED bool audit_chain_anchor_read(struct sql_connection *connection,
                                     const struct audit_keys *keys, struct audit_chain_anchor *out,
                                     bool *found, struct error *error);
/* Adds the anchor, sealed with the current key. */
CHECKED bool audit_chain_anchor_add(struct sql_connection *connection,
                                    const struct audit_keys *keys,
                                    const struct audit_chain_anchor *anchor, struct error *error);
