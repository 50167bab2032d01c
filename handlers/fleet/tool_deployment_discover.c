/* SPDX-License-Identifier: Apache-2.0 */
/* deployment_discover: lists the model servers on a target, whoever created them. */

#include <string.h>

#include "base/formats/table.h"
#include "fleet/managed/managed_check.h"
#include "fleet/managed/managed_target.h"
#include "handlers/answer.h"
#include "handlers/fleet/target_answer.h"

static const struct param params[] = {
    { "target", VALUE_TEXT, .required = true, .low = 1, .high = 63,
      .help = "Name from target_list." },
    { 0 },
};

static const struct field server_fields[] = {
    { "name", VALUE_TEXT, .foreign = true, .help = "Its name on the platform." },
    { "state", VALUE_TEXT,
      .help = "pending, starting, ready, stopping, stopped, failed or deleting." },
    { "place", VALUE_TEXT, .optional = true, .help = "Region or zone." },
    { "address", VALUE_TEXT, .optional = true, .foreign = true,
      .help = "Where it can be reached." },
    { "machine", VALUE_TEXT, .optional = true, .foreign = true, .help = "What it runs on." },
    { "ends_at", VALUE_TEXT, .optional = true, .help = "When the platform ends it, UTC." },
    { "whose", VALUE_TEXT,
      .help = "managed, orphan (made here, no longer known), other opsbrain, or foreign (no "
              "opsbrain made it)." },
    { 0 },
};

static const struct field fields[] = {
    { "servers", VALUE_LIST, .help = "In the platform's order.", .fields = server_fields },
    { "warnings", VALUE_TEXTS, .sparse = true, .help = "What could not be read." },
    FIELD_NEXT_STEP,
    { 0 },
};

struct discovery {
    const struct fleet_frame *frame;
    const struct fleet_target *target;
};

/* Returns true if `server` is the managed server that `row` describes, and not a different one with
 * the same name. A server that this opsbrain created has this opsbrain's label; an adopted server
 * without the label is recognized by its name and target. */
static bool is_managed(const struct discovery *discovery, const struct observed *server,
                       const struct fleet_managed_row *row)
{
    if (strcmp(server->instance, discovery->frame->instance) == 0)
        return managed_check_is_same(row, discovery->target->name, server);
    return strcmp(row->rights, "created") != 0 && strcmp(row->target, discovery->target->name) == 0;
}

/* Sets *whose to the value for the field `whose`, a static string. */
static CHECKED bool find_whose(const struct discovery *discovery, const struct observed *server,
                               const char **whose, struct error *error)
{
    const char *name = server->deployment[0] == '\0' ? server->name : server->deployment;
    const char *instance = discovery->frame->instance;
    struct fleet_managed_row row = { 0 };
    bool found, managed;

    if (!fleet_managed_find(discovery->frame->store, name, &row, &found, error))
        return false;
    managed = found && is_managed(discovery, server, &row);
    if (found)
        fleet_managed_finish(&row);
    *whose = managed                                   ? "managed"
             : strcmp(server->instance, instance) == 0 ? "orphan"
             : server->instance[0] != '\0'             ? "other opsbrain"
                                                       : "foreign";
    return true;
}

static json_t *server_json(const struct observed *server, const char *whose)
{
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:s}", "name",
                     answer_json_foreign(server->name, strlen(server->name), 128), "state",
                     server->state, "place", answer_json_text(server->place), "address",
                     answer_json_text(server->address), "machine",
                     answer_json_text(server->machine), "ends_at",
                     answer_json_time(server->ends_ms), "whose", whose);
}

static CHECKED bool write_servers(const struct discovery *discovery, const struct observed *list,
                                  size_t count, json_t *servers, struct text *out,
                                  struct error *error)
{
    struct table *table = table_create();
    bool done = true;

    table_column(table, "Name", false);
    table_column(table, "State", false);
    table_column(table, "Place", false);
    table_column(table, "Address", false);
    table_column(table, "Whose", false);
    for (size_t i = 0; done && i < count; i++) {
        const char *whose;

        done = find_whose(discovery, &list[i], &whose, error);
        if (!done)
            break;
        json_array_append_new(servers, server_json(&list[i], whose));
        table_cell(table, "%.60s", list[i].name);
        table_cell(table, "%s", list[i].state);
        table_cell(table, "%s", list[i].place[0] == '\0' ? "-" : list[i].place);
        table_cell(table, "%.60s", list[i].address[0] == '\0' ? "-" : list[i].address);
        table_cell(table, "%s", whose);
    }
    table_render(table, out);
    table_destroy(table);
    return done;
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    json_auto_t *servers = json_array(), *warnings = json_array();
    const struct fleet_frame *frame;
    struct managed_target target;
    struct observed *list = NULL;
    struct cloud *cloud;
    size_t count = 0;
    bool done;

    if (!target_answer_frame(call, &frame, error)
        || !managed_target_find(frame, call_text(call, "target"), &target, error)
        || !frame->cloud(frame->context, &target.plain, &cloud, error)
        || !target.provider->list(cloud, &target.plain, &list, &count, warnings, error))
        return false;
    const struct discovery discovery = { frame, &target.plain };
    done = write_servers(&discovery, list, count, servers, &answer->text, error);
    observed_list_free(list, count);
    if (!done)
        return false;
    if (count == 0)
        text_addf(&answer->text, "No model server was found on %s.\n", target.plain.name);
    answer->structured = json_pack("{s:O, s:O}", "servers", servers, "warnings", warnings);
    answer_next(answer, "deployment_adopt registers a server");
    return true;
}

const struct tool tool_deployment_discover = {
    .name = "deployment_discover",
    .title = "Discover model servers on a target",
    .help = "Lists the model servers on a target, whoever made them: managed here, orphaned, "
            "another opsbrain's, or foreign. It changes nothing.",
    .more = "deployment_adopt registers a server.",
    .sets = SET_DEPLOY,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WAITING,
    .read_only = true,
    .idempotent = true,
    .open_world = true,
    .run = run,
};
