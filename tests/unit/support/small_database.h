/* SPDX-License-Identifier: Apache-2.0 */
/* A SQLite database with one small table, and functions that make writes wait in its queue. */
#pragma once

#include <pthread.h>
#include <setjmp.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/clock.h"
#include "store/engine/database.h"
#include "store/engine/sqlite.h"
#include "tests/unit/support/folder.h"

#define PATIENCE_MS 10000

static const struct migration small_database_rows[] = {
    { "0001_test.sql", "CREATE TABLE t (id INTEGER PRIMARY KEY, who INTEGER NOT NULL) STRICT;" },
};
static const struct migration_set small_database_migrations = { small_database_rows, 1 };

struct fixture {
    char folder[FOLDER_SIZE], path[FOLDER_SIZE + 8];
    struct database *database;
    struct error error;
    atomic_int commits, released; /* how often the tests' commit hook and release callback ran */
};

static inline int small_database_set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    folder_create(fixture->folder);
    snprintf(fixture->path, sizeof fixture->path, "%s/t.db", fixture->folder);
    if (!database_open(&sqlite_engine, fixture->path, &small_database_migrations, 2,
                       &fixture->database, &fixture->error))
        fail_msg("%s", fixture->error.message);
    *state = fixture;
    return 0;
}

static inline int small_database_tear_down(void **state)
{
    struct fixture *fixture = *state;

    database_close(fixture->database);
    folder_remove(fixture->folder);
    free(fixture);
    return 0;
}

static inline bool insert(struct sql_connection *connection, void *context, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO t (who) VALUES (?1)");

    sql_bind_integer(&sql, 1, *(const int64_t *)context);
    return sql_run(&sql, error);
}

static inline int64_t count_where(struct fixture *fixture, int64_t who)
{
    READER_AUTO reader = database_reader(fixture->database);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT count(*) FROM t WHERE who = ?1");

    sql_bind_integer(&sql, 1, who);
    if (sql_step(&sql, &fixture->error) != SQL_ROW)
        fail_msg("%s", fixture->error.message);
    return sql_integer(&sql, 0);
}

/* A write that waits at a closed gate keeps the writer busy, so that other writes queue up. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool entered; /* the write has reached the gate */
    bool open;
};

static inline bool pass_gate(struct sql_connection *connection, void *context, struct error *error)
{
    struct gate *gate = context;

    (void)connection;
    (void)error;
    pthread_mutex_lock(&gate->lock);
    gate->entered = true;
    pthread_cond_broadcast(&gate->changed);
    while (!gate->open)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
    return true;
}

struct writing {
    pthread_t thread;
    struct fixture *fixture;
    database_apply *apply;
    void *context;
    int64_t who;
    bool ok;
    struct error error;
};

static inline void *write_once(void *context)
{
    struct writing *writing = context;

    writing->ok = database_write(writing->fixture->database, writing->apply, writing->context,
                                 &writing->error);
    return NULL;
}

static inline void begin_write(struct writing *writing, struct fixture *fixture,
                               database_apply *apply, void *context)
{
    *writing = (struct writing){ .fixture = fixture, .apply = apply, .context = context };
    assert_int_equal(pthread_create(&writing->thread, NULL, write_once, writing), 0);
}

/* Starts a write that waits at the closed gate. Returns once the write has reached it. */
static inline void gate_shut(struct gate *gate, struct writing *first, struct fixture *fixture)
{
    *gate = (struct gate){ PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false };
    begin_write(first, fixture, pass_gate, gate);
    pthread_mutex_lock(&gate->lock);
    while (!gate->entered)
        pthread_cond_wait(&gate->changed, &gate->lock);
    pthread_mutex_unlock(&gate->lock);
}

static inline void gate_open(struct gate *gate, struct writing *first)
{
    pthread_mutex_lock(&gate->lock);
    gate->open = true;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->lock);
    pthread_join(first->thread, NULL);
    assert_true(first->ok);
}

static inline int refuse_commit(void *context)
{
    (void)context;
    return 1;
}

/* Inserts a row, and makes the writer's connection refuse all commits, including that of this
 * write, until allow_commits runs. */
static inline bool refuse_commits(struct sql_connection *connection, void *context,
                                  struct error *error)
{
    (void)error;
    sqlite3_commit_hook(sqlite_handle(connection), refuse_commit, NULL);
    return insert(connection, context, error);
}

static inline bool allow_commits(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    (void)context;
    (void)error;
    sqlite3_commit_hook(sqlite_handle(connection), NULL, NULL);
    return true;
}
