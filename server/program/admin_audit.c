/* SPDX-License-Identifier: Apache-2.0 */
#include "server/program/admin_audit.h"

#include "base/core/log.h"
#include "base/json/json.h"
#include "fleet/secret_access.h"
#include "handlers/audit/audit_answer.h"
#include "handlers/call.h"
#include "server/program/command_line.h"
#include "store/audit/audit_export.h"
#include "store/audit/audit_verify.h"

#define ROWS_LIMIT 1000

/* Counts this read in the audit log. However often a command is given, a running server writes at
 * most one row about it each minute. */
static void count_read(const struct access *access, const json_t *request, const char *what)
{
    const struct change change = { .actor = COMMAND_LINE(request), .tool = what };
    const struct audit_event event = { AUDIT_READ, &change, "ok", "", "" };
    struct error problem;

    if (!audit_log_count(access->store, &event, &problem))
        log_warning("a read of the audit log was not counted in it: %s", problem.message);
}

static json_t *rows_reply(const struct audit_row *rows, size_t count)
{
    json_t *list = json_array();
    struct answer answer = { .structured = json_pack("{s:o}", "rows", list) };

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, audit_row_json(&rows[i]));
    answer_condense(tool_find("audit_list"), true, &answer);
    return answer.structured;
}

static json_t *text_reply(const struct audit_row *rows, size_t count)
{
    TEXT_AUTO text = { 0 };

    audit_rows_text(rows, count, &text);
    return json_pack("{s:s}", "text", text_string(&text));
}

bool admin_audit_list(const struct access *access, const json_t *request, json_t **reply,
                      struct error *error)
{
    const struct audit_filter filter = {
        .principal = json_get_text(request, "principal", NULL),
        .tool = json_get_text(request, "tool", NULL),
        .subject = json_get_text(request, "subject", NULL),
        .before_id = json_get_integer(request, "before_id", 0),
    };
    int64_t limit = json_get_integer(request, "limit", 20);
    struct audit_row *rows = NULL;
    size_t count;

    if (limit < 1 || limit > ROWS_LIMIT)
        return error_set(error, ERROR_INVALID, "limit is %lld, but must be 1 to %d",
                         (long long)limit, ROWS_LIMIT);
    if (!audit_log_list(access->store, &filter, (size_t)limit, &rows, &count, error))
        return false;
    *reply = json_get_boolean(request, "as_rows", false) ? rows_reply(rows, count)
                                                         : text_reply(rows, count);
    audit_log_rows_free(rows, count);
    count_read(access, request, "audit-log list");
    return true;
}

bool admin_audit_verify(const struct access *access, const json_t *request, json_t **reply,
                        struct error *error)
{
    const char *text = json_get_text(request, "mark", "");
    struct audit_verdict verdict;
    struct audit_mark mark = { 0 };
    TEXT_AUTO words = { 0 };

    if (text[0] != '\0' && !audit_mark_read(text, &mark))
        return error_set(error, ERROR_INVALID,
                         "digest is \"%.80s\", but must be a row's number, a colon and 64 "
                         "hexadecimal digits, as in the server's log",
                         text);
    if (!audit_verify(access->store, mark.id > 0 ? &mark : NULL, NULL, &verdict, error))
        return false;
    count_read(access, request, "audit-log verify");
    audit_verdict_describe(&verdict, &words);
    *reply = json_pack("{s:b, s:s}", "whole", verdict.intact, "found", text_string(&words));
    return true;
}

bool admin_audit_export(const struct access *access, const json_t *request, json_t **reply,
                        struct error *error)
{
    struct audit_mark newest;
    json_t *rows;

    if (!audit_newest(access->store, &newest, error)
        || !audit_export(access->store, json_get_integer(request, "after_id", 0), &rows, error))
        return false;
    count_read(access, request, "audit-log export");
    *reply = json_pack("{s:o, s:{s:I, s:s}}", "rows", rows, "newest", "id", (json_int_t)newest.id,
                       "digest", newest.digest);
    return true;
}
