/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fleet/fleet_targets.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "store/fleet/fleet_private.h"
#include "store/ledger/store_private.h"

#define TARGET_STORED(FIRST, COLUMN, OF)                                                           \
    FIRST(struct fleet_target_row, TEXT, name, OF "target")                                        \
    COLUMN(struct fleet_target_row, INTEGER, revision, OF "revision")                              \
    COLUMN(struct fleet_target_row, TEXT, provider, OF "provider")                                 \
    COLUMN(struct fleet_target_row, TEXT, place, OF "place")                                       \
    COLUMN(struct fleet_target_row, TEXT, regions, OF "regions")                                   \
    COLUMN(struct fleet_target_row, TEXT, source_ranges, OF "source_ranges")                       \
    COLUMN(struct fleet_target_row, TEXT, credential, OF "credential")                             \
    COLUMN(struct fleet_target_row, TEXT, credential_file, OF "credential_file")                   \
    COLUMN(struct fleet_target_row, TEXT, proxy, OF "proxy")                                       \
    COLUMN(struct fleet_target_row, TEXT, recipes, OF "recipes")                                   \
    COLUMN(struct fleet_target_row, REAL, deployment_usd, OF "deployment_usd")                     \
    COLUMN(struct fleet_target_row, REAL, total_usd, OF "total_usd")                               \
    COLUMN(struct fleet_target_row, INTEGER, life_limit_s, OF "life_limit_s")                      \
    COLUMN(struct fleet_target_row, INTEGER, allows_no_price, OF "allows_no_price")                \
    COLUMN(struct fleet_target_row, INTEGER, allows_no_end, OF "allows_no_end")                    \
    COLUMN(struct fleet_target_row, INTEGER, allows_no_guard, OF "allows_no_guard")                \
    COLUMN(struct fleet_target_row, INTEGER, needs_two, OF "needs_two")                            \
    COLUMN(struct fleet_target_row, REAL, agent_usd, OF "agent_usd")                               \
    COLUMN(struct fleet_target_row, REAL, agent_life_usd, OF "agent_life_usd")                     \
    COLUMN(struct fleet_target_row, TEXT, created_by, OF "created_by")                             \
    COLUMN(struct fleet_target_row, INTEGER, changed_ms, OF "created_ms")
#define TARGET_COLUMNS(FIRST, COLUMN, OF)                                                          \
    TARGET_STORED(FIRST, COLUMN, OF)                                                               \
    COLUMN(struct fleet_target_row, INTEGER, retired_ms, "t.retired_ms")

static const struct sql_columns stored = SQL_COLUMNS(struct fleet_target_row, TARGET_STORED);
static const struct sql_columns columns = SQL_COLUMNS(struct fleet_target_row, TARGET_COLUMNS);

#define SELECT_TARGETS                                                                             \
    SQL_SELECT(TARGET_COLUMNS, "r.")                                                               \
    "FROM fleet_targets t JOIN fleet_target_revisions r "                                          \
    "ON r.target = t.name AND r.revision = t.revision "

/* Finds retired targets, too. */
static CHECKED bool find(struct sql_connection *connection, const char *name,
                         struct fleet_target_row *out, bool *found, struct error *error)
{
    SQL_AUTO sql = sql_begin(connection, SELECT_TARGETS "WHERE t.name = ?1");

    sql_bind_text(&sql, 1, name);
    return sql_row_find(&sql, &columns, out, found, error);
}

