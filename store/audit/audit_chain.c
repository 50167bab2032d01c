/* SPDX-License-Identifier: Apache-2.0 */
#include "store/audit/audit_chain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/text.h"
#include "store/engine/sql_row.h"
#include "store/ledger/change.h"

/* ---- Digests ---- */

static void add_number(struct text *out, int64_t number)
{
    char bytes[8];

    for (int i = 0; i < 8; i++)
        bytes[i] = (char)(uint8_t)((uint64_t)number >> (56 - 8 * i));
    text_add_bytes(out, bytes, sizeof bytes);
}

static void add_span(struct text *out, const void *bytes, size_t length)
{
    add_number(out, (int64_t)length);
    if (length > 0)
        text_add_bytes(out, bytes, length);
}

/* Computes an HMAC with the key that has this id or, if the id is "", a SHA-256 without a key.
 * Returns false if `keys` lacks the key. */
static bool digest(const struct audit_keys *keys, const char *key_id, const struct text *message,
                   uint8_t out[DIGEST_BYTES])
{
    const struct audit_key *key;

    if (key_id[0] == '\0') {
        digest_sha256(message->data, message->length, out);
        return true;
    }
    key = audit_keys_find(keys, key_id);
    if (key != NULL)
        digest_hmac_sha256(key->bytes, sizeof key->bytes, message->data, message->length, out);
    return key != NULL;
}

bool audit_chain_digest(const struct audit_keys *keys, const struct audit_link *link,
                        const uint8_t before[DIGEST_BYTES], uint8_t out[DIGEST_BYTES])
{
    const struct audit_span *key = &link->texts[AUDIT_KEY_ID];
    char key_id[AUDIT_KEY_ID_SIZE] = "";
    TEXT_AUTO message = { 0 };

    if (key->length >= sizeof key_id)
        return false;
    if (key->length > 0)
        memcpy(key_id, key->bytes, key->length);
    text_add(&message, "opsbrain audit row 1");
    text_add_bytes(&message, (const char *)before, DIGEST_BYTES);
    for (size_t i = 0; i < AUDIT_NUMBERS; i++)
        add_number(&message, link->numbers[i]);
    for (size_t i = 0; i < AUDIT_TEXTS; i++)
        add_span(&message, link->texts[i].bytes, link->texts[i].length);
    return digest(keys, key_id, &message, out);
}

/* Returns whether the seal matches the message; also true if the key is unknown. */
static bool is_sealed(const struct audit_keys *keys, const char *key_id, const struct text *message,
                      const void *seal, size_t length)
{
    uint8_t own[DIGEST_BYTES];

    return !digest(keys, key_id, message, own)
           || (length == sizeof own && memcmp(seal, own, sizeof own) == 0);
}

void audit_chain_read_digest(const struct sql *sql, int column, uint8_t out[DIGEST_BYTES])
{
    size_t length;
    const void *bytes = sql_blob(sql, column, &length);

    memset(out, 0, DIGEST_BYTES);
    if (length == DIGEST_BYTES)
        memcpy(out, bytes, DIGEST_BYTES);
}

/* ---- The head ---- */

static void head_message(int64_t id, const uint8_t row_digest[DIGEST_BYTES], const char *key_id,
                         struct text *out)
{
    text_add(out, "opsbrain audit head 1");
    add_number(out, id);
    text_add_bytes(out, (const char *)row_digest, DIGEST_BYTES);
    add_span(out, key_id, strlen(key_id));
}

bool audit_chain_head_write(struct sql_connection *connection, const struct audit_keys *keys,
                            const struct audit_chain_head *head, struct error *error)
{
    const char *key_id = audit_keys_current(keys);
    TEXT_AUTO message = { 0 };
    uint8_t seal[DIGEST_BYTES];
    SQL_AUTO sql =
        sql_begin(connection, "INSERT INTO audit_head (one, id, digest, key_id, seal) "
                              "VALUES (1, ?1, ?2, ?3, ?4) ON CONFLICT (one) DO UPDATE SET "
                              "id = ?1, digest = ?2, key_id = ?3, seal = ?4");

    head_message(head->id, head->digest, key_id, &message);
    digest(keys, key_id, &message, seal);
    sql_bind_integer(&sql, 1, head->id);
    sql_bind_blob(&sql, 2, head->digest, DIGEST_BYTES);
    sql_bind_text(&sql, 3, key_id);
    sql_bind_blob(&sql, 4, seal, sizeof seal);
    return sql_run(&sql, error);
}

