/* SPDX-License-Identifier: Apache-2.0 */
#include "store/engine/write_batch.h"

#include <stdlib.h>

#include "base/core/log.h"
#include "store/engine/sql_engine.h"

/* Undoes what one closure changed before it failed for `reason`. Returns false and sets *fatal if
 * the transaction has ended, or must not be committed. */
static CHECKED bool undo(struct sql_connection *writer, const struct error *reason,
                         struct error *fatal)
{
    if (writer->engine->in_transaction(writer))
        return sql_connection_run(writer, "ROLLBACK TO one", fatal)
               && sql_connection_run(writer, "RELEASE one", fatal);
    *fatal = *reason; /* such as a full disk: the engine has then rolled everything back */
    return false;
}

/* Runs one closure. *ok: it succeeded; otherwise its changes are undone. Returns false and sets
 * *fatal if nothing in the batch can be committed. */
static CHECKED bool apply_one(struct sql_connection *writer, database_apply *apply, void *context,
                              bool *ok, struct error *error, struct error *fatal)
{
    *ok = sql_connection_run(writer, "SAVEPOINT one", error) && apply(writer, context, error)
          && sql_connection_run(writer, "RELEASE one", error);
    return *ok || undo(writer, error, fatal);
}

static CHECKED bool apply_deferred(struct sql_connection *writer,
                                   const struct deferred_write *deferred, struct error *error)
{
    struct error reason;
    bool ok;
    bool may_commit = apply_one(writer, deferred->apply, deferred->context, &ok, &reason, error);

    if (!ok)
        log_warning("a deferred update was not stored: %s", reason.message);
    return may_commit;
}

static CHECKED bool apply_each(struct sql_connection *writer, struct write_batch *batch,
                               struct error *error)
{
    if (!writer->engine->begin(writer, error))
        return false;
    for (struct deferred_write *each = batch->deferred; each != NULL; each = each->next)
        if (!apply_deferred(writer, each, error))
            return false;
    for (struct write *write = batch->writes; write != NULL; write = write->next)
        if (!apply_one(writer, write->apply, write->context, &write->ok, write->error, error))
            return false;
    return true;
}

/* Runs the batch once and rolls it back. */
static CHECKED bool rehearse(struct sql_connection *writer, struct write_batch *batch,
                             struct error *error)
{
    if (!apply_each(writer, batch, error) || !sql_connection_run(writer, "ROLLBACK", error))
        return false;
    for (struct write *write = batch->writes; write != NULL; write = write->next)
        write->rehearsed_ok = write->ok;
    return true;
}

/* Aborts if a write succeeded in only one of its two runs, which means that its closure kept
 * something from the first run. */
static void check_rehearsal(const struct write_batch *batch)
{
    for (const struct write *write = batch->writes; write != NULL; write = write->next) {
        if (write->ok == write->rehearsed_ok)
            continue;
        log_error("a write ended differently when it was run again: %s", write->error->message);
        abort();
    }
}

bool write_batch_commit(struct write_batch *batch, struct sql_connection *writer, bool rehearses,
                        struct error *error)
{
    if (rehearses && !rehearse(writer, batch, error))
        return false;
    if (!apply_each(writer, batch, error))
        return false;
    if (rehearses)
        check_rehearsal(batch);
    return writer->engine->commit(writer, error);
}
