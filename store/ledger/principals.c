/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/principals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/core/text.h"
#include "store/engine/deferred_timestamps.h"
#include "store/ledger/store_private.h"

static const char *const role_names[] = {
    [ROLE_NONE] = "none",
    [ROLE_VIEWER] = "viewer",
    [ROLE_OPERATOR] = "operator",
    [ROLE_ADMIN] = "admin",
};

const char *role_name(enum role role)
{
    return role_names[role];
}

bool role_find(const char *name, enum role *out)
{
    for (size_t i = ROLE_VIEWER; i < sizeof role_names / sizeof role_names[0]; i++) {
        if (strcmp(name, role_names[i]) == 0) {
            *out = (enum role)i;
            return true;
        }
    }
    return false;
}

bool role_allows(enum role has, enum role needs)
{
    return needs != ROLE_NONE && has >= needs;
}

bool principal_exists(struct store *store, const char *name, bool *out, struct error *error)
{
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT 1 FROM principals WHERE name = ?1");

    *out = strcmp(name, "local") == 0;
    sql_bind_text(&sql, 1, name);
    return *out || sql_find(&sql, out, error);
}

static bool read_role_name(const struct sql_column *column, void *member)
{
    char name[16];

    sql_text(column->sql, column->index, name, sizeof name);
    return role_find(name, member)
           || error_set(column->error, ERROR_INTERNAL,
                        "a stored principal has the unknown role \"%s\"", name);
}

static const struct sql_member_kind kind_role = { read_role_name, NULL, NULL };
#define SQL_KIND_ROLE(member) SQL_KIND(kind_role, enum role *, member)

struct adding {
    struct api_key key;
    int64_t principal_id;
    uint8_t digest[DIGEST_BYTES];
};

#define KEY_STORED(FIRST, COLUMN, OF)                                                              \
    FIRST(struct adding, TEXT, key.id, OF "id")                                                    \
    COLUMN(struct adding, INTEGER, principal_id, OF "principal_id")                                \
    COLUMN(struct adding, DIGEST, digest, OF "digest")                                             \
    COLUMN(struct adding, INTEGER, key.created_ms, OF "created_ms")                                \
    COLUMN(struct adding, INTEGER_OR_NULL, key.expires_ms, OF "expires_ms")                        \
    COLUMN(struct adding, TEXT, key.label, OF "label")
#define KEY_COLUMNS(FIRST, COLUMN, OF)                                                             \
    FIRST(struct key_with_digest, TEXT, key.id, OF "id")                                           \
    COLUMN(struct key_with_digest, TEXT, key.principal, "p.name")                                  \
    COLUMN(struct key_with_digest, ROLE, key.role, "p.role")                                       \
    COLUMN(struct key_with_digest, INTEGER, key.created_ms, OF "created_ms")                       \
    COLUMN(struct key_with_digest, INTEGER, key.expires_ms, OF "expires_ms")                       \
    COLUMN(struct key_with_digest, INTEGER, key.revoked_ms, OF "revoked_ms")                       \
    COLUMN(struct key_with_digest, INTEGER, key.last_used_ms, OF "last_used_ms")                   \
    COLUMN(struct key_with_digest, TEXT, key.label, OF "label")                                    \
    COLUMN(struct key_with_digest, DIGEST, digest, OF "digest")
#define PRINCIPAL_COLUMNS(FIRST, COLUMN, OF)                                                       \
    FIRST(struct principal_row, TEXT, principal.name, "p.name")                                    \
    COLUMN(struct principal_row, ROLE, principal.role, "p.role")                                   \
    COLUMN(struct principal_row, INTEGER, created_ms, "p.created_ms")                              \
    COLUMN(struct principal_row, INTEGER, last_used_ms, "max(k.last_used_ms)")                     \
    COLUMN(struct principal_row, INTEGER, keys, "count(k.id)")                                     \
    COLUMN(struct principal_row, INTEGER, valid_keys,                                              \
           "count(k.id) FILTER (WHERE k.revoked_ms IS NULL AND "                                   \
           "(k.expires_ms IS NULL OR k.expires_ms > ?1))")

static const struct sql_columns key_stored = SQL_COLUMNS(struct adding, KEY_STORED);
static const struct sql_columns key_columns = SQL_COLUMNS(struct key_with_digest, KEY_COLUMNS);
static const struct sql_columns principal_columns =
    SQL_COLUMNS(struct principal_row, PRINCIPAL_COLUMNS);
#define SELECT_PRINCIPALS                                                                          \
    SQL_SELECT(PRINCIPAL_COLUMNS, "p.")                                                            \
    "FROM principals p LEFT JOIN api_keys k ON k.principal_id = p.id "

