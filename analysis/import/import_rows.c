/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the rows of a JSON file: objects that are in a list, that follow one another, or that are
 * members of an object ("cells": {"c1": {...}}). Values in the objects around a row also belong to
 * the row. Members of an object within a row are named after the object and the member:
 * "ttft_ms.p50". */
#include <stdlib.h>
#include <string.h>

#include "analysis/import/import_formats.h"
#include "analysis/import/import_members.h"
#include "analysis/import/import_table.h"
#include "base/core/memory.h"

#define DEPTH_MAX 6     /* of nested objects */
#define GROUPS_MAX 4    /* of nested groups (lists or objects of rows) */
#define VALUE_SIZE 1024 /* bytes, with the NUL; a longer text is not kept */
#define ABSENT SIZE_MAX

/* The file is read twice: first for the names of all rows' members, then for the rows. */
struct rows {
    struct import_table table;
    json_t *indices; /* each member's name with the index of its column */
    bool is_first_pass;
    /* Whether the file begins with '{', not with a list. If so, a row that is a whole document is
     * identified by its line. */
    bool has_lines;
    int64_t line; /* the row's line, if the row is a whole document; 0: rows are numbered */
    /* The column for the names of a document's members, if these are rows or contain rows. */
    const char *label;
    size_t rows;           /* number read so far in this pass */
    size_t names_left_out; /* members without a column, because there are too many names */
    /* The values of the row being read and of the objects around it, each ending with NUL; at[i] is
     * the offset of column i's value, or ABSENT. */
    struct text values;
    size_t at[CSV_FIELDS_MAX];
    struct error *error;
    bool refused;
};

static void rows_finish(struct rows *rows)
{
    json_decref(rows->indices);
    text_finish(&rows->values);
    free(rows);
}

static struct rows *rows_create(const struct import_alias *aliases, const char *const *stated)
{
    struct rows *rows = memory_zeroed(1, sizeof *rows);

    rows->label = "name";
    rows->indices = json_object();
    rows->table.aliases = aliases;
    rows->table.stated = stated;
    rows->table.has_alternatives = true;
    rows->is_first_pass = true;
    return rows;
}

/* ---- Members ---- */

static void note_name(struct rows *rows, const char *path)
{
    if (json_object_get(rows->indices, path) != NULL)
        return;
    if (rows->table.count == CSV_FIELDS_MAX) {
        rows->names_left_out++;
        return;
    }
    json_object_set_new(rows->indices, path, json_integer((json_int_t)rows->table.count));
    import_table_add_column(&rows->table, path);
}

static void keep_value(struct rows *rows, const char *path, const char *value)
{
    const json_t *index = json_object_get(rows->indices, path);

    if (index == NULL)
        return;
    rows->at[json_integer_value(index)] = rows->values.length;
    text_add(&rows->values, value);
    text_add_bytes(&rows->values, "", 1);
}

static void add_value(struct rows *rows, const char *path, const char *value)
{
    if (rows->is_first_pass)
        note_name(rows, path);
    else
        keep_value(rows, path, value);
}

/* Adds the name of a group's member, in a column that is never listed as unknown. */
static void add_label(struct rows *rows, const char *path, const char *value)
{
    add_value(rows, path, value);
    if (rows->is_first_pass && json_object_get(rows->indices, path) != NULL)
        rows->table.columns[json_integer_value(json_object_get(rows->indices, path))].is_ignored =
            true;
}

static void join(const char *path, const char *name, char out[HEADING_SIZE])
{
    TEXT_AUTO joined = { 0 };

    text_addf(&joined, "%s%s%s", path, path[0] != '\0' ? "." : "", name);
    text_copy(out, HEADING_SIZE, text_string(&joined));
}

static bool add_member(struct rows *rows, struct json_scan *scan, const char *path, int depth);

static bool add_members(struct rows *rows, struct json_scan *scan, const char *path, int depth)
{
    enum json_scan_token token;

    while ((token = json_scan_next(scan)) == JSON_SCAN_KEY) {
        char name[HEADING_SIZE], longer[HEADING_SIZE];

        json_scan_copy(scan, name, sizeof name);
        join(path, name, longer);
        if (!add_member(rows, scan, longer, depth))
            return false;
    }
    return token == JSON_SCAN_OBJECT_END;
}

/* Adds a list, or an object that is nested too deeply, as written, but truncated if long. */
static bool add_nested(struct rows *rows, struct json_scan *scan, const char *path)
{
    TEXT_AUTO text = { 0 };
    const char *bytes;
    size_t length;

    if (!json_scan_value(scan, &bytes, &length))
        return false;
    text_add_printable(&text, bytes, length, 240);
    add_value(rows, path, text_string(&text));
    return true;
}

