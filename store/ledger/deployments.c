/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/deployments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/text.h"
#include "store/ledger/principals.h"
#include "store/ledger/secret_origins.h"
#include "store/ledger/store_private.h"

#define REVISION_STORED(FIRST, COLUMN, OF)                                                         \
    FIRST(struct deployment, INTEGER, id, OF "deployment_id")                                      \
    COLUMN(struct deployment, INTEGER, revision, OF "revision")                                    \
    COLUMN(struct deployment, TEXT, url, OF "url")                                                 \
    COLUMN(struct deployment, TEXT, provider, OF "provider")                                       \
    COLUMN(struct deployment, TEXT, model, OF "model")                                             \
    COLUMN(struct deployment, TEXT, model_revision, OF "model_revision")                           \
    COLUMN(struct deployment, TEXT, quantization, OF "quantization")                               \
    COLUMN(struct deployment, TEXT, engine, OF "engine")                                           \
    COLUMN(struct deployment, TEXT, hardware, OF "hardware")                                       \
    COLUMN(struct deployment, INTEGER, chips, OF "chips")                                          \
    COLUMN(struct deployment, TEXT, region, OF "region")                                           \
    COLUMN(struct deployment, TEXT, secret, OF "secret")                                           \
    COLUMN(struct deployment, TEXT, labels, OF "labels")                                           \
    COLUMN(struct deployment, TEXT, limits, OF "limits")                                           \
    COLUMN(struct deployment, TEXT, created_by, OF "created_by")                                   \
    COLUMN(struct deployment, INTEGER, changed_ms, OF "created_ms")
#define DEPLOYMENT_COLUMNS(FIRST, COLUMN, OF)                                                      \
    REVISION_STORED(FIRST, COLUMN, OF)                                                             \
    COLUMN(struct deployment, TEXT, name, "d.name")                                                \
    COLUMN(struct deployment, TEXT, owner, "d.owner")                                              \
    COLUMN(struct deployment, INTEGER, created_ms, "d.created_ms")                                 \
    COLUMN(struct deployment, INTEGER, retired_ms, "d.retired_ms")

static const struct sql_columns stored = SQL_COLUMNS(struct deployment, REVISION_STORED);
static const struct sql_columns columns = SQL_COLUMNS(struct deployment, DEPLOYMENT_COLUMNS);

#define SELECT_DEPLOYMENTS                                                                         \
    SQL_SELECT(DEPLOYMENT_COLUMNS, "r.") "FROM deployments d JOIN deployment_revisions r "

static const char FIND[] =
    SELECT_DEPLOYMENTS "ON r.deployment_id = d.id AND r.revision = d.revision "
                       "WHERE d.name = ?1";
static const char FIND_REVISION[] =
    SELECT_DEPLOYMENTS "ON r.deployment_id = d.id WHERE d.id = ?1 AND r.revision = ?2";
static const char LIST[] =
    SELECT_DEPLOYMENTS "ON r.deployment_id = d.id AND r.revision = d.revision "
                       "WHERE d.retired_ms IS NULL AND d.name > ?1 ORDER BY d.name LIMIT ?2";

/* Finds retired deployments, too. */
static CHECKED bool find(struct sql_connection *connection, const char *name,
                         struct deployment *out, bool *found, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, FIND);

    sql_bind_text(&sql, 1, name);
    return sql_row_find(&sql, &columns, out, found, error);
}

static CHECKED bool list(struct sql_connection *connection, const char *after, size_t limit,
                         struct deployment **out, size_t *count, struct error *error)
{
    void *rows;
    SQL_AUTO sql = sql_begin(connection, LIST);

    sql_bind_text(&sql, 1, after);
    sql_bind_integer(&sql, 2, (int64_t)limit);
    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}

/* Names some existing deployments, so that the caller can correct a typing error. */
static CHECKED bool not_found(struct sql_connection *connection, const char *name,
                              struct error *error)
{
    enum { SHOWN = 8 };
    struct deployment *rows;
    size_t count;
    TEXT_AUTO names = { 0 };

    if (!list(connection, "", SHOWN + 1, &rows, &count, error))
        return false;
    for (size_t i = 0; i < count && i < SHOWN; i++)
        text_addf(&names, "%s%s", i == 0 ? "" : ", ", rows[i].name);
    if (count > SHOWN)
        text_add(&names, ", ...");
    free(rows);
    if (count == 0)
        return error_set(error, ERROR_NOT_FOUND,
                         "no deployment is named \"%s\": none is registered; deployment_register "
                         "adds one",
                         name);
    return error_set(error, ERROR_NOT_FOUND,
                     "no deployment is named \"%s\"; existing deployments: %s", name,
                     text_string(&names));
}

static CHECKED bool find_current(struct sql_connection *connection, const char *name,
                                 struct deployment *out, struct error *error)
{
    bool found;

    if (!find(connection, name, out, &found, error))
        return false;
    return (found && out->retired_ms == 0) || not_found(connection, name, error);
}

