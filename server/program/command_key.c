/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain key: manages API keys, through the server that has the store open or, if there is none,
 * in the store itself. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/core/clock.h"
#include "base/formats/table.h"
#include "base/json/json.h"
#include "server/access/authority.h"
#include "server/access/key_marker.h"
#include "server/program/admin.h"
#include "server/program/command_action.h"
#include "server/program/command_output.h"
#include "server/program/commands.h"
#include "store/ledger/store.h"

#define DAY_MS INT64_C(86400000)

struct options {
    char role[CONFIG_TEXT_SIZE], label[CONFIG_TEXT_SIZE], expires[CONFIG_TEXT_SIZE];
    char data[CONFIG_TEXT_SIZE];
    bool json;
};

#define AT(member) offsetof(struct options, member)
static const struct setting flags[] = {
    { "role", SETTING_TEXT, "", 0, 0, AT(role),
      "role of the key's principal: viewer, operator or admin; required for add" },
    { "label", SETTING_TEXT, "", 0, 0, AT(label), "what the key is for; list shows this" },
    { "expires", SETTING_TEXT, "", 0, 0, AT(expires),
      "when the key expires: 30d, or a date such as 2027-01-01" },
    { "data", SETTING_TEXT, "./data", 0, 0, AT(data), "the database's folder" },
    { "json", SETTING_BOOLEAN, "false", 0, 0, AT(json), "prints JSON" },
};

/* Reads when a key expires. "30d" means in 30 days; a date means the beginning of that day (UTC);
 * "" means never (*out is 0). */
static CHECKED bool read_expiry(const char *text, int64_t *out, struct error *error)
{
    size_t length = strlen(text);
    struct tm day = { 0 };
    const char *end;
    int64_t days;
    char number[16];

    *out = 0;
    if (length == 0)
        return true;
    if (length < sizeof number && text[length - 1] == 'd') {
        memcpy(number, text, length - 1);
        number[length - 1] = '\0';
        if (text_to_integer(number, 1, 36500, &days)) {
            *out = clock_utc_ms() + days * DAY_MS;
            return true;
        }
    }
    end = strptime(text, "%Y-%m-%d", &day);
    if (end != NULL && *end == '\0')
        *out = (int64_t)timegm(&day) * 1000;
    if (*out > clock_utc_ms())
        return true;
    return error_set(error, ERROR_INVALID,
                     "--expires is \"%.40s\", but must be a number of days such as 30d, "
                     "or a future date such as 2027-01-01",
                     text);
}

/* Prints the key on standard output; its id, name, role and expiry go to standard error. */
static void show_key(const char *key, const char *id, const char *name, const char *role,
                     int64_t expires_ms)
{
    char until[CLOCK_TEXT_SIZE];

    fprintf(stderr, "key %s for %s (%s), %s%s; it is shown only once:\n", id, name, role,
            expires_ms > 0 ? "valid until " : "never expires",
            expires_ms > 0 ? clock_format_utc(expires_ms, until) : "");
    puts(key);
}

static CHECKED bool add(const void *context, char *const *operands, struct error *error)
{
    const struct options *options = context;
    char key[KEY_SIZE], hex[DIGEST_TEXT_SIZE];
    json_auto_t *request = NULL;
    json_auto_t *reply = NULL;
    int64_t expires_ms;
    bool creates = admin_would_create(options->data);

    if (options->role[0] == '\0')
        return error_set(error, ERROR_INVALID,
                         "--role is missing: give --role viewer, operator or admin");
    if (!read_expiry(options->expires, &expires_ms, error))
        return false;
    authority_generate_key(key, hex);
    request = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I}", "command", "key_add", "name", operands[0],
                        "role", options->role, "label", options->label, "digest", hex, "expires_ms",
                        (json_int_t)expires_ms);
    if (!admin_request(options->data, "", request, &reply, error))
        return false;
    key_marker_write(options->data);
    if (creates)
        fprintf(stderr, "created a new database in %s: start the server with this folder\n",
                options->data);
    json_object_set_new(reply, "key", json_string(key));
    if (command_output_json(options->json, reply))
        return true;
    show_key(key, json_get_text(reply, "id", ""), operands[0], options->role, expires_ms);
    return true;
}

static CHECKED bool list(const void *context, char *const *operands, struct error *error)
{
    static const char *const headings[] = { "id",      "name",    "role",      "label", "created",
                                            "expires", "revoked", "last used", NULL };
    const struct options *options = context;
    json_auto_t *request = json_pack("{s:s}", "command", "key_list");
    json_auto_t *reply = NULL;
    struct table *table;
    size_t index;
    json_t *key;

    (void)operands;
    if (!admin_request(options->data, "", request, &reply, error))
        return false;
    if (command_output_json(options->json, reply))
        return true;
    table = command_output_table(headings);
    json_array_foreach(json_object_get(reply, "keys"), index, key) {
        table_cell(table, "%s", json_get_text(key, "id", ""));
        table_cell(table, "%s", json_get_text(key, "principal", ""));
        table_cell(table, "%s", json_get_text(key, "role", ""));
        table_cell(table, "%s", json_get_text(key, "label", ""));
        command_output_table_time(table, json_get_integer(key, "created_ms", 0));
        command_output_table_time(table, json_get_integer(key, "expires_ms", 0));
        command_output_table_time(table, json_get_integer(key, "revoked_ms", 0));
        command_output_table_time(table, json_get_integer(key, "last_used_ms", 0));
    }
    command_output_table_print(table);
    return true;
}

static CHECKED bool revoke(const void *context, char *const *operands, struct error *error)
{
    const struct options *options = context;
    json_auto_t *request = json_pack("{s:s, s:s}", "command", "key_revoke", "name", operands[0]);
    json_auto_t *reply = NULL;
    int64_t revoked;

    if (!admin_request(options->data, "", request, &reply, error))
        return false;
    if (command_output_json(options->json, reply))
        return true;
    revoked = json_get_integer(reply, "revoked", 0);
    printf("revoked %lld %s\n", (long long)revoked, revoked == 1 ? "key" : "keys");
    command_output_warn(reply);
    return true;
}

/* Removes the record that the folder had keys (key_marker.h). Refused while it has keys, because
 * the server would write the record again at its next start. */
static CHECKED bool reset(const void *context, char *const *operands, struct error *error)
{
    const struct options *options = context;
    json_auto_t *request = json_pack("{s:s}", "command", "key_list");
    json_auto_t *reply = NULL;

    (void)operands;
    if (!admin_would_create(options->data)
        && !admin_request(options->data, "", request, &reply, error))
        return false;
    if (json_array_size(json_object_get(reply, "keys")) > 0)
        return error_set(error, ERROR_CONFLICT,
                         "%.200s has keys, so --auth auto requires a key from every caller: there "
                         "is nothing to reset",
                         options->data);
    if (!key_marker_remove(options->data, error))
        return false;
    printf("with --auth auto, a server on %s requires no key until one is added\n", options->data);
    return true;
}

int command_key(int argc, char *const *argv)
{
    static const struct action actions[] = {
        { "add", "NAME", "creates an API key, shown once, for a principal of that name", add },
        { "list", "", "lists the keys, but not their text: only a digest of it is stored", list },
        { "revoke", "ID|NAME", "revokes a key, or all keys of a principal, with immediate effect",
          revoke },
        { "reset", "",
          "forgets that the data folder had keys, for use after the folder was lost or replaced; "
          "--auth auto then requires no key",
          reset },
        { 0 },
    };
    static const struct command command = { "key", actions, flags, sizeof flags / sizeof *flags };
    struct options options = { 0 };

    return command_run(&command, &options, argc, argv);
}