/* Adds the member whose value is next. */
static bool add_member(struct rows *rows, struct json_scan *scan, const char *path, int depth)
{
    struct json_scan again = *scan;
    enum json_scan_token token = json_scan_next(scan);
    char text[VALUE_SIZE];

    if (token == JSON_SCAN_OBJECT && depth < DEPTH_MAX)
        return add_members(rows, scan, path, depth + 1);
    if (token == JSON_SCAN_OBJECT || token == JSON_SCAN_ARRAY) {
        *scan = again;
        return add_nested(rows, scan, path);
    }
    if (token == JSON_SCAN_NULL || token == JSON_SCAN_FAILED)
        return token == JSON_SCAN_NULL;
    if (token != JSON_SCAN_STRING) {
        size_t length = scan->length < sizeof text ? scan->length : sizeof text - 1;

        memcpy(text, scan->text, length);
        text[length] = '\0';
    } else if (!json_scan_copy(scan, text, sizeof text)) {
        text_copy(text, sizeof text, "(a text too long to be kept)");
    }
    add_value(rows, path, text);
    return true;
}

/* ---- Where the rows are ---- */

/* Whether the next object has at least two known members, one of which is a rate or a latency.
 * Members of objects within it count, too. */
static bool looks_like_row(const struct rows *rows, struct json_scan scan)
{
    struct rows *trial = rows_create(rows->table.aliases, rows->table.stated);
    size_t known, results;

    if (json_scan_next(&scan) == JSON_SCAN_OBJECT)
        add_members(trial, &scan, "", 1);
    known = import_table_known(&trial->table, &results);
    rows_finish(trial);
    return known >= 2 && results >= 1;
}

/* `levels_left`, here and below: how many more levels of nested groups are searched. */
static bool is_group_of_rows(const struct rows *rows, struct json_scan scan, int levels_left);

/* Whether one of the members of the next object is a group of rows. */
static bool has_group(const struct rows *rows, struct json_scan scan, int levels_left)
{
    if (json_scan_next(&scan) != JSON_SCAN_OBJECT)
        return false;
    while (json_scan_next(&scan) == JSON_SCAN_KEY) {
        if (is_group_of_rows(rows, scan, levels_left))
            return true;
        if (!json_scan_value(&scan, NULL, NULL))
            return false;
    }
    return false;
}

/* If the next value is an object, moves to the first object among its members. If it is a list that
 * begins with an object, moves to that object. False: there is no such object. *token receives the
 * token with which the value begins. */
static bool enter_group(struct json_scan *scan, enum json_scan_token *token)
{
    struct json_scan ahead;

    *token = json_scan_next(scan);
    while (*token == JSON_SCAN_OBJECT && json_scan_next(scan) == JSON_SCAN_KEY) {
        ahead = *scan;
        if (json_scan_next(&ahead) == JSON_SCAN_OBJECT)
            return true;
        if (!json_scan_value(scan, NULL, NULL))
            return false;
    }
    ahead = *scan;
    return *token == JSON_SCAN_ARRAY && json_scan_next(&ahead) == JSON_SCAN_OBJECT;
}

/* Whether the next value is a group of rows: a list or an object in which the first object is a row
 * or contains rows. If an object and the first object in it both look like rows, the outer one is
 * the row, and the objects in it hold its figures. */
static bool is_group_of_rows(const struct rows *rows, struct json_scan scan, int levels_left)
{
    struct json_scan start = scan;
    enum json_scan_token token;

    if (levels_left == 0 || !enter_group(&scan, &token))
        return false;
    if (looks_like_row(rows, scan))
        return token == JSON_SCAN_ARRAY || !looks_like_row(rows, start);
    return has_group(rows, scan, levels_left - 1);
}

/* ---- Reading the rows ---- */

static void set_fields(struct rows *rows)
{
    struct csv *csv = &rows->table.csv;

    csv->count = rows->table.count;
    csv->line = rows->line > 0 ? rows->line : (int64_t)rows->rows;
    rows->table.has_row_numbers = rows->line == 0;
    for (size_t i = 0; i < csv->count; i++) {
        const char *text = rows->at[i] == ABSENT ? NULL : rows->values.data + rows->at[i];

        csv->fields[i] =
            (struct csv_field){ .text = text, .length = text == NULL ? 0 : strlen(text) };
    }
}

static bool end_row(struct rows *rows)
{
    rows->rows++;
    if (rows->is_first_pass)
        return true;
    set_fields(rows);
    rows->refused = !import_table_add_row(&rows->table, rows->error);
    return !rows->refused;
}

static bool read_object(struct rows *rows, struct json_scan *scan, int levels_left);

/* Reads the objects of a group, each of which is a row or contains rows. If the group is an object,
 * the rows in each of its members also get the member's name, in the column `name`. */
static bool read_group(struct rows *rows, struct json_scan *scan, const char *name, int levels_left)
{
    enum json_scan_token token = json_scan_next(scan);

    rows->line = 0;
    for (;;) {
        struct json_scan ahead = *scan;
        enum json_scan_token next = json_scan_next(&ahead);
        char key[HEADING_SIZE];

        if (next == JSON_SCAN_ARRAY_END || next == JSON_SCAN_OBJECT_END
            || next == JSON_SCAN_FAILED) {
            *scan = ahead;
            return next != JSON_SCAN_FAILED;
        }
        if (token == JSON_SCAN_OBJECT) {
            *scan = ahead;
            json_scan_copy(scan, key, sizeof key);
            add_label(rows, name, key);
            ahead = *scan;
            next = json_scan_next(&ahead);
        }
        if (!(next == JSON_SCAN_OBJECT ? read_object(rows, scan, levels_left)
                                       : json_scan_value(scan, NULL, NULL)))
            return false;
    }
}

