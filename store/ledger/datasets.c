/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/datasets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "store/ledger/store_private.h"

#define DATASET_COLUMNS(FIRST, COLUMN, OF)                                                         \
    FIRST(struct dataset_entry, TEXT, name, OF "name")                                             \
    COLUMN(struct dataset_entry, TEXT, digest, OF "digest")                                        \
    COLUMN(struct dataset_entry, TEXT, kind, OF "kind")                                            \
    COLUMN(struct dataset_entry, INTEGER, rows, OF "prompts")                                      \
    COLUMN(struct dataset_entry, INTEGER, skipped, OF "skipped")                                   \
    COLUMN(struct dataset_entry, INTEGER, file_bytes, OF "file_bytes")                             \
    COLUMN(struct dataset_entry, HEAP_TEXT, lengths, OF "lengths")                                 \
    COLUMN(struct dataset_entry, TEXT, principal, OF "principal")                                  \
    COLUMN(struct dataset_entry, INTEGER, created_ms, OF "created_ms")
static const struct sql_columns columns = SQL_COLUMNS(struct dataset_entry, DATASET_COLUMNS);
/* The index of the column `data`, which follows those above. */
#define DATA_COLUMN ((int)columns.count)

void dataset_entry_finish(struct dataset_entry *entry)
{
    sql_row_finish(&columns, entry);
    *entry = (struct dataset_entry){ 0 };
}

void dataset_entries_free(struct dataset_entry *entries, size_t count)
{
    sql_rows_free(&columns, entries, count);
}

/* ---- Creating ---- */

struct creation {
    const struct dataset_entry *entry;
    const void *data;
    size_t length;
    const char *principal;
    int64_t now_ms;
    char detail[160];
    bool existed;
};

/* Sets `existed` if there is already a dataset with this name and digest. */
static CHECKED bool check_name(struct sql_connection *connection, struct creation *creation,
                               struct error *error)
{
    char digest[65];
    bool found;
    SQL_AUTO sql = sql_begin(connection, "SELECT digest FROM datasets WHERE name = ?1");

    sql_bind_text(&sql, 1, creation->entry->name);
    if (!sql_find(&sql, &found, error))
        return false;
    creation->existed = false;
    if (!found)
        return true;
    sql_text(&sql, 0, digest, sizeof digest);
    creation->existed = strcmp(digest, creation->entry->digest) == 0;
    return creation->existed
           || error_set(error, ERROR_CONFLICT,
                        "a different dataset is already named \"%s\", and runs might use it: give "
                        "this one another name",
                        creation->entry->name);
}

static CHECKED bool insert(struct sql_connection *connection, const struct creation *creation,
                           struct error *error)
{
    static const char INSERT[] = SQL_INSERT_WITH("datasets", DATASET_COLUMNS, ", data", ", ?");
    struct dataset_entry row = *creation->entry;
    SQL_AUTO sql = sql_begin(connection, INSERT);

    text_copy(row.principal, sizeof row.principal, creation->principal);
    row.created_ms = creation->now_ms;
    sql_row_bind(&sql, &columns, &row);
    sql_bind_blob(&sql, DATA_COLUMN + 1, creation->data, creation->length);
    return sql_run(&sql, error);
}

static CHECKED bool apply_create(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    struct creation *creation = context;

    if (!check_name(connection, creation, error))
        return false;
    snprintf(creation->detail, sizeof creation->detail, "%ld %s%s", creation->entry->rows,
             creation->entry->kind, creation->existed ? ", already known" : "");
    return creation->existed || insert(connection, creation, error);
}

bool dataset_entry_create(struct store *store, const struct dataset_entry *entry, const void *data,
                          size_t length, int64_t now_ms, struct change *change, bool *existed,
                          struct error *error)
{
    struct creation creation = { .entry = entry,
                                 .data = data,
                                 .length = length,
                                 .principal = store_change_principal(change),
                                 .now_ms = now_ms };

    if (!store_change(store, change, apply_create, &creation, entry->name, creation.detail, error))
        return false;
    *existed = creation.existed;
    return true;
}

/* ---- Reading ---- */

bool dataset_entry_find(struct store *store, const char *name, struct dataset_entry *out,
                        void **data, size_t *length, struct error *error)
{
    bool found;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(
        reader.connection, SQL_SELECT(DATASET_COLUMNS, "") ", data FROM datasets WHERE name = ?1");

    sql_bind_text(&sql, 1, name);
    if (!sql_row_find(&sql, &columns, out, &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_NOT_FOUND,
                         "there is no dataset \"%.60s\": dataset_list shows the names", name);
    if (data != NULL) {
        const void *stored = sql_blob(&sql, DATA_COLUMN, length);

        *data = memory_zeroed(*length + 1, 1);
        memcpy(*data, stored, *length);
    }
    return true;
}

bool dataset_entry_list(struct store *store, struct dataset_entry **out, size_t *count,
                        struct error *error)
{
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql =
        sql_begin(reader.connection,
                  SQL_SELECT(DATASET_COLUMNS, "") "FROM datasets ORDER BY name LIMIT 1000");

    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}
