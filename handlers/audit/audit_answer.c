/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/audit/audit_answer.h"

#include <inttypes.h>
#include <string.h>

#include "base/formats/table.h"
#include "base/json/json.h"
#include "handlers/answer.h"
#include "handlers/answer_row.h"

#define DETAIL_BYTES_MAX 300

const struct field audit_row_fields[] = {
    { "id", VALUE_INTEGER, .included = INCLUDED_IN_DETAIL, .help = "Number of the row, ascending.",
      ROW_INTEGER(struct audit_row, id) },
    { "at", VALUE_TEXT, .help = "When, UTC.", ROW_TIME(struct audit_row, at_ms) },
    { "principal", VALUE_TEXT, .help = "Who.", ROW_TEXT(struct audit_row, principal) },
    { "role", VALUE_TEXT, .included = INCLUDED_IN_DETAIL, .help = "The principal's role.",
      ROW_TEXT(struct audit_row, role) },
    { "client", VALUE_TEXT, .optional = true, .help = "The client program.",
      ROW_TEXT_OR_NULL(struct audit_row, client) },
    { "tool", VALUE_TEXT, .help = "Tool or method.", ROW_TEXT(struct audit_row, tool) },
    { "arguments", VALUE_OBJECT, .included = INCLUDED_IN_DETAIL,
      .help = "The arguments, credentials omitted.", ROW_HEAP_JSON(struct audit_row, arguments) },
    { "phase", VALUE_TEXT, .included = INCLUDED_IN_DETAIL,
      .help = "outcome; or intent, if no outcome is known.", ROW_TEXT(struct audit_row, phase) },
    { "outcome", VALUE_TEXT, .optional = true,
      .help = "ok, or the kind of error; missing: the outcome is not known (yet).",
      ROW_TEXT_OR_NULL(struct audit_row, outcome) },
    { "times", VALUE_INTEGER, .help = "Number of calls that the row covers.",
      ROW_INTEGER(struct audit_row, times) },
    { "detail", VALUE_TEXT, .optional = true, .help = "The error message, or what changed.",
      ROW_HEAP_TEXT_OR_NULL(struct audit_row, detail) },
    { "subject", VALUE_TEXT, .optional = true, .help = "What the row is about.",
      ROW_HEAP_TEXT_OR_NULL(struct audit_row, subject) },
    { "changed", VALUE_OBJECT, .sparse = true, .help = "For each changed member: [before, after].",
      ROW_HEAP_JSON(struct audit_row, changed) },
    { "request_id", VALUE_TEXT, .included = INCLUDED_IN_DETAIL,
      .help = "Id of the request in the server's log.", ROW_TEXT(struct audit_row, request_id) },
    { 0 },
};

json_t *audit_row_json(const struct audit_row *row)
{
    return answer_row_take(audit_row_fields, row, NULL);
}

/* Adds `chips 2 -> 4, region "a" -> "b"`. */
static void add_changes(const char *changed, struct text *out)
{
    json_auto_t *members = answer_json_stored(changed);
    const char *name;
    json_t *pair;

    json_object_foreach(members, name, pair) {
        text_addf(out, "%s%s ", out->length > 0 ? ", " : "", name);
        json_add(out, json_array_get(pair, 0));
        text_add(out, " -> ");
        json_add(out, json_array_get(pair, 1));
    }
}

static void add_detail(struct table *table, const struct audit_row *row)
{
    TEXT_AUTO detail = { 0 };
    TEXT_AUTO shown = { 0 };

    text_add_bytes(&detail, row->detail, strcspn(row->detail, "\n"));
    add_changes(row->changed, &detail);
    text_add_printable(&shown, text_string(&detail), detail.length, DETAIL_BYTES_MAX);
    table_cell(table, "%s", text_string(&shown));
}

static void add_outcome(struct table *table, const struct audit_row *row)
{
    const char *outcome = row->outcome[0] != '\0' ? row->outcome : "not known";

    if (row->times == 1)
        table_cell(table, "%s", outcome);
    else
        table_cell(table, "%s x %" PRId64, outcome, row->times);
}

void audit_rows_text(const struct audit_row *rows, size_t count, struct text *out)
{
    static const char *const headings[] = { "At (UTC)", "Who",     "Client", "Tool",
                                            "Outcome",  "Subject", "Detail" };
    struct table *table = table_create();
    char time[TIME_SHOWN_SIZE];

    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++)
        table_column(table, headings[i], false);
    for (size_t i = 0; i < count; i++) {
        const struct audit_row *row = &rows[i];

        table_cell(table, "%s", answer_time(row->at_ms, time));
        table_cell(table, "%s", row->principal);
        table_cell(table, "%.30s", row->client);
        table_cell(table, "%s", row->tool);
        add_outcome(table, row);
        table_cell(table, "%.40s", row->subject);
        add_detail(table, row);
    }
    table_render(table, out);
    table_destroy(table);
}