/* Reads all members except groups, which are read afterwards, because values after a group also
 * belong to its rows. */
static bool read_members(struct rows *rows, struct json_scan *scan, int levels_left,
                         bool *has_groups)
{
    enum json_scan_token token;

    *has_groups = false;
    while ((token = json_scan_next(scan)) == JSON_SCAN_KEY) {
        bool is_group = levels_left > 0 && is_group_of_rows(rows, *scan, levels_left);
        char name[HEADING_SIZE];

        json_scan_copy(scan, name, sizeof name);
        *has_groups |= is_group;
        if (!(is_group ? json_scan_value(scan, NULL, NULL) : add_member(rows, scan, name, 1)))
            return false;
    }
    return token == JSON_SCAN_OBJECT_END;
}

static bool read_groups(struct rows *rows, struct json_scan scan, int levels_left)
{
    json_scan_next(&scan);
    while (json_scan_next(&scan) == JSON_SCAN_KEY) {
        char name[HEADING_SIZE];

        json_scan_copy(&scan, name, sizeof name);
        if (!(is_group_of_rows(rows, scan, levels_left)
                  ? read_group(rows, &scan, name, levels_left - 1)
                  : json_scan_value(&scan, NULL, NULL)))
            return false;
    }
    return true;
}

/* Reads a row, or an object that contains rows. Its values do not belong to rows after it. */
static bool read_object(struct rows *rows, struct json_scan *scan, int levels_left)
{
    FREE_AUTO size_t *outer = memory_zeroed(CSV_FIELDS_MAX, sizeof *outer);
    size_t length = rows->values.length;
    struct json_scan start = *scan;
    bool has_groups, done;

    memcpy(outer, rows->at, sizeof rows->at);
    json_scan_next(scan);
    done = read_members(rows, scan, levels_left, &has_groups)
           && (has_groups ? read_groups(rows, start, levels_left) : end_row(rows));
    memcpy(rows->at, outer, sizeof rows->at);
    rows->values.length = length;
    return done;
}

static CHECKED bool read_document(void *context, const char *document, size_t size, int64_t line,
                                  struct error *error)
{
    struct rows *rows = context;
    struct json_scan scan;

    rows->line = rows->has_lines ? line : 0;
    import_scan_init(&scan, document, size);
    if (is_group_of_rows(rows, scan, GROUPS_MAX) ? read_group(rows, &scan, rows->label, GROUPS_MAX)
                                                 : read_object(rows, &scan, GROUPS_MAX))
        return true;
    return rows->refused ? false : json_scan_fail(&scan, error);
}

static CHECKED bool read_all(struct rows *rows, const struct import_file *file, bool is_first_pass,
                             struct error *error)
{
    rows->is_first_pass = is_first_pass;
    rows->rows = 0;
    rows->error = error;
    rows->has_lines = file->bytes[0] == '{';
    for (size_t i = 0; i < CSV_FIELDS_MAX; i++)
        rows->at[i] = ABSENT;
    return import_documents(file->bytes, file->length, read_document, rows, error);
}

static CHECKED bool read_rows(struct rows *rows, const struct import_file *file,
                              struct error *error)
{
    size_t results;

    if (!import_table_check_stated(file->columns, error) || !read_all(rows, file, true, error))
        return false;
    if (rows->rows > 0 && import_table_known(&rows->table, &results) < 2)
        return import_table_refuse_columns(&rows->table, "the rows of the JSON name", error);
    if (!import_table_columns_done(&rows->table, error) || !read_all(rows, file, false, error))
        return false;
    if (rows->names_left_out > 0)
        evidence_remark(rows->table.out,
                        "the rows together have more than %d different members: the rest were "
                        "skipped",
                        CSV_FIELDS_MAX);
    import_table_resolve(&rows->table);
    return true;
}

bool import_table_read_rows(const struct import_file *file, const struct import_alias *aliases,
                            const char *label, struct evidence *out, struct error *error)
{
    struct rows *rows = rows_create(aliases, file->columns);
    bool done;

    rows->label = label;
    rows->table.out = out;
    done = read_rows(rows, file, error);
    rows_finish(rows);
    return done;
}

bool import_sniff_rows(const char *bytes, size_t length)
{
    struct rows *rows = rows_create(NULL, NULL);
    struct json_scan scan;
    bool found;

    import_scan_init(&scan, bytes, length);
    found = looks_like_row(rows, scan) || is_group_of_rows(rows, scan, GROUPS_MAX)
            || has_group(rows, scan, GROUPS_MAX);
    rows_finish(rows);
    return found;
}

bool import_read_rows(const struct import_file *file, struct evidence *out, struct error *error)
{
    return import_table_read_rows(file, NULL, "name", out, error);
}
