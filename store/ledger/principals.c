/* SPDX-License-Identifier: Apache-2.0 */
#include "store/ledger/principals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/clock.h"
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

struct adding {
    struct api_key key;
    const uint8_t *digest;
};

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

/* A principal has one role: a key with another would change that of all its keys. */
static CHECKED bool find_principal(struct sql_connection *connection, const struct api_key *key,
                                   int64_t *id, struct error *error)
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
    const struct adding *adding = context;
    const struct api_key *key = &adding->key;
    int64_t principal_id;
    SQL_AUTO sql =
        sql_begin(connection,
                  "INSERT INTO api_keys (id, principal_id, digest, created_ms, "
                  "expires_ms, label, sequence) VALUES (?1, ?2, ?3, ?4, ?5, ?6, " SQL_NEXT_SEQUENCE(
                      "api_keys") ")");

    if (!find_principal(connection, key, &principal_id, error))
        return false;
    sql_bind_text(&sql, 1, key->id);
    sql_bind_integer(&sql, 2, principal_id);
    sql_bind_blob(&sql, 3, adding->digest, DIGEST_BYTES);
    sql_bind_integer(&sql, 4, key->created_ms);
    sql_bind_time(&sql, 5, key->expires_ms);
    sql_bind_text(&sql, 6, key->label);
    return sql_run(&sql, error);
}

static CHECKED bool check_label(const char *label, struct error *error)
{
    TEXT_AUTO shown = { 0 };

    text_add_printable(&shown, label, strlen(label), API_KEY_LABEL_SIZE - 1);
    return (strcmp(text_string(&shown), label) == 0 && strpbrk(label, "\n\t") == NULL)
           || error_set(error, ERROR_INVALID,
                        "the label \"%s\" must be %d printable characters at most",
                        text_string(&shown), API_KEY_LABEL_SIZE - 1);
}

bool api_key_add(struct store *store, const char *principal, enum role role, const char *label,
                 const uint8_t digest[DIGEST_BYTES], int64_t expires_ms, struct change *change,
                 struct api_key *out, struct error *error)
{
    struct adding adding = {
        .key = { .role = role, .created_ms = clock_utc_ms(), .expires_ms = expires_ms },
        .digest = digest,
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
    random_id("key", adding.key.id);
    if (!store_change(store, change, apply_add, &adding, adding.key.id, principal, error))
        return false;
    *out = adding.key;
    return true;
}

static void read_key(const struct sql *sql, struct api_key *row)
{
    char role[16];

    *row = (struct api_key){
        .created_ms = sql_integer(sql, 3),
        .expires_ms = sql_integer(sql, 4),
        .revoked_ms = sql_integer(sql, 5),
        .last_used_ms = sql_integer(sql, 6),
    };
    sql_text(sql, 0, row->id, sizeof row->id);
    sql_text(sql, 1, row->principal, sizeof row->principal);
    sql_text(sql, 2, role, sizeof role);
    role_find(role, &row->role);
    sql_text(sql, 7, row->label, sizeof row->label);
}

#define COLUMNS                                                                                    \
    "k.id, p.name, p.role, k.created_ms, k.expires_ms, k.revoked_ms, k.last_used_ms, k.label, "    \
    "k.digest FROM api_keys k JOIN principals p ON p.id = k.principal_id "

static void read_digest(const struct sql *sql, uint8_t out[DIGEST_BYTES])
{
    size_t length;
    const void *bytes = sql_blob(sql, 8, &length);

    memset(out, 0, DIGEST_BYTES);
    if (length == DIGEST_BYTES)
        memcpy(out, bytes, DIGEST_BYTES);
}

bool api_key_load(struct store *store, struct recognized_key **out, size_t *count,
                  struct error *error)
{
    struct recognized_key *rows = NULL;
    size_t length = 0;
    enum sql_step step;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, "SELECT " COLUMNS "ORDER BY k.digest");

    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        rows = sql_rows_grow(rows, length, sizeof *rows);
        read_digest(&sql, rows[length].digest);
        read_key(&sql, &rows[length++].key);
    }
    if (step == SQL_FAILED) {
        free(rows);
        return false;
    }
    *out = rows;
    *count = length;
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
    struct api_key *rows = NULL;
    size_t length = 0;
    enum sql_step step;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql =
        sql_begin(reader.connection, "SELECT " COLUMNS "ORDER BY k.created_ms, k.sequence");

    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        rows = sql_rows_grow(rows, length, sizeof *rows);
        read_key(&sql, &rows[length++]);
    }
    if (step == SQL_FAILED) {
        free(rows);
        return false;
    }
    *out = rows;
    *count = length;
    return true;
}

