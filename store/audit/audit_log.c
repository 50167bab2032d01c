/* SPDX-License-Identifier: Apache-2.0 */
#include "store/audit/audit_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "base/core/memory.h"
#include "base/core/text.h"
#include "base/json/json.h"
#include "store/audit/audit_chain.h"
#include "store/ledger/store_private.h"

/* How many bytes of an overlong text are kept: few enough to fit even if all must be escaped. */
#define CLIP_START(limit) ((limit) / 8)

char *audit_log_clip(const char *json, size_t limit)
{
    size_t length = json == NULL ? 0 : strlen(json);
    size_t start = CLIP_START(limit);
    struct text clipped = { 0 };

    if (length < limit)
        return memory_copy_text(length == 0 ? "{}" : json);
    while (start > 0 && ((unsigned char)json[start] & 0xc0) == 0x80)
        start--;
    text_addf(&clipped, "{\"truncated\":true,\"bytes\":%zu,\"start\":", length);
    json_add_string(&clipped, json, start);
    text_add_char(&clipped, '}');
    return text_take(&clipped);
}

const char *store_change_principal(const struct change *change)
{
    return change == NULL || change->actor.principal == NULL ? "local" : change->actor.principal;
}

bool audit_log_insert(struct sql_connection *connection, const struct audit_keys *keys,
                      const struct audit_note *note, int64_t *id, struct error *error)
{
    const struct change *change = note->change;
    FREE_AUTO char *arguments = audit_log_clip(change->arguments, CLIP_LIMIT);
    FREE_AUTO char *changed =
        audit_log_clip(change->changed == NULL ? NULL : text_string(change->changed), CLIP_LIMIT);
    struct audit_link link = { .numbers = {
                                   [AUDIT_AT_MS] = clock_utc_ms(),
                                   [AUDIT_INTENT] = change->intent,
                                   [AUDIT_TIMES] = note->times,
                               } };

    audit_chain_set(&link, AUDIT_REQUEST_ID, change->actor.request_id);
    audit_chain_set(&link, AUDIT_PRINCIPAL, change->actor.principal);
    audit_chain_set(&link, AUDIT_ROLE, change->actor.role);
    audit_chain_set(&link, AUDIT_CLIENT, change->actor.client);
    audit_chain_set(&link, AUDIT_TOOL, change->tool);
    audit_chain_set(&link, AUDIT_ARGUMENTS, arguments);
    audit_chain_set(&link, AUDIT_PHASE, note->phase);
    audit_chain_set(&link, AUDIT_OUTCOME, note->outcome);
    audit_chain_set(&link, AUDIT_DETAIL, note->detail);
    audit_chain_set(&link, AUDIT_SUBJECT, note->subject);
    audit_chain_set(&link, AUDIT_CHANGED, changed);
    if (!audit_chain_append(connection, keys, &link, error))
        return false;
    *id = link.numbers[AUDIT_ID];
    return true;
}

struct noting {
    struct store *store;
    struct audit_note note;
    int64_t id;
};

static CHECKED bool apply_note(struct sql_connection *connection, void *context,
                               struct error *error)
{
    struct noting *noting = context;

    return audit_log_insert(connection, &noting->store->audit_keys, &noting->note, &noting->id,
                            error);
}

bool audit_log_announce(struct store *store, struct change *change, struct error *error)
{
    struct noting noting = { store, { change, "intent", "", "", "", 1 }, 0 };

    change->intent = 0;
    if (!database_write(store->main, apply_note, &noting, error))
        return false;
    change->intent = noting.id;
    return true;
}

bool audit_log_add(struct store *store, const struct change *change, const char *outcome,
                   const char *detail, const char *subject, struct error *error)
{
    struct noting noting = { store, { change, "outcome", outcome, detail, subject, 1 }, 0 };

    return database_write(store->main, apply_note, &noting, error);
}

struct audited {
    database_apply *apply;
    void *context;
    struct noting noting;
};

/* If a request takes several rounds, its first change also marks the request as carried out. */
static CHECKED bool insert_nonce(struct sql_connection *connection, const struct change *change,
                                 struct error *error)
{
    return change->nonce == NULL || change->written
           || request_nonce_insert(connection, change, error);
}

/* Checked within the transaction, because a principal can make several changes at the same
 * time. */
static CHECKED bool check_storage(struct sql_connection *connection, const struct change *change,
                                  struct error *error)
{
    return usage_check_in(connection, store_change_principal(change), change->storage_limit_bytes,
                          error);
}

static CHECKED bool apply_audited(struct sql_connection *connection, void *context,
                                  struct error *error)
{
    struct audited *audited = context;
    const struct change *change = audited->noting.note.change;

    return check_storage(connection, change, error) && insert_nonce(connection, change, error)
           && audited->apply(connection, audited->context, error)
           && apply_note(connection, &audited->noting, error);
}