bool audit_chain_head_read(struct sql_connection *connection, const struct audit_keys *keys,
                           struct audit_chain_head *out, struct error *error)
{
    TEXT_AUTO message = { 0 };
    const void *seal;
    size_t length;
    SQL_AUTO sql = sql_begin(
        connection, "SELECT coalesce((SELECT max(id) FROM audit), 0), coalesce((SELECT "
                    "last_id FROM audit_anchors ORDER BY id DESC LIMIT 1), 0), "
                    "head.id, head.digest, head.key_id, head.seal "
                    "FROM (SELECT 1) AS one_row LEFT JOIN audit_head head ON head.one = 1");

    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    *out = (struct audit_chain_head){
        .stored_id = sql_integer(&sql, 0),
        .anchored_id = sql_integer(&sql, 1),
        .id = sql_integer(&sql, 2),
    };
    audit_chain_read_digest(&sql, 3, out->digest);
    sql_text(&sql, 4, out->key_id, sizeof out->key_id);
    seal = sql_blob(&sql, 5, &length);
    out->missing = length == 0;
    head_message(out->id, out->digest, out->key_id, &message);
    out->sealed = !out->missing && is_sealed(keys, out->key_id, &message, seal, length);
    return true;
}

/* ---- Adding ---- */

void audit_chain_set(struct audit_link *link, enum audit_text text, const char *value)
{
    link->texts[text] = (struct audit_span){ value, value == NULL ? 0 : strlen(value) };
}

static CHECKED bool insert(struct sql_connection *connection, const struct audit_link *link,
                           const uint8_t row_digest[DIGEST_BYTES], struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO audit (" AUDIT_COLUMNS ", digest) VALUES "
                                         "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, "
                                         "?13, ?14, ?15, ?16, ?17)");
    int position = 1;

    for (size_t i = 0; i < AUDIT_NUMBERS; i++)
        sql_bind_integer(&sql, position++, link->numbers[i]);
    for (size_t i = 0; i < AUDIT_TEXTS; i++)
        sql_bind_bytes(&sql, position++, link->texts[i].bytes, link->texts[i].length);
    sql_bind_blob(&sql, position, row_digest, DIGEST_BYTES);
    return sql_run(&sql, error);
}

/* Replaces each text that would not be stored unchanged with the text that will be stored, since
 * the digest covers the texts as they are stored. `repaired` holds the replacements. */
static void repair(struct audit_link *link, struct text repaired[AUDIT_TEXTS])
{
    for (size_t i = 0; i < AUDIT_TEXTS; i++) {
        struct audit_span *span = &link->texts[i];

        if (span->length == 0 || sql_is_storable(span->bytes, span->length))
            continue;
        text_add_utf8(&repaired[i], span->bytes, span->length);
        *span = (struct audit_span){ text_string(&repaired[i]), repaired[i].length };
    }
}

bool audit_chain_extend(struct sql_connection *connection, const struct audit_keys *keys,
                        struct audit_chain_head *head, struct audit_link *link, struct error *error)
{
    struct text repaired[AUDIT_TEXTS] = { { 0 } };
    uint8_t row_digest[DIGEST_BYTES];
    struct audit_link stored;
    bool ok;

    audit_chain_set(link, AUDIT_KEY_ID, audit_keys_current(keys));
    stored = *link;
    repair(&stored, repaired);
    audit_chain_digest(keys, &stored, head->digest, row_digest);
    head->id = head->stored_id = link->numbers[AUDIT_ID];
    memcpy(head->digest, row_digest, sizeof row_digest);
    ok = insert(connection, &stored, row_digest, error);
    for (size_t i = 0; i < AUDIT_TEXTS; i++)
        text_finish(&repaired[i]);
    return ok;
}

static int64_t next_id(const struct audit_chain_head *head)
{
    int64_t newest = head->stored_id > head->id ? head->stored_id : head->id;

    return (newest > head->anchored_id ? newest : head->anchored_id) + 1;
}

static CHECKED bool add(struct sql_connection *connection, const struct audit_keys *keys,
                        struct audit_chain_head *head, struct audit_link *link, struct error *error)
{
    link->numbers[AUDIT_ID] = next_id(head);
    return audit_chain_extend(connection, keys, head, link, error)
           && audit_chain_head_write(connection, keys, head, error);
}

/* Returns whether the head, which is opsbrain's record of the row that it added last, is sealed and
 * names the newest row (if the table is empty, the newest row that retention removed). */
static bool is_genuine(const struct audit_chain_head *head)
{
    return head->sealed
           && (head->stored_id == head->id
               || (head->stored_id == 0 && head->anchored_id == head->id));
}

/* Adds the alarm before any other row: later rows would hide the change. */
static CHECKED bool add_alarm(struct sql_connection *connection, const struct audit_keys *keys,
                              struct audit_chain_head *head, struct error *error)
{
    struct audit_link link = { .numbers = { [AUDIT_AT_MS] = clock_utc_ms(), [AUDIT_TIMES] = 1 } };
    char detail[240];

    snprintf(detail, sizeof detail,
             "the audit log was changed by another program: its newest row is %" PRId64
             ", and opsbrain's record of the row that it wrote last %s",
             head->stored_id, head->missing ? "was removed" : "differs");
    log_error("%s", detail);
    audit_chain_set(&link, AUDIT_PRINCIPAL, AUDIT_SERVER);
    audit_chain_set(&link, AUDIT_TOOL, AUDIT_ALARM);
    audit_chain_set(&link, AUDIT_ARGUMENTS, "{}");
    audit_chain_set(&link, AUDIT_PHASE, "outcome");
    audit_chain_set(&link, AUDIT_OUTCOME, "conflict");
    audit_chain_set(&link, AUDIT_DETAIL, detail);
    return add(connection, keys, head, &link, error);
}