struct revoking {
    const char *name;
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

    sql_bind_text(&sql, 1, revoking->name);
    sql_bind_integer(&sql, 2, revoking->now_ms);
    if (!sql_run(&sql, error))
        return false;
    revoking->revoked = sql_changes(&sql);
    return revoking->revoked > 0
           || error_set(error, ERROR_NOT_FOUND,
                        "\"%s\" is neither the id of a key nor the name of a principal with keys "
                        "that are not revoked yet: opsbrain key list shows them",
                        revoking->name);
}

bool api_key_revoke(struct store *store, const char *id_or_principal, int64_t now_ms,
                    struct change *change, int64_t *revoked, struct error *error)
{
    struct revoking revoking = { .name = id_or_principal, .now_ms = now_ms };

    if (!store_change(store, change, apply_revoke, &revoking, id_or_principal, "", error))
        return false;
    *revoked = revoking.revoked;
    return true;
}

static void read_principal(const struct sql *sql, struct principal_row *row)
{
    char role[16];

    *row = (struct principal_row){
        .created_ms = sql_integer(sql, 2),
        .last_used_ms = sql_integer(sql, 3),
        .keys = sql_integer(sql, 4),
        .valid_keys = sql_integer(sql, 5),
    };
    sql_text(sql, 0, row->principal.name, sizeof row->principal.name);
    sql_text(sql, 1, role, sizeof role);
    role_find(role, &row->principal.role);
}

bool principal_list(struct store *store, struct principal_row **out, size_t *count,
                    struct error *error)
{
    static const char LIST[] =
        "SELECT p.name, p.role, p.created_ms, max(k.last_used_ms), count(k.id), "
        "count(k.id) FILTER (WHERE k.revoked_ms IS NULL AND "
        "(k.expires_ms IS NULL OR k.expires_ms > ?1)) "
        "FROM principals p LEFT JOIN api_keys k ON k.principal_id = p.id "
        "GROUP BY p.id ORDER BY p.name";
    struct principal_row *rows = NULL;
    size_t length = 0;
    enum sql_step step;
    READER_AUTO reader = database_reader(store->main);
    SQL_AUTO sql = sql_begin(reader.connection, LIST);

    sql_bind_integer(&sql, 1, clock_utc_ms());
    while ((step = sql_step(&sql, error)) == SQL_ROW) {
        rows = sql_rows_grow(rows, length, sizeof *rows);
        read_principal(&sql, &rows[length++]);
    }
    if (step == SQL_FAILED) {
        free(rows);
        return false;
    }
    *out = rows;
    *count = length;
    return true;
}

struct promotion {
    const char *name;
    enum role role, before;
    char detail[40];
};

static CHECKED bool apply_role(struct sql_connection *connection, void *context,
                               struct error *error)
{
    struct promotion *promotion = context;
    bool found;
    int64_t id;
    SQL_AUTO sql = sql_begin(connection, "UPDATE principals SET role = ?2 WHERE id = ?1");

    if (!read_role(connection, promotion->name, &id, &promotion->before, &found, error))
        return false;
    if (!found)
        return error_set(error, ERROR_NOT_FOUND,
                         "there is no principal \"%.64s\": opsbrain principal list shows them",
                         promotion->name);
    snprintf(promotion->detail, sizeof promotion->detail, "from %s to %s",
             role_names[promotion->before], role_names[promotion->role]);
    sql_bind_integer(&sql, 1, id);
    sql_bind_text(&sql, 2, role_names[promotion->role]);
    return sql_run(&sql, error);
}

bool principal_set_role(struct store *store, const char *name, enum role role,
                        struct change *change, enum role *before, struct error *error)
{
    struct promotion promotion = { .name = name, .role = role };

    if (!store_change(store, change, apply_role, &promotion, name, promotion.detail, error))
        return false;
    *before = promotion.before;
    return true;
}