struct edit {
    struct deployment wanted;
    struct deployment row; /* the new revision; apply_retire does not set it */
    int64_t now_ms;
    bool is_admin; /* the caller is an admin */
    char detail[SECRET_NAME_SIZE + ORIGIN_SIZE + 32];
    struct text changed;
};

static void set_default(char *text, size_t size, const char *value)
{
    if (text[0] == '\0')
        text_copy(text, size, value);
}

static CHECKED bool insert_revision(struct sql_connection *connection, struct deployment *row,
                                    struct error *error)
{
    static const char INSERT[] = SQL_INSERT("deployment_revisions", REVISION_STORED);
    SQL_AUTO sql = sql_begin(connection, INSERT);

    set_default(row->provider, sizeof row->provider, "endpoint");
    set_default(row->labels, sizeof row->labels, "{}");
    set_default(row->limits, sizeof row->limits, "{}");
    sql_row_bind(&sql, &stored, row);
    return sql_run(&sql, error);
}

static CHECKED bool insert_name(struct sql_connection *connection, struct deployment *row,
                                struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "INSERT INTO deployments (name, revision, created_ms, "
                                         "owner) VALUES (?1, 1, ?2, ?3) RETURNING id");

    sql_bind_text(&sql, 1, row->name);
    sql_bind_integer(&sql, 2, row->changed_ms);
    sql_bind_text(&sql, 3, row->owner);
    if (sql_step(&sql, error) != SQL_ROW)
        return false;
    row->id = sql_integer(&sql, 0);
    row->revision = 1;
    return true;
}

/* Makes this revision the current one; a retired name becomes active again. */
static CHECKED bool advance(struct sql_connection *connection, const struct deployment *row,
                            struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, "UPDATE deployments SET revision = ?2, owner = ?3, "
                                         "retired_ms = NULL WHERE id = ?1");

    sql_bind_integer(&sql, 1, row->id);
    sql_bind_integer(&sql, 2, row->revision);
    sql_bind_text(&sql, 3, row->owner);
    return sql_run(&sql, error);
}

static CHECKED bool bind_secret(struct sql_connection *connection, const struct deployment *row,
                                struct error *error)
{
    struct secret_origin bound = { .created_ms = row->changed_ms };

    if (row->origin_to_bind[0] == '\0')
        return true;
    text_copy(bound.secret, sizeof bound.secret, row->secret);
    text_copy(bound.origin, sizeof bound.origin, row->origin_to_bind);
    text_copy(bound.created_by, sizeof bound.created_by, row->created_by);
    return secret_origin_insert(connection, &bound, error);
}

static CHECKED bool store_revision(struct sql_connection *connection, struct edit *edit,
                                   const struct deployment *old, struct error *error)
{
    struct deployment *row = &edit->row;
    bool found;

    if (!insert_revision(connection, row, error) || !advance(connection, row, error)
        || !bind_secret(connection, row, error) || !find(connection, row->name, row, &found, error))
        return false;
    audit_changed_deployment(&edit->changed, old, row);
    return true;
}

/* A caller who continues to use the name of a removed deployment must not reach somebody else's
 * server. So if that deployment has an owner, only the owner and admins may register its name
 * again. */
static CHECKED bool check_owner(const struct edit *edit, const struct deployment *old,
                                struct error *error)
{
    if (edit->is_admin || old->owner[0] == '\0' || strcmp(old->owner, edit->row.owner) == 0)
        return true;
    return error_set(
        error, ERROR_FORBIDDEN,
        "the name \"%s\" belongs to a removed deployment of %s: choose another name, or let "
        "%s or an admin register it",
        old->name, old->owner, old->owner);
}

static CHECKED bool apply_add(struct sql_connection *connection, void *context, struct error *error)
{
    struct edit *edit = context;
    struct deployment *row = &edit->row;
    struct deployment old = { 0 };
    bool found;

    *row = edit->wanted;
    if (!find(connection, row->name, &old, &found, error))
        return false;
    if (found && old.retired_ms == 0)
        return error_set(error, ERROR_CONFLICT,
                         "a deployment named \"%s\" is already registered, at %s: change it with "
                         "deployment_update, or choose another name",
                         row->name, old.url);
    row->changed_ms = edit->now_ms;
    if (row->owner[0] == '\0')
        text_copy(row->owner, sizeof row->owner, row->created_by);
    if (!found)
        return insert_name(connection, row, error) && store_revision(connection, edit, &old, error);
    if (!check_owner(edit, &old, error))
        return false;
    if (old.owner[0] != '\0')
        text_copy(row->owner, sizeof row->owner, old.owner);
    row->id = old.id;
    row->revision = old.revision + 1;
    audit_changed_text(&edit->changed, "state", "removed", "registered");
    return store_revision(connection, edit, &old, error);
}