static CHECKED bool list(struct sql_connection *connection, struct fleet_target_row **out,
                         size_t *count, struct error *error)
{
    void *rows;
    SQL_AUTO sql =
        sql_begin(connection, SELECT_TARGETS "WHERE t.retired_ms IS NULL ORDER BY t.name");

    if (!sql_rows_read(&sql, &columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}

static CHECKED bool not_found(struct sql_connection *connection, const char *name,
                              struct error *error)
{
    enum { SHOWN = 8 };
    FREE_AUTO struct fleet_target_row *rows = NULL;
    size_t count;
    TEXT_AUTO names = { 0 };

    if (!list(connection, &rows, &count, error))
        return false;
    if (count == 0)
        return error_set(error, ERROR_NOT_FOUND,
                         "no target is named \"%.63s\": there are no targets; an admin can add "
                         "one with target_register",
                         name);
    for (size_t i = 0; i < count && i < SHOWN; i++)
        text_addf(&names, "%s%s", i == 0 ? "" : ", ", rows[i].name);
    return error_set(error, ERROR_NOT_FOUND, "no target is named \"%.63s\"; existing targets: %s%s",
                     name, text_string(&names), count > SHOWN ? ", ..." : "");
}

bool fleet_target_read(struct sql_connection *connection, const char *name,
                       struct fleet_target_row *out, struct error *error)
{
    bool found;

    if (!find(connection, name, out, &found, error))
        return false;
    return (found && out->retired_ms == 0) || not_found(connection, name, error);
}

/* ---- Changes ---- */

struct edit {
    struct fleet_target_row wanted;
    struct fleet_target_row row; /* as stored */
    bool changed;
    int64_t now_ms;
    struct text described;
};

#define MEMBER(kind, member)                                                                       \
    {                                                                                              \
        MEMBER_##kind, offsetof(struct fleet_target_row, member), #member                          \
    }

/* The members of a target that an admin sets. */
static const struct {
    enum { MEMBER_TEXT, MEMBER_REAL, MEMBER_NUMBER } kind;
    size_t offset;
    const char *name;
} members[] = {
    MEMBER(TEXT, provider),        MEMBER(TEXT, place),
    MEMBER(TEXT, regions),         MEMBER(TEXT, source_ranges),
    MEMBER(TEXT, credential),      MEMBER(TEXT, credential_file),
    MEMBER(TEXT, proxy),           MEMBER(TEXT, recipes),
    MEMBER(REAL, deployment_usd),  MEMBER(REAL, total_usd),
    MEMBER(NUMBER, life_limit_s),  MEMBER(NUMBER, allows_no_price),
    MEMBER(NUMBER, allows_no_end), MEMBER(NUMBER, allows_no_guard),
    MEMBER(NUMBER, needs_two),     MEMBER(REAL, agent_usd),
    MEMBER(REAL, agent_life_usd),
};

/* Appends the member as text; %.15g is precise enough for a ceiling. */
static void write_member(const struct fleet_target_row *row, size_t index, struct text *out)
{
    const char *at = (const char *)row + members[index].offset;

    if (members[index].kind == MEMBER_TEXT)
        text_add(out, at);
    else if (members[index].kind == MEMBER_REAL)
        text_addf(out, "%.15g", *(const double *)(const void *)at);
    else
        text_add_integer(out, *(const int64_t *)(const void *)at);
}

/* Adds the members that differ to `out`, and returns whether there are any. */
static bool describe_change(const struct fleet_target_row *before,
                            const struct fleet_target_row *after, struct text *out)
{
    bool differs = false;

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        TEXT_AUTO old = { 0 };
        TEXT_AUTO new = { 0 };

        write_member(before, i, &old);
        write_member(after, i, &new);
        if (strcmp(text_string(&old), text_string(&new)) == 0)
            continue;
        audit_changed_text(out, members[i].name, text_string(&old), text_string(&new));
        differs = true;
    }
    return differs;
}

static CHECKED bool insert_revision(struct sql_connection *connection,
                                    const struct fleet_target_row *row, struct error *error)
{
    static const char INSERT[] = SQL_INSERT("fleet_target_revisions", TARGET_STORED);
    SQL_AUTO sql = sql_begin(connection, INSERT);

    sql_row_bind(&sql, &stored, row);
    return sql_run(&sql, error);
}

static CHECKED bool advance(struct sql_connection *connection, const struct fleet_target_row *row,
                            struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, "INSERT INTO fleet_targets (name, revision) VALUES (?1, ?2) "
                              "ON CONFLICT (name) DO UPDATE SET revision = excluded.revision, "
                              "retired_ms = NULL");

    sql_bind_text(&sql, 1, row->name);
    sql_bind_integer(&sql, 2, row->revision);
    return sql_run(&sql, error);
}

