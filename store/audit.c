#include "store/audit.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/private.h"

/* Of a text that is too long, what is shown of its start: escaped it still fits. */
#define CLIP_START(limit) ((limit) / 8)

char *json_clip(const char *json, size_t limit)
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

const char *change_principal(const struct change *change)
{
    return change == NULL || change->actor.principal == NULL ? "local" : change->actor.principal;
}

struct outcome {
    const struct change *change;
    const char *phase, *name, *detail, *subject;
};

static const char *or_empty(const char *text)
{
    return text == NULL ? "" : text;
}

static bool insert_outcome(struct connection *connection, const struct outcome *outcome,
                           struct error *error)
{
    const struct change *change = outcome->change;
    FREE_AUTO char *arguments = json_clip(change->arguments, CLIP_LIMIT);
    SQL_AUTO sql = sql_begin(connection,
                             "INSERT INTO audit (at_ms, request_id, principal, role, client, tool, "
                             "arguments, phase, outcome, detail, subject) "
                             "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)");

    sql_bind_integer(&sql, 1, clock_utc_ms());
    sql_bind_text(&sql, 2, or_empty(change->actor.request_id));
    sql_bind_text(&sql, 3, or_empty(change->actor.principal));
    sql_bind_text(&sql, 4, or_empty(change->actor.role));
    sql_bind_text(&sql, 5, or_empty(change->actor.client));
    sql_bind_text(&sql, 6, or_empty(change->tool));
    sql_bind_text(&sql, 7, arguments);
    sql_bind_text(&sql, 8, outcome->phase);
    sql_bind_text(&sql, 9, outcome->name);
    sql_bind_text(&sql, 10, or_empty(outcome->detail));
    sql_bind_text(&sql, 11, or_empty(outcome->subject));
    return sql_run(&sql, error);
}

static bool apply_outcome(struct connection *connection, void *context, struct error *error)
{
    return insert_outcome(connection, context, error);
}

bool audit_add(struct store *store, const struct change *change, const char *phase,
               const char *outcome, const char *detail, const char *subject, struct error *error)
{
    struct outcome row = { change, phase, outcome, detail, subject };

    return database_write(store->main, apply_outcome, &row, error);
}

struct audited {
    database_apply *apply;
    void *context;
    struct outcome outcome;
};

/* The first of its changes settles a request. */
static bool settle(struct connection *connection, const struct change *change, struct error *error)
{
    return change->nonce == NULL || change->written || settled_insert(connection, change, error);
}

static bool apply_audited(struct connection *connection, void *context, struct error *error)
{
    struct audited *audited = context;

    return settle(connection, audited->outcome.change, error)
           && audited->apply(connection, audited->context, error)
           && insert_outcome(connection, &audited->outcome, error);
}

bool store_change(struct store *store, struct change *change, database_apply *apply, void *context,
                  const char *subject, const char *detail, struct error *error)
{
    struct audited audited = { apply, context, { change, "outcome", "ok", detail, subject } };

    if (change == NULL)
        return database_write(store->main, apply, context, error);
    if (!database_write(store->main, apply_audited, &audited, error))
        return false;
    change->written = true;
    return true;
}

static const char LIST[] =
    "SELECT id, at_ms, request_id, principal, role, client, tool, phase, outcome, arguments, "
    "detail, subject FROM audit "
    "WHERE (?1 IS NULL OR principal = ?1) AND (?2 IS NULL OR tool = ?2) "
    "AND (?3 IS NULL OR subject = ?3) AND (?4 = 0 OR id < ?4) AND at_ms >= ?5 "
    "ORDER BY id DESC LIMIT ?6";

static void read_row(const struct sql *sql, struct audit_row *row)
{
    *row = (struct audit_row){ .id = sql_integer(sql, 0), .at_ms = sql_integer(sql, 1) };
    sql_text(sql, 2, row->request_id, sizeof row->request_id);
    sql_text(sql, 3, row->principal, sizeof row->principal);
    sql_text(sql, 4, row->role, sizeof row->role);
    sql_text(sql, 5, row->client, sizeof row->client);
    sql_text(sql, 6, row->tool, sizeof row->tool);
    sql_text(sql, 7, row->phase, sizeof row->phase);
    sql_text(sql, 8, row->outcome, sizeof row->outcome);
    row->arguments = sql_text_copy(sql, 9);
    row->detail = sql_text_copy(sql, 10);
    row->subject = sql_text_copy(sql, 11);
}

bool audit_list(struct store *store, const struct audit_filter *filter, size_t limit,
                struct audit_row **rows, size_t *count, struct error *error)
{
    struct audit_row *list = NULL;
    size_t length = 0;
    enum sql_step step;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, LIST);

    sql_bind_text(&sql, 1, filter->principal);
    sql_bind_text(&sql, 2, filter->tool);
    sql_bind_text(&sql, 3, filter->subject);
    sql_bind_integer(&sql, 4, filter->before_id);
    sql_bind_integer(&sql, 5, filter->since_ms);
    sql_bind_integer(&sql, 6, (int64_t)limit);
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        list = rows_grow(list, length, sizeof *list);
        read_row(&sql, &list[length++]);
    }
    if (step == SQL_FAILED) {
        audit_rows_free(list, length);
        return false;
    }
    *rows = list;
    *count = length;
    return true;
}

void audit_rows_free(struct audit_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(rows[i].arguments);
        free(rows[i].detail);
        free(rows[i].subject);
    }
    free(rows);
}
