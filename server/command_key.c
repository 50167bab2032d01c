/* opsbrain key: on the store itself, or through the server that has it. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/table.h"
#include "server/admin.h"
#include "server/auth.h"
#include "server/commands.h"
#include "server/settings.h"

#define DAY_MS INT64_C(86400000)

struct options {
    const char *what, *name; /* name: "" unless given */
    char role[CONFIG_TEXT_SIZE], expires[CONFIG_TEXT_SIZE], data[CONFIG_TEXT_SIZE];
};

#define AT(member) offsetof(struct options, member)
static const struct setting flags[] = {
    { "role", SETTING_TEXT, "viewer", 0, 0, AT(role), "viewer, operator or admin" },
    { "expires", SETTING_TEXT, "", 0, 0, AT(expires), "30d, or a date: 2027-01-01" },
    { "data", SETTING_TEXT, "./data", 0, 0, AT(data), "folder of the database" },
};

/* "30d" from now, or the beginning of a day (UTC). 0: never. */
static bool read_expiry(const char *text, int64_t *out, struct error *error)
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
                     "--expires is \"%.40s\", it must be days as in 30d, or a coming date as in "
                     "2027-01-01",
                     text);
}

static bool add(const struct options *options, struct error *error)
{
    char key[KEY_SIZE], hex[DIGEST_TEXT_SIZE], until[CLOCK_TEXT_SIZE];
    json_auto_t *request = NULL;
    json_auto_t *reply = NULL;
    int64_t expires_ms;

    if (!read_expiry(options->expires, &expires_ms, error))
        return false;
    key_generate(key, hex);
    request = json_pack("{s:s, s:s, s:s, s:s, s:I}", "command", "key_add", "name", options->name,
                        "role", options->role, "digest", hex, "expires_ms", (json_int_t)expires_ms);
    if (!admin_request(options->data, "", request, &reply, error))
        return false;
    fprintf(stderr, "key %s for %s (%s), %s%s; it is shown this once:\n",
            json_get_text(reply, "id", ""), options->name, options->role,
            expires_ms > 0 ? "valid until " : "without expiry",
            expires_ms > 0 ? clock_format_utc(expires_ms, until) : "");
    puts(key);
    return true;
}

static void add_time(struct table *table, int64_t utc_ms)
{
    char text[CLOCK_TEXT_SIZE];

    if (utc_ms == 0)
        table_cell(table, "-");
    else
        table_cell(table, "%.16s", clock_format_utc(utc_ms, text));
}

static bool list(const struct options *options, struct error *error)
{
    static const char *const headings[] = { "id",      "name",    "role",     "created",
                                            "expires", "revoked", "last used" };
    json_auto_t *request = json_pack("{s:s}", "command", "key_list");
    json_auto_t *reply = NULL;
    struct table *table;
    TEXT_AUTO text = { 0 };
    size_t index;
    json_t *key;

    if (!admin_request(options->data, "", request, &reply, error))
        return false;
    table = table_create();
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        table_column(table, headings[i], false);
    json_array_foreach(json_object_get(reply, "keys"), index, key)
    {
        table_cell(table, "%s", json_get_text(key, "id", ""));
        table_cell(table, "%s", json_get_text(key, "principal", ""));
        table_cell(table, "%s", json_get_text(key, "role", ""));
        add_time(table, json_get_integer(key, "created_ms", 0));
        add_time(table, json_get_integer(key, "expires_ms", 0));
        add_time(table, json_get_integer(key, "revoked_ms", 0));
        add_time(table, json_get_integer(key, "last_used_ms", 0));
    }
    table_render(table, &text);
    table_destroy(table);
    fputs(text_string(&text), stdout);
    return true;
}

static bool revoke(const struct options *options, struct error *error)
{
    json_auto_t *request = json_pack("{s:s, s:s}", "command", "key_revoke", "name", options->name);
    json_auto_t *reply = NULL;

    if (!admin_request(options->data, "", request, &reply, error))
        return false;
    printf("revoked %lld\n", (long long)json_get_integer(reply, "revoked", 0));
    return true;
}

static const struct {
    const char *what;
    bool named;
    bool (*run)(const struct options *options, struct error *error);
} actions[] = {
    { "add", true, add },
    { "list", false, list },
    { "revoke", true, revoke },
};

int command_key(int argc, char *const *argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    struct options options = { 0 };
    struct error error;

    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        int skip = actions[i].named ? 2 : 1;

        if (strcmp(what, actions[i].what) != 0)
            continue;
        if (argc <= skip || (actions[i].named && argv[2][0] == '-'))
            return command_fail("which one? as in: opsbrain key add NAME, key revoke ID|NAME");
        if (!config_read(flags, sizeof flags / sizeof *flags, argc - skip, argv + skip, &options,
                         &error))
            return command_fail(error.message);
        options.name = actions[i].named ? argv[2] : "";
        return actions[i].run(&options, &error) ? 0 : command_fail(error.message);
    }
    return command_fail("the key commands are: key add NAME, key list, key revoke ID|NAME");
}
