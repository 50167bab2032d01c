/* SPDX-License-Identifier: Apache-2.0 */
/* Rows arrive in the order of their keys, and each transaction adds the next ones. So if the
 * process is killed, the table has its first rows, and their number shows where to continue. */
#include "store/copy/copy_target.h"

#include "store/engine/database.h"

#define VALUES_MAX 1024 /* values in one call of insert, which takes complete rows */

static struct sql_connection *writer_of(const struct copy_target *target, size_t table)
{
    return target->side->writers[target->tables->list[table].set];
}

/* ---- Rows ---- */

static CHECKED bool begin_table(struct copy_target *target, struct error *error)
{
    SQL_AUTO sql =
        sql_begin(writer_of(target, target->table), target->tables->list[target->table].count);

    if (target->is_counted)
        return true;
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    target->to_skip = sql_integer(&sql, 0);
    target->is_counted = true;
    return true;
}

static CHECKED bool insert_each(struct sql_connection *writer, const struct copy_table *table,
                                const struct sql_value *values, size_t rows, struct error *error)
{
    size_t columns = table->schema->column_count;

    for (size_t row = 0; row < rows; row++) {
        SQL_AUTO sql = sql_begin(writer, table->insert);

        for (size_t i = 0; i < columns; i++)
            copy_rows_bind(&sql, (int)i + 1, &values[row * columns + i]);
        if (!sql_run(&sql, error))
            return false;
    }
    return true;
}

static CHECKED bool insert(const struct copy_target *target, const struct sql_value *values,
                           size_t count, struct error *error)
{
    const struct copy_table *table = &target->tables->list[target->table];
    struct sql_connection *writer = writer_of(target, target->table);
    size_t rows = count / table->schema->column_count;
    bool done = writer->engine->copy_rows == NULL
                    ? insert_each(writer, table, values, rows, error)
                    : writer->engine->copy_rows(writer, table->schema, values, rows, error);

    return done
           || error_set(error, error->kind, "rows of table %s cannot be stored: %s",
                        table->schema->name, error->message);
}

static CHECKED bool insert_all(struct copy_target *target, const struct text *rows,
                               struct error *error)
{
    const struct sql_table *table = target->tables->list[target->table].schema;
    const uint8_t *at = (const uint8_t *)rows->data, *end = at + rows->length;
    struct sql_value values[VALUES_MAX];
    size_t count = 0;

    while (at < end) {
        if (!copy_rows_read(table, &at, end, values + count, error))
            return false;
        if (target->to_skip > 0)
            target->to_skip--;
        else
            count += table->column_count;
        if (count + table->column_count <= VALUES_MAX)
            continue;
        if (!insert(target, values, count, error))
            return false;
        count = 0;
    }
    return count == 0 || insert(target, values, count, error);
}

static CHECKED bool add_rows(void *context, size_t table, const struct text *rows,
                             struct error *error)
{
    struct copy_target *target = context;
    struct sql_connection *writer = writer_of(target, table);

    return copy_side_keep(target->side, error) && begin_table(target, error)
           && target->side->engine->begin(writer, error) && insert_all(target, rows, error)
           && target->side->engine->commit(writer, error);
}

/* ---- Tables ---- */

static CHECKED bool keep_both(void *context, size_t table, const struct text *rows,
                              struct error *error)
{
    const struct copy_target *target = context;

    (void)table;
    (void)rows;
    return copy_side_keep(target->side, error)
           && (target->source == NULL || copy_side_keep(target->source, error));
}

static CHECKED bool compare_table(void *context, size_t table, const struct copy_tally *tally,
                                  struct error *error)
{
    struct copy_target *target = context;
    const struct copy_sink reading = { .context = target, .receive = keep_both };
    struct copy_tally arrived;

    if (!copy_table_read(writer_of(target, table), false, target->tables, table, &reading, &arrived,
                         error))
        return false;
    if (!copy_tally_equal(tally, &arrived))
        return error_set(
            error, ERROR_CONFLICT,
            "table %s has %lld rows in database %s and %lld in its source, and the rows differ: "
            "the source has changed since the copy began; delete the copy and begin again",
            target->tables->list[table].schema->name, (long long)arrived.rows, target->side->name,
            (long long)tally->rows);
    target->table = table + 1;
    target->is_counted = false;
    return true;
}

struct copy_sink copy_target_sink(struct copy_target *target)
{
    return (struct copy_sink){ target, add_rows, compare_table };
}

/* ---- The end ---- */

/* Records a place that no database has (server/program/fleet_place.c), so the copy counts as moved.
 * Backups from early versions lack the table fleet_instance. */
static CHECKED bool mark_as_moved(struct sql_connection *writer, struct error *error)
{
    bool found;

    if (!sql_connection_has_table(writer, "fleet_instance", &found, error))
        return false;
    return !found
           || sql_connection_run(writer, "UPDATE fleet_instance SET place = 'copied'", error);
}

static CHECKED bool end_main(struct sql_connection *writer, struct error *error)
{
    return writer->engine->copy_end(writer, error) && mark_as_moved(writer, error)
           && sql_connection_run(writer, "DROP TABLE " DATABASE_UNFINISHED_COPY, error);
}

bool copy_target_end(const struct copy_target *target, struct error *error)
{
    const struct sql_engine *engine = target->side->engine;
    struct sql_connection *scrapes = target->side->writers[COPY_SCRAPES];
    struct sql_connection *main = target->side->writers[COPY_MAIN];

    return engine->begin(scrapes, error) && engine->copy_end(scrapes, error)
           && engine->commit(scrapes, error) && engine->begin(main, error) && end_main(main, error)
           && engine->commit(main, error);
}
