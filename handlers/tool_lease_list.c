/* lease_list: who measures on which endpoint, and who waits in line. */

#include "base/memory.h"
#include "base/table.h"
#include "handlers/answer.h"
#include "store/jobs.h"

#define ROWS_SHOWN 40

static const struct param params[] = {
    { 0 },
};

static const struct field lease_fields[] = {
    { "endpoint", VALUE_TEXT, .help = "Host and port of the model server." },
    { "held", VALUE_BOOLEAN, .help = "True: measures now; false: waits in line." },
    { "job", VALUE_TEXT, .help = "Job that holds or waits." },
    { "principal", VALUE_TEXT, .help = "Who started that job." },
    { "purpose", VALUE_TEXT, .help = "What for." },
    { "asked_at", VALUE_TEXT, .optional = true, .help = "In line since, UTC." },
    { "granted_at", VALUE_TEXT, .optional = true, .help = "Held since, UTC; null: waits." },
    { "lease_until", VALUE_TEXT, .optional = true,
      .help = "Lost at this time, UTC, unless the holder renews it (it does every second)." },
    { 0 },
};

static const struct field fields[] = {
    { "leases", VALUE_LIST, .help = "Holders, and those who wait, in order of asking.",
      .fields = lease_fields },
    { 0 },
};

static json_t *lease_json(const struct endpoint_lease *lease)
{
    return json_pack("{s:s, s:b, s:s, s:s, s:s, s:o, s:o, s:o}", "endpoint", lease->endpoint,
                     "held", lease->granted_ms != 0, "job", lease->job_id, "principal",
                     lease->principal, "purpose", lease->purpose, "asked_at",
                     json_time(lease->asked_ms), "granted_at", json_time(lease->granted_ms),
                     "lease_until", json_time(lease->lease_until_ms));
}

static void write_table(const struct endpoint_lease *leases, size_t count, struct text *out)
{
    struct table *table = table_create();
    char time[TIME_SHOWN_SIZE];

    table_column(table, "Endpoint", false);
    table_column(table, "State", false);
    table_column(table, "Job", false);
    table_column(table, "By", false);
    table_column(table, "Purpose", false);
    table_column(table, "Since (UTC)", false);
    for (size_t i = 0; i < count && i < ROWS_SHOWN; i++) {
        const struct endpoint_lease *lease = &leases[i];
        bool held = lease->granted_ms != 0;

        table_cell(table, "%s", lease->endpoint);
        table_cell(table, "%s", held ? "held" : "waits");
        table_cell(table, "%s", lease->job_id);
        table_cell(table, "%s", lease->principal);
        table_cell(table, "%s", lease->purpose);
        table_cell(table, "%s", time_show(held ? lease->granted_ms : lease->asked_ms, time));
    }
    table_render(table, out);
    table_destroy(table);
    if (count > ROWS_SHOWN)
        text_addf(out, "... and %zu more\n", count - ROWS_SHOWN);
}

static bool run(struct call *call, struct answer *answer, struct error *error)
{
    FREE_AUTO struct endpoint_lease *leases = NULL;
    json_t *list;
    size_t count;

    if (!endpoint_list(call->services->store, &leases, &count, error))
        return false;
    list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, lease_json(&leases[i]));
    answer->structured = json_pack("{s:o}", "leases", list);
    if (count == 0)
        text_add(&answer->text, "Nobody measures on any endpoint now.\n");
    else
        write_table(leases, count, &answer->text);
    return true;
}

const struct tool tool_lease_list = {
    .name = "lease_list",
    .title = "List who measures where",
    .help = "Only one sweep measures on an endpoint at a time, the others wait in line. This lists "
            "who holds which endpoint and who waits: look here when a sweep stays queued.",
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_INLINE,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
