/* SPDX-License-Identifier: Apache-2.0 */
/* The one thread that writes to a database. Writes that are queued while a transaction runs are
 * committed together by the next one, up to a limit (group commit). Private to database.c. For a
 * function without a comment, see the function of the same name without `_writer` in database.h. */
#pragma once

#include "store/engine/database_apply.h"

struct database_writer;

/* Starts the thread. `connection` is borrowed until the writer is destroyed. */
CHECKED bool database_writer_create(struct sql_connection *connection, struct database_writer **out,
                                    struct error *error);
/* Commits what is queued and ends the thread. From then on, every write is refused. */
void database_writer_stop(struct database_writer *writer);
/* Call it after database_writer_stop, and after all other connections are closed. */
void database_writer_destroy(struct database_writer *writer);

void database_writer_guard(struct database_writer *writer,
                           CHECKED bool (*guard)(void *context, struct error *error),
                           void *context);
CHECKED bool database_writer_write(struct database_writer *writer, database_apply *apply,
                                   void *context, struct error *error);
CHECKED bool database_writer_defer_take(struct database_writer *writer, database_apply *apply,
                                        void *context, void (*release)(void *context),
                                        struct error *error);
size_t database_writer_queued(struct database_writer *writer);
int64_t database_writer_committed_ns(struct database_writer *writer);
