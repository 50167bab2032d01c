/* SPDX-License-Identifier: Apache-2.0 */
/* Opens connections to a database, and prepares and runs statements on them. Private to store/. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/core/error.h"
#include "store/engine/sql_types.h"

struct sql_engine;   /* store/engine/sql_engine.h */
struct sql_repaired; /* store/engine/sql.c */
/* Free with sql_connection_close. */
CHECKED bool sql_connection_open(const struct sql_engine *engine, const char *place,
                                 enum sql_connection_kind kind, struct sql_connection **out,
                                 struct error *error);
void sql_connection_close(struct sql_connection *connection); /* NULL is fine */
/* Runs one statement that returns no rows. `text`: as for sql_begin. */
CHECKED bool sql_connection_run(struct sql_connection *connection, const char *text,
                                struct error *error);
/* Begins a reader's transaction: until COMMIT, its statements see the database as it is now,
 * whatever other connections write. */
CHECKED bool sql_connection_snapshot(struct sql_connection *reader, struct error *error);
CHECKED bool sql_connection_has_table(struct sql_connection *connection, const char *name,
                                      bool *found, struct error *error);

/* One use of a statement: begin, bind, step, read, end. A variable declared with SQL_AUTO is ended
 * at the end of its scope. If begin or bind fails, the next step reports the error. A connection
 * keeps up to SQL_KEPT_STATEMENTS statements for further uses, and finds them by the address of the
 * `text` that is passed to sql_begin. So the text must stay unchanged as long as the connection is
 * used; usually it is a static string. Bound memory must live until the end of the run. Parameters
 * (`position`) are counted from 1, columns from 0. */
struct sql {
    struct sql_connection *connection;
    struct sql_statement *statement;
    bool *in_use;                  /* flag of the kept statement; NULL: the statement is not kept */
    struct error *failure;         /* heap: the first error of begin or bind; NULL: none */
    struct sql_repaired *repaired; /* heap: copies of bound texts that were changed; NULL: none */
};
#define SQL_AUTO __attribute__((cleanup(sql_end))) struct sql

struct sql sql_begin(struct sql_connection *connection, const char *text);
void sql_end(struct sql *sql);

/* Returns whether sql_bind_bytes binds the text unchanged. Engines differ in what they accept, so
 * sql_bind_bytes and sql_bind_text replace NUL and invalid UTF-8 with U+FFFD (text_add_utf8). */
bool sql_is_storable(const char *text, size_t length);
void sql_bind_text(struct sql *sql, int position, const char *text); /* NULL binds NULL */
void sql_bind_bytes(struct sql *sql, int position, const char *text, size_t length); /* as text */
/* Binds a text from another database unchanged; the step fails if the engine cannot store it. */
void sql_bind_verbatim(struct sql *sql, int position, const char *text, size_t length);
void sql_bind_integer(struct sql *sql, int position, int64_t value);
void sql_bind_real(struct sql *sql, int position, double value); /* NaN binds NULL */
void sql_bind_blob(struct sql *sql, int position, const void *data, size_t length);

/* The greater of two expressions; the second one if either is NULL. */
#define SQL_GREATER(a, b) "CASE WHEN " a " > " b " THEN " a " ELSE " b " END "
/* The value for a new row's column `sequence`, by which rows with equal times are ordered. */
#define SQL_NEXT_SEQUENCE(table) "(SELECT coalesce(max(sequence), 0) + 1 FROM " table ") "

CHECKED enum sql_step sql_step(struct sql *sql, struct error *error);
/* Steps a statement that returns no rows, and makes it ready to be bound and run again. */
CHECKED bool sql_run(struct sql *sql, struct error *error);
/* Steps a statement that returns at most one row. *found: there is one. */
CHECKED bool sql_find(struct sql *sql, bool *found, struct error *error);
/* Returns how many rows were changed by the last INSERT, UPDATE or DELETE on the connection. */
int64_t sql_changes(const struct sql *sql);

/* Columns of the current row. NULL reads as 0, "" or no bytes. */
int64_t sql_integer(const struct sql *sql, int column);
double sql_real(const struct sql *sql, int column);
void sql_text(const struct sql *sql, int column, char *out, size_t size);
char *sql_text_copy(const struct sql *sql, int column); /* heap */
bool sql_is_null(const struct sql *sql, int column);
/* Borrowed until the next step, or sql_end. */
const void *sql_blob(const struct sql *sql, int column, size_t *length);

/* Makes room for one more row after `count` rows of `size` bytes each, and returns the list, which
 * may have moved. The capacity doubles when `count` is a power of two. */
void *sql_rows_grow(void *rows, size_t count, size_t size);