static CHECKED bool insert_principal(struct sql_connection *connection, const struct api_key *key,
                                     struct error *error)
{
    SQL_AUTO sql =
        sql_begin(connection, "INSERT INTO principals (name, role, created_ms) VALUES (?1, ?2, ?3) "
                              "ON CONFLICT (name) DO NOTHING");

    sql_bind_text(&sql, 1, key->principal);
    sql_bind_text(&sql, 2, role_names[key->role]);
    sql_bind_integer(&sql, 3, key->created_ms);
    return sql_run(&sql, error);
}

static CHECKED bool read_role(struct sql_connection *connection, const char *name, int64_t *id,
                              enum role *role, bool *found, struct error *error)
{
    char text[16];
    SQL_AUTO sql = sql_begin(connection, "SELECT id, role FROM principals WHERE name = ?1");

    sql_bind_text(&sql, 1, name);
    if (!sql_find(&sql, found, error))
        return false;
    if (!*found)
        return true;
    *id = sql_integer(&sql, 0);
    sql_text(&sql, 1, text, sizeof text);
    role_find(text, role);
    return true;
}

static const char *article(enum role role)
{
    return role == ROLE_VIEWER ? "a" : "an";
}

/* Finds the key's principal, or inserts it. All keys of a principal have its role. CONFLICT: a
 * different role was requested for this key. */
static CHECKED bool find_or_insert_principal(struct sql_connection *connection,
                                             const struct api_key *key, int64_t *id,
                                             struct error *error)
{
    enum role role = key->role;
    bool found = false;

    if (!insert_principal(connection, key, error)
        || !read_role(connection, key->principal, id, &role, &found, error))
        return false;
    return role == key->role
           || error_set(error, ERROR_CONFLICT,
                        "%s is %s %s and a principal has one role: add the key with --role %s, or "
                        "change the role of all its keys with `opsbrain principal role %s %s`",
                        key->principal, article(role), role_names[role], role_names[role],
                        key->principal, role_names[key->role]);
}

static CHECKED bool apply_add(struct sql_connection *connection, void *context, struct error *error)
{
    static const char INSERT[] =
        SQL_INSERT_WITH("api_keys", KEY_STORED, ", sequence", ", " SQL_NEXT_SEQUENCE("api_keys"));
    struct adding *adding = context;
    SQL_AUTO sql = sql_begin(connection, INSERT);

    if (!find_or_insert_principal(connection, &adding->key, &adding->principal_id, error))
        return false;
    sql_row_bind(&sql, &key_stored, adding);
    return sql_run(&sql, error);
}

static CHECKED bool check_label(const char *label, struct error *error)
{
    TEXT_AUTO shown = { 0 };

    text_add_printable(&shown, label, strlen(label), API_KEY_LABEL_SIZE - 1);
    return (strcmp(text_string(&shown), label) == 0 && strpbrk(label, "\n\t") == NULL)
           || error_set(error, ERROR_INVALID,
                        "the label \"%s\" must be printable and at most %d bytes long",
                        text_string(&shown), API_KEY_LABEL_SIZE - 1);
}

bool api_key_add(struct store *store, const char *principal, enum role role, const char *label,
                 const uint8_t digest[DIGEST_BYTES], int64_t expires_ms, struct change *change,
                 struct api_key *out, struct error *error)
{
    struct adding adding = {
        .key = { .role = role, .created_ms = clock_utc_ms(), .expires_ms = expires_ms },
    };

    if (!text_is_name(principal))
        return error_set(
            error, ERROR_INVALID,
            "\"%.64s\" cannot be a principal's name: use 1 to 63 letters, digits, '.', "
            "'_' and '-', beginning with a letter or digit",
            principal);
    if (!check_label(label, error))
        return false;
    text_copy(adding.key.label, sizeof adding.key.label, label);
    text_copy(adding.key.principal, sizeof adding.key.principal, principal);
    memcpy(adding.digest, digest, DIGEST_BYTES);
    random_id("key", adding.key.id);
    if (!store_change(store, change, apply_add, &adding, adding.key.id, principal, error))
        return false;
    *out = adding.key;
    return true;
}

#define SELECT_KEYS                                                                                \
    SQL_SELECT(KEY_COLUMNS, "k.")                                                                  \
    "FROM api_keys k JOIN principals p ON p.id = k.principal_id "