bool audit_chain_check_key(const struct audit_keys *keys, const struct audit_chain_head *head,
                           struct error *error)
{
    return head->key_id[0] == '\0' || keys->count > 0
           || error_set(error, ERROR_INVALID,
                        "the audit log uses a key (%s), but audit_key names no file: name the file "
                        "with that key or, if the key is lost, a file with a new one",
                        head->key_id);
}

bool audit_chain_append(struct sql_connection *connection, const struct audit_keys *keys,
                        struct audit_link *link, struct error *error)
{
    struct audit_chain_head head;

    if (!audit_chain_head_read(connection, keys, &head, error)
        || !audit_chain_check_key(keys, &head, error))
        return false;
    if (!is_genuine(&head) && !add_alarm(connection, keys, &head, error))
        return false;
    return add(connection, keys, &head, link, error);
}

/* ---- Reading ---- */

void audit_chain_read(const struct sql *sql, struct audit_link *out)
{
    int column = 0;

    for (size_t i = 0; i < AUDIT_NUMBERS; i++)
        out->numbers[i] = sql_integer(sql, column++);
    for (size_t i = 0; i < AUDIT_TEXTS; i++) {
        const char *bytes = sql_blob(sql, column++, &out->texts[i].length);

        out->texts[i].bytes = bytes == NULL ? "" : bytes;
    }
}

/* ---- Anchors ---- */

static void anchor_message(const struct audit_chain_anchor *anchor, const char *key_id,
                           struct text *out)
{
    text_add(out, "opsbrain audit anchor 1");
    add_number(out, anchor->last_id);
    add_number(out, anchor->at_ms);
    add_number(out, anchor->removed);
    add_number(out, anchor->from_ms);
    add_number(out, anchor->to_ms);
    text_add_bytes(out, (const char *)anchor->digest, DIGEST_BYTES);
    add_span(out, key_id, strlen(key_id));
}

#define ANCHOR_COLUMNS(FIRST, COLUMN, OF)                                                          \
    FIRST(struct audit_chain_anchor, INTEGER, last_id, OF "last_id")                               \
    COLUMN(struct audit_chain_anchor, INTEGER, at_ms, OF "at_ms")                                  \
    COLUMN(struct audit_chain_anchor, INTEGER, removed, OF "removed")                              \
    COLUMN(struct audit_chain_anchor, INTEGER, from_ms, OF "from_ms")                              \
    COLUMN(struct audit_chain_anchor, INTEGER, to_ms, OF "to_ms")                                  \
    COLUMN(struct audit_chain_anchor, DIGEST, digest, OF "digest")                                 \
    COLUMN(struct audit_chain_anchor, TEXT, key_id, OF "key_id")
static const struct sql_columns anchor_columns =
    SQL_COLUMNS(struct audit_chain_anchor, ANCHOR_COLUMNS);
#define SEAL_COLUMN ((int)anchor_columns.count) /* counted from 0; follows ANCHOR_COLUMNS */
#define SELECT_ANCHORS SQL_SELECT(ANCHOR_COLUMNS, "") ", seal FROM audit_anchors "

bool audit_chain_anchor_read(struct sql_connection *connection, const struct audit_keys *keys,
                             struct audit_chain_anchor *out, bool *found, struct error *error)
{
    TEXT_AUTO message = { 0 };
    const void *seal;
    size_t length;
    SQL_AUTO sql = sql_begin(connection, SELECT_ANCHORS "ORDER BY id DESC LIMIT 1");

    *out = (struct audit_chain_anchor){ .sealed = true };
    if (!sql_row_find(&sql, &anchor_columns, out, found, error))
        return false;
    if (!*found)
        return true;
    seal = sql_blob(&sql, SEAL_COLUMN, &length);
    anchor_message(out, out->key_id, &message);
    out->sealed = is_sealed(keys, out->key_id, &message, seal, length);
    return true;
}

bool audit_chain_anchor_add(struct sql_connection *connection, const struct audit_keys *keys,
                            const struct audit_chain_anchor *anchor, struct error *error)
{
    static const char INSERT[] = SQL_INSERT_WITH("audit_anchors", ANCHOR_COLUMNS, ", seal", ", ?");
    struct audit_chain_anchor row = *anchor;
    uint8_t seal[DIGEST_BYTES];
    TEXT_AUTO message = { 0 };
    SQL_AUTO sql = sql_begin(connection, INSERT);

    text_copy(row.key_id, sizeof row.key_id, audit_keys_current(keys));
    anchor_message(&row, row.key_id, &message);
    digest(keys, row.key_id, &message, seal);
    sql_row_bind(&sql, &anchor_columns, &row);
    sql_bind_blob(&sql, SEAL_COLUMN + 1, seal, sizeof seal);
    return sql_run(&sql, error);
}
