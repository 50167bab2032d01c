/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/admin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/core/clock.h"
#include "base/core/memory.h"
#include "base/json/json.h"
#include "base/net/credential.h"
#include "handlers/deployments/secret_answer.h"
#include "server/program/admin_audit.h"
#include "server/program/admin_fleet.h"
#include "server/program/audit_notes.h"
#include "server/program/command_line.h"
#include "store/ledger/plausible_time.h"
#include "store/ledger/principals.h"
#include "store/ledger/store.h"

static CHECKED bool read_digest(const char *hex, uint8_t out[DIGEST_BYTES], struct error *error)
{
    static const char digits[] = "0123456789abcdef";

    if (strlen(hex) != 2 * (size_t)DIGEST_BYTES || strspn(hex, digits) != strlen(hex))
        return error_set(error, ERROR_INVALID, "digest must be 64 lower-case hexadecimal digits");
    for (size_t i = 0; i < DIGEST_BYTES; i++)
        out[i] = (uint8_t)((strchr(digits, hex[2 * i]) - digits) << 4
                           | (strchr(digits, hex[2 * i + 1]) - digits));
    return true;
}

static CHECKED bool check_name(const char *name, struct error *error)
{
    if (text_is_name(name) && !credential_is_in(name))
        return true;
    return error_set(
        error, ERROR_INVALID,
        "a principal's name must have 1 to 63 letters, digits, '.', '_' or '-', begin with "
        "a letter or digit, and not look like a key");
}

static CHECKED bool read_role(const json_t *request, enum role *out, struct error *error)
{
    const char *text = json_get_text(request, "role", "");

    return role_find(text, out)
           || error_set(error, ERROR_INVALID,
                        "role is \"%.40s\", but must be viewer, operator or admin", text);
}

static json_t *describe(const struct api_key *key)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I}", "id", key->id, "principal",
                     key->principal, "role", role_name(key->role), "label", key->label,
                     "created_ms", (json_int_t)key->created_ms, "expires_ms",
                     (json_int_t)key->expires_ms, "revoked_ms", (json_int_t)key->revoked_ms,
                     "last_used_ms", (json_int_t)key->last_used_ms);
}

static CHECKED bool execute_add(const struct access *access, const json_t *request, json_t **reply,
                                struct error *error)
{
    const char *name = json_get_text(request, "name", "");
    const char *label = json_get_text(request, "label", "");
    struct change change = { .actor = COMMAND_LINE(request), .tool = "key add" };
    json_auto_t *logged = json_pack("{s:s, s:s, s:s}", "name", name, "role",
                                    json_get_text(request, "role", ""), "label", label);
    FREE_AUTO char *arguments = json_write(logged);
    uint8_t digest[DIGEST_BYTES];
    struct api_key key;
    enum role role;

    if (!check_name(name, error)
        || !read_digest(json_get_text(request, "digest", ""), digest, error)
        || !read_role(request, &role, error))
        return false;
    change.arguments = arguments;
    if (!api_key_add(access->store, name, role, label, digest,
                     json_get_integer(request, "expires_ms", 0), &change, &key, error))
        return false;
    *reply = describe(&key);
    return true;
}

static CHECKED bool execute_list(const struct access *access, const json_t *request, json_t **reply,
                                 struct error *error)
{
    FREE_AUTO struct api_key *keys = NULL;
    size_t count;
    json_t *list;

    (void)request;
    if (!api_key_list(access->store, &keys, &count, error))
        return false;
    list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, describe(&keys[i]));
    *reply = json_pack("{s:o}", "keys", list);
    return true;
}

static CHECKED bool execute_revoke(const struct access *access, const json_t *request,
                                   json_t **reply, struct error *error)
{
    const char *name = json_get_text(request, "name", "");
    struct change change = { .actor = COMMAND_LINE(request), .tool = "key revoke" };
    json_auto_t *logged = json_pack("{s:s}", "name", name);
    FREE_AUTO char *arguments = json_write(logged);
    int64_t revoked;

    change.arguments = arguments;
    if (!api_key_revoke(access->store, name, clock_utc_ms(), &change, &revoked, error))
        return false;
    *reply = json_pack("{s:I}", "revoked", (json_int_t)revoked);
    return true;
}

/* ---- Principals ---- */

static json_t *describe_principal(const struct principal_row *row)
{
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "name", row->principal.name, "role",
                     role_name(row->principal.role), "created_ms", (json_int_t)row->created_ms,
                     "last_used_ms", (json_int_t)row->last_used_ms, "keys", (json_int_t)row->keys,
                     "valid_keys", (json_int_t)row->valid_keys);
}

static CHECKED bool execute_principals(const struct access *access, const json_t *request,
                                       json_t **reply, struct error *error)
{
    FREE_AUTO struct principal_row *rows = NULL;
    size_t count;
    json_t *list;

    (void)request;
    if (!principal_list(access->store, &rows, &count, error))
        return false;
    list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, describe_principal(&rows[i]));
    *reply = json_pack("{s:o}", "principals", list);
    return true;
}

