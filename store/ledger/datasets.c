/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/datasets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/core/text.h"
#include "store/ledger/store_private.h"

#define COLUMNS "name, digest, kind, prompts, skipped, file_bytes, lengths, principal, created_ms "

void dataset_entry_finish(struct dataset_entry *entry)
{
    free(entry->lengths);
    *entry = (struct dataset_entry){ 0 };
}

void dataset_entries_free(struct dataset_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++)
        dataset_entry_finish(&entries[i]);
    free(entries);
}

static void read_row(const struct sql *sql, struct dataset_entry *entry)
{
    *entry = (struct dataset_entry){
        .rows = sql_integer(sql, 3),
        .skipped = sql_integer(sql, 4),
        .file_bytes = sql_integer(sql, 5),
        .lengths = sql_text_copy(sql, 6),
        .created_ms = sql_integer(sql, 8),
    };
    sql_text(sql, 0, entry->name, sizeof entry->name);
    sql_text(sql, 1, entry->digest, sizeof entry->digest);
    sql_text(sql, 2, entry->kind, sizeof entry->kind);
    sql_text(sql, 7, entry->principal, sizeof entry->principal);
}

/* ---- A new one ------------------------------------------------------------------------------- */

struct creation {
    const struct dataset_entry *entry;
    const void *data;
    size_t length;
    const char *principal;
    int64_t now_ms;
    char detail[160];
    bool existed;
};

/* The one of this name, if there is one. */
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
                        "the dataset \"%s\" is another one already, and runs may point at it: "
                        "give this one another name",
                        creation->entry->name);
}

static CHECKED bool insert(struct sql_connection *connection, const struct creation *creation,
                           struct error *error)
{
    const struct dataset_entry *entry = creation->entry;
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO datasets (" COLUMNS ", data) "
                                         "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");

    sql_bind_text(&sql, 1, entry->name);
    sql_bind_text(&sql, 2, entry->digest);
    sql_bind_text(&sql, 3, entry->kind);
    sql_bind_integer(&sql, 4, entry->rows);
    sql_bind_integer(&sql, 5, entry->skipped);
    sql_bind_integer(&sql, 6, entry->file_bytes);
    sql_bind_text(&sql, 7, entry->lengths);
    sql_bind_text(&sql, 8, creation->principal);
    sql_bind_integer(&sql, 9, creation->now_ms);
    sql_bind_blob(&sql, 10, creation->data, creation->length);
    return sql_run(&sql, error);
}

static CHECKED bool apply_create(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    struct creation *creation = context;

    if (!check_name(connection, creation, error))
        return false;
    snprintf(creation->detail, sizeof creation->detail, "%ld %s%s", creation->entry->rows,
             creation->entry->kind, creation->existed ? ", known already" : "");
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

/* ---- Reading --------------------------------------------------------------------------------- */

bool dataset_entry_find(struct store *store, const char *name, struct dataset_entry *out,
                        void **data, size_t *length, struct error *error)
{
    bool found;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql =
        sql_begin(reader.connection, "SELECT " COLUMNS ", data FROM datasets WHERE name = ?1");

    sql_bind_text(&sql, 1, name);
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_NOT_FOUND,
                         "there is no dataset \"%.60s\": dataset_list shows those there are", name);
    read_row(&sql, out);
    if (data != NULL) {
        const void *kept = sql_blob(&sql, 9, length);

        *data = memory_zeroed(*length + 1, 1);
        memcpy(*data, kept, *length);
    }
    return true;
}

bool dataset_entry_list(struct store *store, struct dataset_entry **out, size_t *count,
                        struct error *error)
{
    struct dataset_entry *entries = NULL;
    size_t length = 0;
    enum sql_step step;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql =
        sql_begin(reader.connection, "SELECT " COLUMNS "FROM datasets ORDER BY name LIMIT 1000");

    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        entries = sql_rows_grow(entries, length, sizeof *entries);
        read_row(&sql, &entries[length++]);
    }
    if (step == SQL_FAILED) {
        dataset_entries_free(entries, length);
        return false;
    }
    *out = entries;
    *count = length;
    return true;
}
