/* SPDX-License-Identifier: Apache-2.0 */
/* Servers that opsbrain started on this machine: their records, and how replies show them. */
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/core/digest.h"
#include "base/core/folders.h"
#include "base/json/json.h"
#include "fleet/machine/machine_http.h"
#include "fleet/machine/machine_private.h"

/* The range of user ids for programs: the one that systemd uses for dynamic users. */
#define ACCOUNT_FIRST 61184
#define ACCOUNT_LAST 65519
#define WORK_OF_ROOT "/var/lib/opsbrain-engines"

/* ---- Showing ---- */

bool machine_server_record(const struct machine *machine, const char *name, json_t **out,
                           struct error *error)
{
    char folder[PATH_MAX];
    struct error why;

    if (!machine_record_check_name(name, error))
        return false;
    if (machine_record_read(machine_record_path(machine->rules.folder, name, folder),
                            MACHINE_RECORD, out, &why))
        return true;
    return why.kind == ERROR_NOT_FOUND
               ? error_set(error, ERROR_NOT_FOUND, "this machine has no server %s", name)
               : error_set(error, why.kind, "%s", why.message);
}

/* A program ends with its watchdog, but a container or a model in Ollama does not. */
static const char *state_of(const json_t *record, const json_t *status, bool is_watched,
                            const char **message)
{
    const char *state = json_get_text(status, "state", "pending");

    *message = json_get_text(status, "message", "");
    if (is_watched || strcmp(state, "stopped") == 0 || strcmp(state, "failed") == 0)
        return state;
    *message =
        json_object_get(record, "program") != NULL
            ? "its watchdog was ended, and the server ended with it: start or destroy the server"
            : "its watchdog was ended, and the server might still be running: start or destroy it";
    return "failed";
}

static void add_address(const json_t *record, json_t *server)
{
    const char *ollama = json_get_text(json_object_get(record, "host"), "ollama", "");
    char base[64];

    json_object_set_new(
        server, "address",
        json_string(json_object_get(record, "service") != NULL
                        ? ollama
                        : machine_http_base(json_get_integer(record, "port", 0), base)));
}

static json_t *show(const char *folder, const json_t *record)
{
    json_t *server = json_deep_copy(record);
    json_auto_t *status = NULL;
    const char *message, *state;
    struct error ignored;

    if (!machine_record_read(folder, MACHINE_STATUS, &status, &ignored))
        status = NULL;
    state = state_of(record, status, machine_record_is_locked(folder), &message);
    json_object_set_new(server, "state", json_string(state));
    json_object_set_new(server, "message", json_string(message));
    json_object_set_new(server, "phase", json_string(json_get_text(status, "phase", "")));
    json_object_set_new(server, "log_line", json_string(json_get_text(status, "log_line", "")));
    add_address(record, server);
    json_object_del(server, "host");
    return server;
}

bool machine_server_read(const struct machine *machine, const char *name, json_t **out,
                         struct error *error)
{
    char folder[PATH_MAX];
    json_auto_t *record = NULL;

    if (!machine_server_record(machine, name, &record, error))
        return false;
    *out = show(machine_record_path(machine->rules.folder, name, folder), record);
    return true;
}

static void each_record(const struct machine *machine,
                        void (*each)(const char *folder, const json_t *record, void *context),
                        void *context)
{
    DIR *folders = opendir(machine->rules.folder);
    struct dirent *entry;

    while (folders != NULL && (entry = readdir(folders)) != NULL) {
        char folder[PATH_MAX];
        json_auto_t *record = NULL;
        struct error ignored;

        if (machine_server_record(machine, entry->d_name, &record, &ignored))
            each(machine_record_path(machine->rules.folder, entry->d_name, folder), record,
                 context);
    }
    if (folders != NULL)
        closedir(folders);
}

static void add_shown(const char *folder, const json_t *record, void *context)
{
    json_array_append_new(context, show(folder, record));
}

void machine_server_list(const struct machine *machine, json_t *servers)
{
    each_record(machine, add_shown, servers);
}

/* ---- Requests ---- */

static bool are_texts(const json_t *values)
{
    const json_t *value;
    const char *name;
    size_t i;

    json_array_foreach(values, i, value)
        if (!json_is_string(value))
            return false;
    json_object_foreach(json_iterable(values), name, value)
        if (!json_is_string(value))
            return false;
    return true;
}

