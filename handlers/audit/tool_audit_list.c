/* SPDX-License-Identifier: Apache-2.0 */
/* audit_list: who called what, and with what outcome. */

#include "base/core/clock.h"
#include "handlers/answer.h"
#include "handlers/audit/audit_answer.h"
#include "handlers/period.h"
#include "store/audit/audit_verify.h"

static const struct param params[] = {
    { "principal", VALUE_TEXT, .low = 1, .high = 63, .help = "Only calls by this principal." },
    { "tool", VALUE_TEXT, .low = 1, .high = 63, .help = "Only calls to this tool." },
    { "subject", VALUE_TEXT, .low = 1, .high = 128, .help = "Only rows about this name or id." },
    PARAMS_PERIOD,
    { "check", VALUE_BOOLEAN, .initial = "false",
      .help = "Check the whole log for tampering (admins)." },
    PARAM_LIMIT,
    PARAM_CURSOR,
    PARAM_DETAIL,
    { 0 },
};

static const struct field fields[] = {
    { "rows", VALUE_LIST, .help = "Newest first.", .fields = audit_row_fields },
    { "check", VALUE_TEXT, .optional = true,
      .help = "What the latest full check found; included with `check` or `detail`, or if it found "
              "a problem." },
    FIELD_NEXT_CURSOR,
    { 0 },
};

/* The check reads the whole audit log, which is expensive: only admins may request it. */
static CHECKED bool check(struct call *call, struct error *error)
{
    struct audit_verdict verdict;

    if (!call_boolean(call, "check", false))
        return true;
    if (!role_allows(call->principal.role, ROLE_ADMIN))
        return error_set(error, ERROR_FORBIDDEN,
                         "check needs the role admin; with any role, `detail` shows what the "
                         "latest check found");
    return audit_verify(call->services->store, NULL, NULL, &verdict, error);
}

static void add_check(const struct call *call, struct answer *answer)
{
    struct audit_verdict verdict;
    TEXT_AUTO words = { 0 };
    char at[CLOCK_TEXT_SIZE];

    if (!audit_last_verdict(call->services->store, &verdict)
        || (verdict.intact && !call_boolean(call, "check", false)
            && !call_boolean(call, "detail", false)))
        return;
    text_addf(&words, "%s: ", clock_format_utc(verdict.at_ms, at));
    audit_verdict_describe(&verdict, &words);
    text_addf(&answer->text, "Check at %s\n", text_string(&words));
    json_object_set_new(answer->structured, "check", json_string(text_string(&words)));
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct audit_filter filter = {
        .principal = call_text(call, "principal"),
        .tool = call_text(call, "tool"),
        .subject = call_text(call, "subject"),
    };
    struct period period;
    size_t limit = answer_page_limit(call), count, shown;
    struct audit_row *rows = NULL;
    json_t *list;

    if (!check(call, error) || !period_read(call, &period, error)
        || !answer_page_cursor(call, &filter.before_id, error))
        return false;
    filter.since_ms = period.since_ms;
    filter.until_ms = period.until_ms;
    if (!audit_log_list(call->services->store, &filter, limit + 1, &rows, &count, error))
        return false;
    shown = count > limit ? limit : count;
    list = json_array();
    for (size_t i = 0; i < shown; i++)
        json_array_append_new(list, audit_row_json(&rows[i]));
    answer->structured = json_pack("{s:o}", "rows", list);
    if (shown == 0)
        text_add(&answer->text, "No rows in the audit log match.\n");
    else
        audit_rows_text(rows, shown, &answer->text);
    add_check(call, answer);
    answer_page_end_at(answer, count > shown, shown == 0 ? 0 : rows[shown - 1].id);
    audit_log_rows_free(rows, count);
    return true;
}

const struct tool tool_audit_list = {
    .name = "audit_list",
    .title = "List who did what",
    .help = "Lists who did what, such as changes and refused or failed calls, newest first.",
    .more = "Each row says who called, with which client, and with what outcome; with `detail`, it "
            "also has the arguments, without credentials.",
    .sets = SET_AUDIT,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .counts_reads = true,
    .run = run,
};