static CHECKED bool apply_change(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    struct edit *edit = context;
    struct deployment *row = &edit->row;
    struct deployment old = { 0 };

    *row = edit->wanted;
    if (!find_current(connection, row->name, &old, error))
        return false;
    if (old.revision != row->revision)
        return error_set(error, ERROR_CONFLICT,
                         "deployment \"%s\" was changed by %s in the meantime (its revision is now "
                         "%lld, no longer %lld): read it again and repeat the change",
                         row->name, old.created_by, (long long)old.revision,
                         (long long)row->revision);
    row->id = old.id;
    row->revision++;
    row->changed_ms = edit->now_ms;
    return store_revision(connection, edit, &old, error);
}

static CHECKED bool apply_retire(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    struct edit *edit = context;
    struct deployment old = { 0 };
    SQL_AUTO sql = sql_begin(connection, "UPDATE deployments SET retired_ms = ?2 WHERE id = ?1");

    if (!find_current(connection, edit->wanted.name, &old, error))
        return false;
    sql_bind_integer(&sql, 1, old.id);
    sql_bind_integer(&sql, 2, edit->now_ms);
    audit_changed_text(&edit->changed, "state", "registered", "removed");
    return sql_run(&sql, error);
}

static bool is_admin(const struct change *change)
{
    return change == NULL
           || (change->actor.role != NULL
               && strcmp(change->actor.role, role_name(ROLE_ADMIN)) == 0);
}

static CHECKED bool run_edit(struct store *store, database_apply *apply,
                             const struct deployment *deployment, int64_t now_ms,
                             struct change *change, struct deployment *out, struct error *error)
{
    struct edit edit = { .wanted = *deployment, .now_ms = now_ms, .is_admin = is_admin(change) };
    struct deployment *wanted = &edit.wanted;

    if (*wanted->created_by == '\0' && change != NULL && change->actor.principal != NULL)
        text_copy(wanted->created_by, sizeof wanted->created_by, change->actor.principal);
    if (*wanted->origin_to_bind != '\0')
        snprintf(edit.detail, sizeof edit.detail, "the secret %s is bound to %s", wanted->secret,
                 wanted->origin_to_bind);
    if (!store_change_described_take(store, change, apply, &edit, wanted->name, edit.detail,
                                     &edit.changed, error))
        return false;
    *out = edit.row;
    return true;
}

bool deployment_add(struct store *store, const struct deployment *deployment, int64_t now_ms,
                    struct change *change, struct deployment *out, struct error *error)
{
    return run_edit(store, apply_add, deployment, now_ms, change, out, error);
}

bool deployment_change(struct store *store, const struct deployment *deployment, int64_t now_ms,
                       struct change *change, struct deployment *out, struct error *error)
{
    return run_edit(store, apply_change, deployment, now_ms, change, out, error);
}

bool deployment_retire(struct store *store, const char *name, int64_t now_ms, struct change *change,
                       struct error *error)
{
    struct deployment row = { 0 };

    if (text_copy(row.name, sizeof row.name, name) != strlen(name))
        return error_set(error, ERROR_NOT_FOUND, "no deployment has a name of %zu characters",
                         strlen(name));
    return run_edit(store, apply_retire, &row, now_ms, change, &row, error);
}

bool deployment_find(struct store *store, const char *name, struct deployment *out,
                     struct error *error)
{
    struct deployment row;
    READER_AUTO reader = database_reader(store->main);

    if (!find_current(reader.connection, name, &row, error))
        return false;
    *out = row;
    return true;
}

bool deployment_find_revision(struct store *store, int64_t id, int64_t revision,
                              struct deployment *out, struct error *error)
{
    bool found;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, FIND_REVISION);

    sql_bind_integer(&sql, 1, id);
    sql_bind_integer(&sql, 2, revision);
    if (!sql_row_find(&sql, &columns, out, &found, error))
        return false;
    return found
           || error_set(error, ERROR_NOT_FOUND, "deployment %lld has no revision %lld",
                        (long long)id, (long long)revision);
}

bool deployment_measures_same(const struct deployment *a, const struct deployment *b)
{
    return strcmp(a->url, b->url) == 0 && strcmp(a->provider, b->provider) == 0
           && strcmp(a->model, b->model) == 0 && strcmp(a->model_revision, b->model_revision) == 0
           && strcmp(a->quantization, b->quantization) == 0 && strcmp(a->engine, b->engine) == 0
           && strcmp(a->hardware, b->hardware) == 0 && a->chips == b->chips
           && strcmp(a->region, b->region) == 0 && strcmp(a->limits, b->limits) == 0;
}

bool deployment_same_since(struct store *store, int64_t id, int64_t revision, int64_t *first,
                           struct error *error)
{
    struct deployment this, before;

    if (!deployment_find_revision(store, id, revision, &this, error))
        return false;
    for (*first = revision; *first > 1; --*first) {
        if (!deployment_find_revision(store, id, *first - 1, &before, error))
            return false;
        if (!deployment_measures_same(&before, &this))
            break;
    }
    return true;
}

bool deployment_list(struct store *store, const char *after, size_t limit, struct deployment **out,
                     size_t *count, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return list(reader.connection, after, limit, out, count, error);
}