static CHECKED bool execute_role(const struct access *access, const json_t *request, json_t **reply,
                                 struct error *error)
{
    const char *name = json_get_text(request, "name", "");
    struct change change = { .actor = COMMAND_LINE(request), .tool = "principal role" };
    json_auto_t *logged =
        json_pack("{s:s, s:s}", "name", name, "role", json_get_text(request, "role", ""));
    FREE_AUTO char *arguments = json_write(logged);
    enum role role, before;

    change.arguments = arguments;
    if (!read_role(request, &role, error)
        || !principal_set_role(access->store, name, role, &change, &before, error))
        return false;
    *reply = json_pack("{s:s, s:s}", "before", role_name(before), "role", role_name(role));
    return true;
}

/* Sets *out to whether any admin has a valid key. */
static CHECKED bool any_admin(struct store *store, bool *out, struct error *error)
{
    FREE_AUTO struct principal_row *rows = NULL;
    size_t count;

    if (!principal_list(store, &rows, &count, error))
        return false;
    *out = false;
    for (size_t i = 0; i < count; i++)
        *out = *out || (rows[i].principal.role == ROLE_ADMIN && rows[i].valid_keys > 0);
    return true;
}

/* ---- Secrets ---- */

static CHECKED bool bind_secret(const struct access *access, const json_t *request, bool bound,
                                json_t **reply, struct error *error)
{
    const char *name = json_get_text(request, "name", "");
    struct change change = { .actor = COMMAND_LINE(request),
                             .tool = bound ? "secret bind" : "secret unbind" };
    json_auto_t *logged =
        json_pack("{s:s, s:s}", "name", name, "origin", json_get_text(request, "origin", ""));
    FREE_AUTO char *arguments = json_write(logged);
    char origin[ORIGIN_SIZE];
    bool changed;

    change.arguments = arguments;
    if (!secret_access_bind(access, name, json_get_text(request, "origin", ""), bound, &change,
                            origin, &changed, error))
        return false;
    *reply = json_pack("{s:s, s:b, s:b}", "origin", origin, "changed", changed, "weak",
                       bound && secret_access_is_weak(access, name));
    return true;
}

static CHECKED bool execute_bind(const struct access *access, const json_t *request, json_t **reply,
                                 struct error *error)
{
    return bind_secret(access, request, true, reply, error);
}

static CHECKED bool execute_unbind(const struct access *access, const json_t *request,
                                   json_t **reply, struct error *error)
{
    return bind_secret(access, request, false, reply, error);
}

static CHECKED bool execute_secrets(const struct access *access, const json_t *request,
                                    json_t **reply, struct error *error)
{
    (void)request;
    return secret_answer_json(access, reply, error);
}

/* ---- The clock ---- */

static json_t *describe_clock(const struct timeline_verdict *verdict)
{
    return json_pack("{s:I, s:I, s:I}", "now_ms", (json_int_t)verdict->now_ms, "ahead_ms",
                     (json_int_t)verdict->ahead_ms, "waits_ms", (json_int_t)verdict->waits_ms);
}

static CHECKED bool execute_clock(const struct access *access, const json_t *request,
                                  json_t **reply, struct error *error)
{
    struct timeline_verdict verdict = plausible_time_now(access->store);

    (void)request;
    (void)error;
    *reply = describe_clock(&verdict);
    return true;
}

static CHECKED bool execute_clock_accept(const struct access *access, const json_t *request,
                                         json_t **reply, struct error *error)
{
    struct change change = { .actor = COMMAND_LINE(request),
                             .tool = "clock accept",
                             .arguments = "{}" };
    struct timeline_verdict before;

    if (!plausible_time_accept(access->store, clock_utc_ms(), clock_uptime_ms(), &change, &before,
                               error))
        return false;
    *reply = describe_clock(&before);
    return true;
}

/* ---- The server ---- */

/* A running server adds the member "address" to the request (admin_socket.c). Without a server, the
 * member is missing. */
static CHECKED bool execute_address(const struct access *access, const json_t *request,
                                    json_t **reply, struct error *error)
{
    const char *address = json_get_text(request, "address", NULL);

    (void)access;
    if (address == NULL)
        return error_set(error, ERROR_NOT_FOUND, "no server has this data folder open");
    *reply = json_pack("{s:s}", "address", address);
    return true;
}

/* ---- The table ---- */

static const struct command {
    const char *name;
    CHECKED bool (*execute)(const struct access *access, const json_t *request, json_t **reply,
                            struct error *error);
    bool creates; /* if the data folder has no database, the command creates it */
} commands[] = {
    { "key_add", execute_add, true },
    { "key_list", execute_list, false },
    { "key_revoke", execute_revoke, false },
    { "principal_list", execute_principals, false },
    { "principal_role", execute_role, false },
    { "secret_bind", execute_bind, false },
    { "secret_unbind", execute_unbind, false },
    { "secret_list", execute_secrets, false },
    { "audit_list", admin_audit_list, false },
    { "audit_verify", admin_audit_verify, false },
    { "audit_export", admin_audit_export, false },
    { "plan_show", admin_fleet_show_plan, false },
    { "plan_approve", admin_fleet_approve_plan, false },
    { "fleet_resume", admin_fleet_resume, false },
    { "clock_show", execute_clock, false },
    { "clock_accept", execute_clock_accept, false },
    { "server_address", execute_address, false },
};

