/* SPDX-License-Identifier: Apache-2.0 */
#include "store/audit/audit_export.h"

#include <string.h>

#include "base/core/clock.h"
#include "store/audit/audit_chain.h"
#include "store/ledger/store_private.h"

#define PAGE_BYTES (128UL << 10)
#define PAGE_ROWS 1000 /* limited because PostgreSQL sends all rows of a result at once */

static const char *const number_names[] = {
    [AUDIT_ID] = "id", [AUDIT_AT_MS] = "at_ms", [AUDIT_INTENT] = "intent", [AUDIT_TIMES] = "times"
};
static const char *const text_names[] = {
    [AUDIT_REQUEST_ID] = "request_id",
    [AUDIT_PRINCIPAL] = "principal",
    [AUDIT_ROLE] = "role",
    [AUDIT_CLIENT] = "client",
    [AUDIT_TOOL] = "tool",
    [AUDIT_ARGUMENTS] = "arguments",
    [AUDIT_PHASE] = "phase",
    [AUDIT_OUTCOME] = "outcome",
    [AUDIT_DETAIL] = "detail",
    [AUDIT_SUBJECT] = "subject",
    [AUDIT_CHANGED] = "changed",
    [AUDIT_KEY_ID] = "key_id",
};

/* A row that another program wrote can contain any bytes. text_add_printable changes a text with
 * NUL or invalid UTF-8 before it is exported, although the digest covers the original bytes. */
static json_t *text_json(const struct audit_span *span)
{
    TEXT_AUTO shown = { 0 };

    if (text_is_utf8(span->bytes, span->length) && memchr(span->bytes, '\0', span->length) == NULL)
        return json_stringn(span->bytes, span->length);
    text_add_printable(&shown, span->bytes, span->length, span->length);
    return json_string(text_string(&shown));
}

static json_t *row_json(const struct sql *sql, size_t *bytes)
{
    struct audit_link link;
    uint8_t digest[DIGEST_BYTES];
    char hex[DIGEST_TEXT_SIZE], at[CLOCK_TEXT_SIZE];
    json_t *row = json_object();

    audit_chain_read(sql, &link);
    audit_chain_read_digest(sql, AUDIT_NUMBERS + AUDIT_TEXTS, digest);
    digest_write(digest, hex);
    for (size_t i = 0; i < AUDIT_NUMBERS; i++)
        json_object_set_new(row, number_names[i], json_integer(link.numbers[i]));
    json_object_set_new(row, "at", json_string(clock_format_utc(link.numbers[AUDIT_AT_MS], at)));
    for (size_t i = 0; i < AUDIT_TEXTS; i++) {
        json_object_set_new(row, text_names[i], text_json(&link.texts[i]));
        *bytes += link.texts[i].length;
    }
    json_object_set_new(row, "digest", json_string(hex));
    return row;
}

bool audit_export(struct store *store, int64_t after_id, json_t **rows, struct error *error)
{
    json_auto_t *list = json_array();
    enum sql_step step = SQL_DONE;
    size_t bytes = 0;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT " AUDIT_COLUMNS ", digest FROM audit "
                                                "WHERE id > ?1 ORDER BY id LIMIT ?2");

    sql_bind_integer(&sql, 1, after_id);
    sql_bind_integer(&sql, 2, PAGE_ROWS);
    while (bytes < PAGE_BYTES && (step = sql_step(&sql, error)) == SQL_ROW)
        json_array_append_new(list, row_json(&sql, &bytes));
    if (step == SQL_FAILED)
        return false;
    *rows = json_incref(list);
    return true;
}
