/* SPDX-License-Identifier: Apache-2.0 */
/* lease_list: lists who is measuring on which endpoint, and who is waiting in line. A lease is a
 * job's hold on an endpoint, or its place in line for it. */

#include "base/core/memory.h"
#include "base/formats/table.h"
#include "handlers/answer.h"
#include "handlers/answer_row.h"
#include "handlers/period.h"
#include "store/ledger/jobs.h"

static const struct param params[] = {
    PARAMS_PERIOD, /* in which the endpoint was granted or, if the job waits, the job was created */
    { "limit", VALUE_INTEGER, .low = 1, .high = 500, .initial = "20",
      .help = "Waiting jobs per endpoint." },
    { 0 },
};

static const struct field lease_fields[] = {
    { "endpoint", VALUE_TEXT, .help = "Host and port.", ROW_TEXT(struct endpoint_lease, endpoint) },
    { "held", VALUE_BOOLEAN, .help = "True: the job holds the endpoint; false: it is waiting." },
    { "place", VALUE_INTEGER, .optional = true,
      .help = "Place in line, from 1; missing: it holds the endpoint." },
    { "job", VALUE_TEXT, .help = "Its job.", ROW_TEXT(struct endpoint_lease, job_id) },
    { "principal", VALUE_TEXT, .help = "Who started it.",
      ROW_TEXT(struct endpoint_lease, principal) },
    { "purpose", VALUE_TEXT, .help = "What the job works on, such as its sweep.",
      ROW_TEXT(struct endpoint_lease, purpose) },
    { "asked_at", VALUE_TEXT, .optional = true, .help = "When the job was created, UTC.",
      ROW_TIME(struct endpoint_lease, asked_ms) },
    { "granted_at", VALUE_TEXT, .optional = true,
      .help = "Since when it has held the endpoint, UTC; missing: it is waiting.",
      ROW_TIME(struct endpoint_lease, granted_ms) },
    { 0 },
};

static const struct field fields[] = {
    { "leases", VALUE_LIST, .help = "Grouped by endpoint: its holder, then the queue.",
      .fields = lease_fields },
    { "unlisted", VALUE_INTEGER, .help = "How many more are waiting." },
    { 0 },
};

static json_t *lease_json(const struct endpoint_lease *lease)
{
    return answer_row_take(
        lease_fields, lease,
        json_pack("{s:b, s:o}", "held", lease->place == 0, "place",
                  lease->place == 0 ? json_null() : json_integer((json_int_t)lease->place)));
}

static struct table *begin_table(void)
{
    struct table *table = table_create();

    table_column(table, "Endpoint", false);
    table_column(table, "Place", false);
    table_column(table, "Job", false);
    table_column(table, "By", false);
    table_column(table, "Purpose", false);
    table_column(table, "Since (UTC)", false);
    return table;
}

static void add_row(struct table *table, const struct endpoint_lease *lease)
{
    bool held = lease->place == 0;
    char time[TIME_SHOWN_SIZE];

    table_cell(table, "%s", lease->endpoint);
    if (held)
        table_cell(table, "holds");
    else
        table_cell(table, "waits, %zu", lease->place);
    table_cell(table, "%s", lease->job_id);
    table_cell(table, "%s", lease->principal);
    table_cell(table, "%s", lease->purpose);
    table_cell(table, "%s", answer_time(held ? lease->granted_ms : lease->asked_ms, time));
}

/* Keeps only the leases within the period, and returns how many there are. */
static size_t keep(const struct period *period, struct endpoint_lease *leases, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        bool held = leases[i].place == 0;

        if (period_contains(period, held ? leases[i].granted_ms : leases[i].asked_ms))
            leases[kept++] = leases[i];
    }
    return kept;
}

static void write_answer(const struct endpoint_lease *leases, size_t count, size_t limit,
                         struct answer *answer)
{
    struct table *table = begin_table();
    json_t *list = json_array();
    size_t unlisted = 0;

    for (size_t i = 0; i < count; i++) {
        if (leases[i].place > limit) {
            unlisted++;
            continue;
        }
        json_array_append_new(list, lease_json(&leases[i]));
        add_row(table, &leases[i]);
    }
    answer->structured = json_pack("{s:o, s:I}", "leases", list, "unlisted", (json_int_t)unlisted);
    if (count == 0)
        text_add(&answer->text, "No lease matches.\n");
    else
        table_render(table, &answer->text);
    if (unlisted > 0)
        text_addf(&answer->text, "... and %zu more %s waiting\n", unlisted,
                  unlisted == 1 ? "is" : "are");
    table_destroy(table);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    FREE_AUTO struct endpoint_lease *leases = NULL;
    struct period period;
    size_t count;

    if (!period_read(call, &period, error)
        || !endpoint_lease_list(call->services->store, &leases, &count, error))
        return false;
    count = keep(&period, leases, count);
    write_answer(leases, count, (size_t)call_integer(call, "limit", 0), answer);
    return true;
}

const struct tool tool_lease_list = {
    .name = "lease_list",
    .title = "List who measures where",
    .help =
        "Lists who measures on which server and who waits in line. Explains why a sweep is queued.",
    .more = "Only one sweep measures on an endpoint at a time.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