static CHECKED const struct command *find_command(const json_t *request, struct error *error)
{
    const char *name = json_get_text(request, "command", "");

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    error_set(error, ERROR_INVALID, "there is no command \"%.40s\"", name);
    return NULL;
}

/* If an admin had a valid key before the command, and none has one after it, the reply has a
 * warning. The command is not refused: it must be possible to revoke a lost key, and the machine's
 * administrator can create a new one. */
bool admin_execute(const struct access *access, const json_t *request, json_t **reply,
                   struct error *error)
{
    const struct command *command = find_command(request, error);
    bool had_admin, has_admin;

    if (command == NULL || !any_admin(access->store, &had_admin, error)
        || !command->execute(access, request, reply, error))
        return false;
    if (any_admin(access->store, &has_admin, error) && had_admin && !has_admin)
        json_object_set_new(*reply, "warning",
                            json_string("no admin has a valid key now: create a key with "
                                        "`opsbrain key add NAME --role admin`"));
    return true;
}

void admin_set_client(json_t *request, long uid)
{
    char client[64];

    snprintf(client, sizeof client, "command line, uid %ld", uid);
    json_object_set_new(request, "client", json_string(client));
}

/* Returns the value that a server would read from this environment; "" if it is not set. */
static const char *setting_of(const char *variable)
{
    const char *value = secure_getenv(variable);

    return value == NULL ? "" : value;
}

bool admin_would_create(const char *folder)
{
    struct error absent;

    return setting_of("OPSBRAIN_DATABASE")[0] == '\0' && !store_require(folder, &absent);
}

/* `creates`: whether to create the database if the folder has none. */
static CHECKED bool open_store(const char *folder, bool creates, struct store **out,
                               struct error *error)
{
    const char *database = setting_of("OPSBRAIN_DATABASE");

    if (database[0] == '\0' && !creates && !store_require(folder, error))
        return false;
    return store_open(folder, database, 1, out, error);
}

/* The requests of one command. Each of them but the first is made from the previous reply. */
struct dialogue {
    const char *folder;
    json_t *request;
    admin_next *next; /* NULL: there is only one request */
    void *context;
    json_t **reply; /* if there is only one request, where its reply goes; otherwise NULL */
};

/* Handles a reply. Sets *more to whether dialogue->request is now the next request to send. */
static void reply_take(const struct dialogue *dialogue, json_t *reply, bool *more)
{
    *more = dialogue->next != NULL && dialogue->next(dialogue->context, reply, dialogue->request);
    if (dialogue->next == NULL)
        *dialogue->reply = reply;
    else
        json_decref(reply);
}

static CHECKED bool ask(const struct dialogue *dialogue, bool *running, struct error *error)
{
    bool more = true;

    while (more) {
        json_t *reply = NULL;

        if (!admin_ask(dialogue->folder, dialogue->request, running, &reply, error))
            return false;
        if (!*running)
            return true;
        reply_take(dialogue, reply, &more);
    }
    return true;
}

static CHECKED bool execute(const struct dialogue *dialogue, const struct access *access,
                            struct error *error)
{
    bool more = true;

    admin_set_client(dialogue->request, (long)getuid());
    while (more) {
        json_t *reply;

        if (!admin_execute(access, dialogue->request, &reply, error))
            return false;
        reply_take(dialogue, reply, &more);
    }
    return true;
}

/* Carries out the command in this process, since no server is running. */
static CHECKED bool execute_here(const struct dialogue *dialogue, const char *secrets_folder,
                                 struct error *error)
{
    const struct command *command = find_command(dialogue->request, error);
    struct access access = { .secrets_folder = secrets_folder };
    bool done;

    if (command == NULL || !open_store(dialogue->folder, command->creates, &access.store, error))
        return false;
    done =
        audit_notes_use_key(access.store, dialogue->folder, setting_of("OPSBRAIN_AUDIT_KEY"), error)
        && execute(dialogue, &access, error);
    store_close(access.store);
    return done;
}

static CHECKED bool carry_out(const struct dialogue *dialogue, const char *secrets_folder,
                              struct error *error)
{
    bool running;

    return ask(dialogue, &running, error)
           && (running || execute_here(dialogue, secrets_folder, error));
}

bool admin_request(const char *folder, const char *secrets_folder, const json_t *request,
                   json_t **reply, struct error *error)
{
    json_auto_t *copy = json_copy(json_iterable(request));
    const struct dialogue dialogue = { .folder = folder, .request = copy, .reply = reply };

    return carry_out(&dialogue, secrets_folder, error);
}

bool admin_requests(const char *folder, json_t *request, admin_next *next, void *context,
                    struct error *error)
{
    const struct dialogue dialogue = { folder, request, next, context, NULL };

    return carry_out(&dialogue, "", error);
}
