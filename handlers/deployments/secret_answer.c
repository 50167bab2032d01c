/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/deployments/secret_answer.h"

#include <stdlib.h>
#include <string.h>

#include "base/core/memory.h"
#include "base/formats/table.h"
#include "base/json/json.h"
#include "store/ledger/secret_origins.h"

#define PAGE 100

const struct field secret_answer_fields[] = {
    { "name", VALUE_TEXT, .help = "Name by which deployments refer to it." },
    { "is_set", VALUE_BOOLEAN, .help = "True: opsbrain has a value for it." },
    { "origins", VALUE_TEXTS, .help = "All origins it may be sent to." },
    { "by_file", VALUE_BOOLEAN,
      .help = "True: the file NAME.origins in the secrets folder lists them." },
    { "problem", VALUE_TEXT, .optional = true, .help = "What is wrong with that file." },
    { 0 },
};

const struct field secret_answer_unbound_fields[] = {
    { "deployment", VALUE_TEXT, .help = "Its name." },
    { "secret", VALUE_TEXT, .help = "Its secret." },
    { "origin", VALUE_TEXT, .help = "Its URL's origin." },
    { 0 },
};

struct name {
    char text[SECRET_NAME_SIZE];
};

struct names {
    struct name *at;
    size_t count, capacity;
};

/* Everything that one listing collects. */
struct listing {
    const struct access *access;
    struct names set; /* names of secrets that have a value */
    struct names all; /* the names in `set`, and those in bindings and deployments */
    json_t *secrets, *unbound;
};

/* ---- The names ---- */

static void add_name(struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->at[i].text, name) == 0)
            return;
    if (names->count == names->capacity) {
        names->capacity = 2 * names->capacity + 8;
        names->at = memory_resize(names->at, names->capacity, sizeof *names->at);
    }
    text_copy(names->at[names->count++].text, sizeof names->at->text, name);
}

static bool has_name(const struct names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->at[i].text, name) == 0)
            return true;
    return false;
}

static void add_set(void *context, const char *name)
{
    struct listing *listing = context;

    add_name(&listing->set, name);
    add_name(&listing->all, name);
}

static CHECKED bool add_bound(struct listing *listing, struct error *error)
{
    FREE_AUTO struct secret_origin *rows = NULL;
    size_t count;

    if (!secret_origin_list(listing->access->store, NULL, &rows, &count, error))
        return false;
    for (size_t i = 0; i < count; i++)
        add_name(&listing->all, rows[i].secret);
    return true;
}

/* ---- Deployments ---- */

static void check_deployment(struct listing *listing, const struct deployment *deployment)
{
    char origin[ORIGIN_SIZE] = "";
    struct error problem;

    if (deployment->secret[0] == '\0')
        return;
    add_name(&listing->all, deployment->secret);
    if (secret_access_check(listing->access, deployment->secret, deployment->url, &problem))
        return;
    if (!url_origin(deployment->url, origin, &problem))
        origin[0] = '\0';
    json_array_append_new(listing->unbound,
                          json_pack("{s:s, s:s, s:s}", "deployment", deployment->name, "secret",
                                    deployment->secret, "origin", origin));
}

static CHECKED bool check_deployments(struct listing *listing, struct error *error)
{
    char last[64] = "";
    size_t count;

    do {
        FREE_AUTO struct deployment *page = NULL;

        if (!deployment_list(listing->access->store, last, PAGE, &page, &count, error))
            return false;
        for (size_t i = 0; i < count; i++)
            check_deployment(listing, &page[i]);
        if (count > 0)
            text_copy(last, sizeof last, page[count - 1].name);
    } while (count == PAGE);
    return true;
}

/* ---- Secrets ---- */

static void describe(struct listing *listing, const char *name)
{
    struct secret_access found = { 0 };
    struct error problem = { 0 };
    json_t *origins = json_array();
    bool is_read = secret_access_read(listing->access, name, &found, &problem);

    for (size_t i = 0; i < found.count; i++)
        json_array_append_new(origins, json_string(found.origins[i]));
    json_array_append_new(listing->secrets,
                          json_pack("{s:s, s:b, s:o, s:b, s:o}", "name", name, "is_set",
                                    has_name(&listing->set, name), "origins", origins, "by_file",
                                    found.by_file || !is_read, "problem",
                                    answer_json_text(problem.message)));
    secret_access_finish(&found);
}

static int by_text(const void *a, const void *b)
{
    const struct name *first = a, *second = b;

    return strcmp(first->text, second->text);
}

bool secret_answer_json(const struct access *access, json_t **out, struct error *error)
{
    json_auto_t *listed = json_pack("{s:[], s:[]}", "secrets", "unbound");
    struct listing listing = { .access = access,
                               .secrets = json_object_get(listed, "secrets"),
                               .unbound = json_object_get(listed, "unbound") };
    bool done;

    secret_names(access->secrets_folder, add_set, &listing);
    done = add_bound(&listing, error) && check_deployments(&listing, error);
    if (listing.all.count > 0)
        qsort(listing.all.at, listing.all.count, sizeof *listing.all.at, by_text);
    for (size_t i = 0; i < listing.all.count; i++)
        describe(&listing, listing.all.at[i].text);
    free(listing.set.at);
    free(listing.all.at);
    if (done)
        *out = json_incref(listed);
    return done;
}

/* ---- Text ---- */

static void add_row(struct table *table, const json_t *secret)
{
    const json_t *origins = json_object_get(secret, "origins");
    const char *problem = json_get_text(secret, "problem", NULL);
    TEXT_AUTO listed = { 0 };
    size_t i;
    json_t *origin;

    json_array_foreach(origins, i, origin)
        text_addf(&listed, "%s%s", i > 0 ? ", " : "", json_string_value(origin));
    if (problem != NULL)
        text_add(&listed, problem);
    table_cell(table, "%s", json_get_text(secret, "name", ""));
    table_cell(table, "%s", json_get_boolean(secret, "is_set", false) ? "yes" : "no");
    table_cell(table, "%s", listed.length > 0 ? listed.data : "nowhere");
    table_cell(table, "%s", json_get_boolean(secret, "by_file", false) ? "file" : "");
}

void secret_answer_text(const json_t *listed, struct text *out)
{
    const json_t *secrets = json_object_get(listed, "secrets");
    struct table *table = table_create();
    size_t i;
    json_t *row;

    table_column(table, "Secret", false);
    table_column(table, "Set", false);
    table_column(table, "May be sent to", false);
    table_column(table, "By", false);
    json_array_foreach(secrets, i, row)
        add_row(table, row);
    if (i == 0)
        text_add(out, "There are no secrets.\n");
    else
        table_render(table, out);
    table_destroy(table);
    json_array_foreach(json_object_get(listed, "unbound"), i, row)
        text_addf(out, "opsbrain does not call %s, because its secret %s may not be sent to %s.\n",
                  json_get_text(row, "deployment", ""), json_get_text(row, "secret", ""),
                  json_get_text(row, "origin", ""));
}