bool api_key_load(struct store *store, struct key_with_digest **out, size_t *count,
                  struct error *error)
{
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, SELECT_KEYS "ORDER BY k.digest");

    if (!sql_rows_read(&sql, &key_columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}

bool api_key_check(const struct api_key *key, int64_t now_ms, struct error *error)
{
    char when[CLOCK_TEXT_SIZE];

    if (key->revoked_ms != 0)
        return error_set(error, ERROR_UNAUTHENTICATED, "the API key %s was revoked at %s", key->id,
                         clock_format_utc(key->revoked_ms, when));
    return key->expires_ms == 0 || key->expires_ms > now_ms
           || error_set(error, ERROR_UNAUTHENTICATED, "the API key %s expired at %s", key->id,
                        clock_format_utc(key->expires_ms, when));
}

void api_key_note_use(struct store *store, const char *id, int64_t now_ms)
{
    static const char USED[] = "UPDATE api_keys SET last_used_ms = " SQL_GREATER(
        "?2", "coalesce(last_used_ms, 0)") "WHERE id = ?1";

    deferred_timestamps_note(store->deferred, USED, id, now_ms);
}

bool api_key_list(struct store *store, struct api_key **out, size_t *count, struct error *error)
{
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, SELECT_KEYS "ORDER BY k.created_ms, k.sequence");

    if (!sql_rows_read(&sql, &key_columns, &rows, count, error))
        return false;
    *out = memory_zeroed(*count, sizeof **out);
    for (size_t i = 0; i < *count; i++)
        (*out)[i] = ((const struct key_with_digest *)rows)[i].key;
    free(rows);
    return true;
}

struct revoking {
    const char *id_or_principal;
    int64_t now_ms, revoked;
};

static CHECKED bool apply_revoke(struct sql_connection *connection, void *context,
                                 struct error *error)
{
    struct revoking *revoking = context;
    SQL_AUTO sql =
        sql_begin(connection, "UPDATE api_keys SET revoked_ms = ?2 WHERE revoked_ms IS NULL AND "
                              "(id = ?1 OR principal_id = (SELECT id FROM principals WHERE name = "
                              "?1))");

    sql_bind_text(&sql, 1, revoking->id_or_principal);
    sql_bind_integer(&sql, 2, revoking->now_ms);
    if (!sql_run(&sql, error))
        return false;
    revoking->revoked = sql_changes(&sql);
    return revoking->revoked > 0
           || error_set(error, ERROR_NOT_FOUND,
                        "\"%s\" is neither the id of an unrevoked key nor the name of a principal "
                        "that has one: `opsbrain key list` shows all keys",
                        revoking->id_or_principal);
}

bool api_key_revoke(struct store *store, const char *id_or_principal, int64_t now_ms,
                    struct change *change, int64_t *revoked, struct error *error)
{
    struct revoking revoking = { .id_or_principal = id_or_principal, .now_ms = now_ms };

    if (!store_change(store, change, apply_revoke, &revoking, id_or_principal, "", error))
        return false;
    *revoked = revoking.revoked;
    return true;
}

bool principal_list(struct store *store, struct principal_row **out, size_t *count,
                    struct error *error)
{
    static const char LIST[] = SELECT_PRINCIPALS "GROUP BY p.id ORDER BY p.name";
    void *rows;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, LIST);

    sql_bind_integer(&sql, 1, clock_utc_ms());
    if (!sql_rows_read(&sql, &principal_columns, &rows, count, error))
        return false;
    *out = rows;
    return true;
}

struct role_change {
    const char *name;
    enum role role, before;
    char detail[40];
};

static CHECKED bool apply_role(struct sql_connection *connection, void *context,
                               struct error *error)
{
    struct role_change *role_change = context;
    bool found;
    int64_t id;
    SQL_AUTO sql = sql_begin(connection, "UPDATE principals SET role = ?2 WHERE id = ?1");

    if (!read_role(connection, role_change->name, &id, &role_change->before, &found, error))
        return false;
    if (!found)
        return error_set(
            error, ERROR_NOT_FOUND,
            "there is no principal \"%.64s\": `opsbrain principal list` shows all of them",
            role_change->name);
    snprintf(role_change->detail, sizeof role_change->detail, "from %s to %s",
             role_names[role_change->before], role_names[role_change->role]);
    sql_bind_integer(&sql, 1, id);
    sql_bind_text(&sql, 2, role_names[role_change->role]);
    return sql_run(&sql, error);
}

bool principal_set_role(struct store *store, const char *name, enum role role,
                        struct change *change, enum role *before, struct error *error)
{
    struct role_change role_change = { .name = name, .role = role };

    if (!store_change(store, change, apply_role, &role_change, name, role_change.detail, error))
        return false;
    *before = role_change.before;
    return true;
}