bool store_change(struct store *store, struct change *change, database_apply *apply, void *context,
                  const char *subject, const char *detail, struct error *error)
{
    struct audited audited = { apply,
                               context,
                               { store, { change, "outcome", "ok", detail, subject, 1 }, 0 } };

    if (change == NULL)
        return database_write(store->main, apply, context, error);
    if (!database_write(store->main, apply_audited, &audited, error))
        return false;
    change->written = true;
    return true;
}

struct describing {
    database_apply *apply;
    void *context;
    struct text *changed;
};

static CHECKED bool apply_described(struct sql_connection *connection, void *context,
                                    struct error *error)
{
    struct describing *describing = context;

    text_clear(describing->changed);
    return describing->apply(connection, describing->context, error);
}

bool store_change_described_take(struct store *store, struct change *change, database_apply *apply,
                                 void *context, const char *subject, const char *detail,
                                 struct text *changed, struct error *error)
{
    struct describing describing = { apply, context, changed };
    bool done;

    if (change != NULL)
        change->changed = changed;
    done = store_change(store, change, apply_described, &describing, subject, detail, error);
    if (change != NULL)
        change->changed = NULL;
    text_finish(changed);
    return done;
}

#define AUDIT_ROW_COLUMNS(FIRST, COLUMN, OF)                                                       \
    FIRST(struct audit_row, INTEGER, id, OF "id")                                                  \
    COLUMN(struct audit_row, INTEGER, at_ms, OF "at_ms")                                           \
    COLUMN(struct audit_row, INTEGER, began_ms, "coalesce(intent.at_ms, 0)")                       \
    COLUMN(struct audit_row, INTEGER, times, OF "times")                                           \
    COLUMN(struct audit_row, TEXT, request_id, OF "request_id")                                    \
    COLUMN(struct audit_row, TEXT, principal, OF "principal")                                      \
    COLUMN(struct audit_row, TEXT, role, OF "role")                                                \
    COLUMN(struct audit_row, TEXT, client, OF "client")                                            \
    COLUMN(struct audit_row, TEXT, tool, OF "tool")                                                \
    COLUMN(struct audit_row, TEXT, phase, OF "phase")                                              \
    COLUMN(struct audit_row, TEXT, outcome, OF "outcome")                                          \
    COLUMN(struct audit_row, HEAP_TEXT, arguments, OF "arguments")                                 \
    COLUMN(struct audit_row, HEAP_TEXT, detail, OF "detail")                                       \
    COLUMN(struct audit_row, HEAP_TEXT, subject, OF "subject")                                     \
    COLUMN(struct audit_row, HEAP_TEXT, changed, OF "changed")
static const struct sql_columns columns = SQL_COLUMNS(struct audit_row, AUDIT_ROW_COLUMNS);
#define SELECT_ROWS                                                                                \
    SQL_SELECT(AUDIT_ROW_COLUMNS, "a.")                                                            \
    "FROM audit a LEFT JOIN audit intent ON intent.id = a.intent "

/* An intent is not listed if its outcome was recorded: the row of the outcome stands for both. */
static const char LIST[] =
    SELECT_ROWS "WHERE (?1 IS NULL OR a.principal = ?1) AND (?2 IS NULL OR a.tool = ?2) "
                "AND (?3 IS NULL OR a.subject = ?3) AND (?4 = 0 OR a.id < ?4) AND a.at_ms >= ?5 "
                "AND (?6 = 0 OR a.at_ms < ?6) "
                "AND (a.phase = 'outcome' OR NOT EXISTS "
                "(SELECT 1 FROM audit o WHERE o.intent = a.id AND o.intent > 0)) "
                "ORDER BY a.id DESC LIMIT ?7";

bool audit_log_list(struct store *store, const struct audit_filter *filter, size_t limit,
                    struct audit_row **rows, size_t *count, struct error *error)
{
    void *list;
    struct error problem;

    if (!database_flush(store->main, &problem))
        log_warning("the audit log may be listed without its newest rows: %s", problem.message);
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, LIST);

    sql_bind_text(&sql, 1, filter->principal);
    sql_bind_text(&sql, 2, filter->tool);
    sql_bind_text(&sql, 3, filter->subject);
    sql_bind_integer(&sql, 4, filter->before_id);
    sql_bind_integer(&sql, 5, filter->since_ms);
    sql_bind_integer(&sql, 6, filter->until_ms);
    sql_bind_integer(&sql, 7, (int64_t)limit);
    if (!sql_rows_read(&sql, &columns, &list, count, error))
        return false;
    *rows = list;
    return true;
}

void audit_log_rows_free(struct audit_row *rows, size_t count)
{
    sql_rows_free(&columns, rows, count);
}