static CHECKED bool check_unused(struct sql_connection *connection, const char *name,
                                 const char *consequence, struct error *error)
{
    char deployment[64];
    bool found;
    SQL_AUTO sql = sql_begin(connection, "SELECT deployment FROM fleet_managed WHERE target = ?1 "
                                         "AND state <> 'gone' ORDER BY deployment LIMIT 1");

    sql_bind_text(&sql, 1, name);
    if (!sql_find(&sql, &found, error))
        return false;
    if (!found)
        return true;
    sql_text(&sql, 0, deployment, sizeof deployment);
    return error_set(error, ERROR_CONFLICT,
                     "the target \"%s\" has the managed deployment %s%s: first call "
                     "deployment_destroy, or deployment_remove if opsbrain only watches it",
                     name, deployment, consequence);
}

/* The place and the regions of a target must not change while it has managed deployments, because
 * these could then no longer be found or ended. */
static CHECKED bool check_place(struct sql_connection *connection,
                                const struct fleet_target_row *old,
                                const struct fleet_target_row *wanted, struct error *error)
{
    if (strcmp(old->place, wanted->place) == 0 && strcmp(old->regions, wanted->regions) == 0)
        return true;
    return check_unused(connection, old->name,
                        ", so its regions, project, namespace, network, subnetwork, "
                        "service_account, bucket, reservation and door cannot change",
                        error);
}

static CHECKED bool apply_put(struct sql_connection *connection, void *context, struct error *error)
{
    struct edit *edit = context;
    struct fleet_target_row old = { 0 };
    bool found;

    edit->row = edit->wanted;
    if (!find(connection, edit->wanted.name, &old, &found, error))
        return false;
    edit->changed =
        describe_change(&old, &edit->wanted, &edit->described) || !found || old.retired_ms != 0;
    if (!edit->changed) {
        edit->row = old;
        return true;
    }
    if (found && strcmp(old.provider, edit->wanted.provider) != 0)
        return error_set(
            error, ERROR_CONFLICT,
            "the provider of the target \"%s\" is %s: to use %s, choose another target name",
            old.name, old.provider, edit->wanted.provider);
    if (found && !check_place(connection, &old, &edit->wanted, error))
        return false;
    edit->row.revision = old.revision + 1;
    edit->row.changed_ms = edit->now_ms;
    edit->row.retired_ms = 0;
    return advance(connection, &edit->row, error) && insert_revision(connection, &edit->row, error);
}

bool fleet_target_put(struct store *store, const struct fleet_target_row *target, int64_t now_ms,
                      struct change *change, struct fleet_target_row *out, bool *changed,
                      struct error *error)
{
    struct edit edit = { .wanted = *target, .now_ms = now_ms };

    text_copy(edit.wanted.created_by, sizeof edit.wanted.created_by,
              store_change_principal(change));
    if (!store_change_described_take(store, change, apply_put, &edit, edit.wanted.name, "",
                                     &edit.described, error))
        return false;
    *out = edit.row;
    *changed = edit.changed;
    return true;
}

static CHECKED bool apply_retire(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    struct edit *edit = context;
    SQL_AUTO sql =
        sql_begin(connection, "UPDATE fleet_targets SET retired_ms = ?2 WHERE name = ?1");

    if (!fleet_target_read(connection, edit->wanted.name, &edit->row, error)
        || !check_unused(connection, edit->wanted.name, "", error))
        return false;
    sql_bind_text(&sql, 1, edit->wanted.name);
    sql_bind_integer(&sql, 2, edit->now_ms);
    audit_changed_text(&edit->described, "state", "registered", "removed");
    return sql_run(&sql, error);
}

bool fleet_target_retire(struct store *store, const char *name, int64_t now_ms,
                         struct change *change, struct error *error)
{
    struct edit edit = { .now_ms = now_ms };

    text_copy(edit.wanted.name, sizeof edit.wanted.name, name);
    return store_change_described_take(store, change, apply_retire, &edit, edit.wanted.name, "",
                                       &edit.described, error);
}

/* ---- Reads ---- */

bool fleet_target_find(struct store *store, const char *name, struct fleet_target_row *out,
                       struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return fleet_target_read(reader.connection, name, out, error);
}

bool fleet_target_list(struct store *store, struct fleet_target_row **out, size_t *count,
                       struct error *error)
{
    READER_AUTO reader = database_reader(store->main);

    return list(reader.connection, out, count, error);
}
