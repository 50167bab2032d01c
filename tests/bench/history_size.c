/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the bytes per sample of a stored history that has SAMPLES samples: in total, and of the
 * packed blocks at each level.
 *
 *     bench_history_size FOLDER SAMPLES [DATABASE]
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/core/text.h"
#include "store/engine/postgres.h"
#include "store/engine/sql.h"
#include "store/engine/sqlite.h"

/* The size of SQLite's file, and of PostgreSQL's tables with their indexes. */
static const char sqlite_size[] =
    "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
static const char postgres_size[] =
    "SELECT CAST(sum(pg_total_relation_size(oid)) AS double precision) FROM pg_class "
    "WHERE relkind = 'r' AND relname IN ('series', 'samples', 'blocks', 'chunks', 'compacted')";
/* The bytes of the packed blocks of level ?1. */
static const char packed_size[] =
    "SELECT CAST((SELECT sum(length(c.data)) FROM blocks b JOIN chunks c "
    "ON c.id >= b.id * 65536 AND c.id < (b.id + 1) * 65536 WHERE level = ?1) "
    "+ (SELECT sum(length(data)) FROM blocks WHERE level = ?1) AS double precision)";

static double read_number(struct sql_connection *connection, const char *query, int64_t level)
{
    struct error error;
    bool found; /* not used: the query always returns one row */
    SQL_AUTO sql = sql_begin(connection, query);

    if (query == packed_size)
        sql_bind_integer(&sql, 1, level);
    if (sql_find(&sql, &found, &error))
        return sql_real(&sql, 0);
    fprintf(stderr, "bench_history_size: %s\n", error.message);
    exit(1);
}

static void print(struct sql_connection *connection, const char *size, double samples)
{
    static const char *const levels[] = { "each scrape", "10 s", "1 min", "1 h" };

    printf("opsbrain: bytes per sample %.2f (with all levels, indexes and free pages); packed:",
           read_number(connection, size, 0) / samples);
    for (int i = 0; i < 4; i++)
        printf(" %s %.3f%s", levels[i], read_number(connection, packed_size, i) / samples,
               i < 3 ? "," : "\n");
}

int main(int argc, char **argv)
{
    const char *database = argc == 4 ? argv[3] : "";
    bool is_file = database[0] == '\0';
    struct sql_connection *connection;
    TEXT_AUTO path = { 0 };
    struct error error;

    if (argc != 3 && argc != 4)
        return 2;
    text_addf(&path, "%s/scrapes.db", argv[1]);
    if (!sql_connection_open(is_file ? &sqlite_engine : &postgres_engine,
                             is_file ? text_string(&path) : database, SQL_CONNECTION_READER,
                             &connection, &error)) {
        fprintf(stderr, "bench_history_size: %s\n", error.message);
        return 1;
    }
    print(connection, is_file ? sqlite_size : postgres_size, strtod(argv[2], NULL));
    sql_connection_close(connection);
    return 0;
}
