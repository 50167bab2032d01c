/* audit_list: who called what, and what came of it. */

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/table.h"
#include "handlers/answer.h"
#include "store/audit.h"

static const struct param params[] = {
    { "principal", VALUE_TEXT, .low = 1, .high = 63, .help = "Only calls of this one." },
    { "tool", VALUE_TEXT, .low = 1, .high = 63, .help = "Only calls of this tool." },
    { "subject", VALUE_TEXT, .low = 1, .high = 128,
      .help = "Only what changed this: a deployment's name, a sweep's or a job's id." },
    { "since_h", VALUE_NUMBER, .low = 0, .high = 87600, .initial = "0",
      .help = "Only the last so many hours; 0: all that is kept." },
    PARAM_LIMIT,
    PARAM_CURSOR,
    { 0 },
};

static const struct field row_fields[] = {
    { "id", VALUE_INTEGER, .help = "Number of the row, ascending in time." },
    { "at", VALUE_TEXT, .help = "When, UTC." },
    { "principal", VALUE_TEXT, .help = "Who." },
    { "role", VALUE_TEXT, .help = "With which role." },
    { "client", VALUE_TEXT, .optional = true, .help = "With which client program." },
    { "tool", VALUE_TEXT, .help = "Called what." },
    { "arguments", VALUE_OBJECT, .help = "With which arguments, credentials left out." },
    { "phase", VALUE_TEXT, .help = "intent: before effects outside; outcome: what came of it." },
    { "outcome", VALUE_TEXT, .optional = true, .help = "ok, or the kind of the error." },
    { "detail", VALUE_TEXT, .optional = true, .help = "The error's sentence, or what changed." },
    { "subject", VALUE_TEXT, .optional = true, .help = "What it changed." },
    { "request_id", VALUE_TEXT, .help = "Finds the request in the server's log." },
    { 0 },
};

static const struct field fields[] = {
    { "rows", VALUE_LIST, .help = "Newest first.", .fields = row_fields },
    FIELD_NEXT_CURSOR,
    { 0 },
};

static json_t *row_json(const struct audit_row *row)
{
    return json_pack("{s:I, s:o, s:s, s:s, s:o, s:s, s:o, s:s, s:o, s:o, s:o, s:s}", "id",
                     (json_int_t)row->id, "at", json_time(row->at_ms), "principal", row->principal,
                     "role", row->role, "client", json_text_or_null(row->client), "tool", row->tool,
                     "arguments", json_stored(row->arguments), "phase", row->phase, "outcome",
                     json_text_or_null(row->outcome), "detail", json_text_or_null(row->detail),
                     "subject", json_text_or_null(row->subject), "request_id", row->request_id);
}

static void write_table(const struct audit_row *rows, size_t count, struct text *out)
{
    struct table *table = table_create();
    char time[TIME_SHOWN_SIZE];

    table_column(table, "At (UTC)", false);
    table_column(table, "Who", false);
    table_column(table, "Tool", false);
    table_column(table, "Outcome", false);
    table_column(table, "Subject", false);
    table_column(table, "Detail", false);
    for (size_t i = 0; i < count; i++) {
        const struct audit_row *row = &rows[i];
        TEXT_AUTO detail = { 0 };

        text_add_printable(&detail, row->detail, strcspn(row->detail, "\n"), 60);
        table_cell(table, "%s", time_show(row->at_ms, time));
        table_cell(table, "%s", row->principal);
        table_cell(table, "%s", row->tool);
        table_cell(table, "%s", row->outcome[0] != '\0' ? row->outcome : row->phase);
        table_cell(table, "%.40s", row->subject);
        table_cell(table, "%s", text_string(&detail));
    }
    table_render(table, out);
    table_destroy(table);
}

static bool run(struct call *call, struct answer *answer, struct error *error)
{
    double since_h = call_number(call, "since_h", 0);
    struct audit_filter filter = {
        .principal = call_text(call, "principal"),
        .tool = call_text(call, "tool"),
        .subject = call_text(call, "subject"),
        .since_ms = since_h > 0 ? clock_utc_ms() - (int64_t)(since_h * 3.6e6) : 0,
    };
    size_t limit = page_limit(call), count, shown;
    struct audit_row *rows = NULL;
    json_t *list;

    if (!page_cursor(call, &filter.before_id, error)
        || !audit_list(call->services->store, &filter, limit + 1, &rows, &count, error))
        return false;
    shown = count > limit ? limit : count;
    list = json_array();
    for (size_t i = 0; i < shown; i++)
        json_array_append_new(list, row_json(&rows[i]));
    answer->structured = json_pack("{s:o}", "rows", list);
    if (shown == 0)
        text_add(&answer->text, "No such row in the audit.\n");
    else
        write_table(rows, shown, &answer->text);
    page_end_at(answer, count > shown, shown == 0 ? 0 : rows[shown - 1].id);
    audit_rows_free(rows, count);
    return true;
}

const struct tool tool_audit_list = {
    .name = "audit_list",
    .title = "List who did what",
    .help = "The audit, newest first: every change and every refused or failed call, with who, "
            "which client, which arguments (credentials left out) and what came of it. Filter by "
            "principal, tool or what was changed.",
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_INLINE,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