static CHECKED bool check_members(const json_t *request, struct error *error)
{
    static const char *const lists[] = { "arguments", "entrypoint" };
    static const char *const objects[] = { "labels", "environment", "models" };
    int kinds = 0;

    for (size_t i = 0; i < 2; i++)
        if (json_object_get(request, lists[i]) != NULL
            && (!json_is_array(json_object_get(request, lists[i]))
                || !are_texts(json_object_get(request, lists[i]))))
            return error_set(error, ERROR_INVALID, "\"%s\" must be a list of strings", lists[i]);
    for (size_t i = 0; i < 3; i++)
        if (json_object_get(request, objects[i]) != NULL
            && (!json_is_object(json_object_get(request, objects[i]))
                || !are_texts(json_object_get(request, objects[i]))))
            return error_set(error, ERROR_INVALID,
                             "\"%s\" must be an object whose values are strings", objects[i]);
    kinds = json_is_string(json_object_get(request, "program"))
            + json_is_string(json_object_get(request, "image"))
            + json_is_string(json_object_get(request, "service"));
    if (kinds != 1)
        return error_set(
            error, ERROR_INVALID,
            "a server must have exactly one of \"program\", \"image\" and \"service\"");
    return strcmp(json_get_text(request, "service", "ollama"), "ollama") == 0
           || error_set(error, ERROR_INVALID, "\"service\" is \"%.40s\": it must be \"ollama\"",
                        json_get_text(request, "service", ""));
}

struct account_search {
    int64_t account;
    bool in_use;
};

/* Sets `in_use` if the record's server uses the account search->account. */
static void compare_account(const char *folder, const json_t *record, void *context)
{
    struct account_search *search = context;

    (void)folder;
    search->in_use = search->in_use || json_get_integer(record, "account", 0) == search->account;
}

/* Chooses a user id that no user of this machine has and no other server uses. Sets *account to 0
 * if opsbrain does not run as root. */
static CHECKED bool choose_account(const struct machine *machine, int64_t *account,
                                   struct error *error)
{
    *account = 0;
    if (geteuid() != 0)
        return true;
    for (int64_t id = ACCOUNT_FIRST; id <= ACCOUNT_LAST; id++) {
        struct account_search search = { .account = id };
        struct passwd entry, *found = NULL;
        char names[4096];

        each_record(machine, compare_account, &search);
        if (search.in_use
            || (getpwuid_r((uid_t)id, &entry, names, sizeof names, &found) == 0 && found != NULL))
            continue;
        *account = id;
        return true;
    }
    return error_set(
        error, ERROR_CONFLICT,
        "all accounts for programs on this machine are in use: destroy a server first");
}

/* Chooses a program's working folder. It is in the folder that the setting this_machine_work names.
 * Without that setting, it is in the folder with the server's record unless opsbrain runs as root:
 * it is then in WORK_OF_ROOT, because the program's account cannot enter the folder with the
 * record. */
static CHECKED bool choose_work(const struct machine *machine, const char *name, char out[PATH_MAX],
                                struct error *error)
{
    const struct machine_rules *rules = &machine->rules;
    char parent[PATH_MAX], digest[DIGEST_TEXT_SIZE];

    if (rules->work[0] == '\0' && geteuid() != 0) {
        snprintf(out, PATH_MAX, "%s/%s/work", rules->folder, name);
        return true;
    }
    digest_sha256_text(rules->folder, strlen(rules->folder), digest);
    snprintf(parent, sizeof parent, "%s/%.12s", rules->work[0] != '\0' ? rules->work : WORK_OF_ROOT,
             digest);
    if (!folders_make(parent, error))
        return false;
    if (chmod(parent, 0711) != 0 || (rules->work[0] == '\0' && chmod(WORK_OF_ROOT, 0711) != 0))
        return error_set(error, ERROR_INTERNAL, "%s: %s", parent, strerror(errno));
    machine_record_path(parent, name, out);
    return true;
}

bool machine_server_fill(const struct machine *machine, const char *name, const json_t *request,
                         json_t **out, struct error *error)
{
    char work[PATH_MAX];
    int64_t account;

    if (!machine_record_check_name(name, error) || !check_members(request, error)
        || !choose_account(machine, &account, error) || !choose_work(machine, name, work, error))
        return false;
    *out = json_deep_copy(request);
    json_object_set_new(*out, "name", json_string(name));
    json_object_set_new(*out, "wanted", json_string("running"));
    json_object_set_new(*out, "account", json_integer(account));
    json_object_set_new(*out, "host",
                        json_pack("{s:s, s:s, s:s}", "work", work, "containers",
                                  machine->rules.containers, "ollama", machine->rules.ollama));
    return true;
}
