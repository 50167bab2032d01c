/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the audit's findings as JSON, the users and lengths of a finding's cells as text, and the
 * list of applied rules as JSON and as text. */

#include <string.h>

#include "analysis/audit/audit_parts.h"

#define ROWS_SHOWN 200

/* ---- Which rules ---- */

size_t findings_count_applied(const struct findings *findings)
{
    size_t count = 0;

    for (size_t i = 0; audit_rules[i].name != NULL; i++)
        count += findings->uses[i] == RULE_APPLIED;
    return count;
}

/* Whether the rule lacks figures, and no earlier rule lacks the same ones. */
static bool is_first_need(const struct findings *findings, size_t rule)
{
    if (findings->uses[rule] != RULE_LACKS_FIGURES)
        return false;
    for (size_t i = 0; i < rule; i++)
        if (findings->uses[i] == RULE_LACKS_FIGURES
            && strcmp(audit_rules[i].needs, audit_rules[rule].needs) == 0)
            return false;
    return true;
}

/* Returns the names of the rules that lack the same figures as `rule`. If `rule` is NULL, returns
 * the names of the rules that were applied. */
static json_t *names_of(const struct findings *findings, const struct audit_rule *rule)
{
    json_t *names = json_array();

    for (size_t i = 0; audit_rules[i].name != NULL; i++)
        if (rule == NULL ? findings->uses[i] == RULE_APPLIED
                         : findings->uses[i] == RULE_LACKS_FIGURES
                               && strcmp(audit_rules[i].needs, rule->needs) == 0)
            json_array_append_new(names, json_string(audit_rules[i].name));
    return names;
}

json_t *findings_uses_json(const struct findings *findings)
{
    json_t *lacking = json_array();

    for (size_t i = 0; audit_rules[i].name != NULL; i++)
        if (is_first_need(findings, i))
            json_array_append_new(lacking, json_pack("{s:s, s:o}", "lacks", audit_rules[i].needs,
                                                     "rules", names_of(findings, &audit_rules[i])));
    return json_pack("{s:o, s:o}", "applied", names_of(findings, NULL), "not_applied", lacking);
}

static void add_names_take(json_t *names, struct text *out)
{
    size_t i;
    const json_t *name;

    json_array_foreach(names, i, name)
        text_addf(out, "%s%s", i > 0 ? ", " : "", json_string_value(name));
    json_decref(names);
}

void findings_write_uses(const struct findings *findings, struct text *out)
{
    text_addf(out, "Rules applied (%zu): ", findings_count_applied(findings));
    add_names_take(names_of(findings, NULL), out);
    text_add(out, ".\n");
    for (size_t i = 0; audit_rules[i].name != NULL; i++) {
        if (!is_first_need(findings, i))
            continue;
        text_addf(out, "Not applied for lack of %s: ", audit_rules[i].needs);
        add_names_take(names_of(findings, &audit_rules[i]), out);
        text_add(out, ".\n");
    }
}

/* ---- What was found ---- */

struct span {
    double low, high;
};

static void widen(struct span *span, double value)
{
    if (isnan(value))
        return;
    span->low = fmin(span->low, value);
    span->high = fmax(span->high, value);
}

static void write_span(struct text *out, const struct span *span, const char *what)
{
    if (span->high < span->low)
        return;
    text_addf(out, out->length > 0 ? ", " : "");
    if (span->high > span->low)
        text_addf(out, "%.15g-%.15g %s", span->low, span->high, what);
    else
        text_addf(out, "%.15g %s", span->low, what);
}

const char *finding_length_unit(const struct evidence *evidence)
{
    static const char *const units[LENGTH_UNITS] = { "tokens or words of context",
                                                     "tokens of context", "words of context" };

    return units[evidence->input_unit];
}

void finding_write_span(const struct evidence *evidence, const struct finding *finding,
                        struct text *out)
{
    struct span users = { INFINITY, -INFINITY }, lengths = users;
    TEXT_AUTO span = { 0 };

    for (size_t i = 0; i < finding->cell_count; i++) {
        widen(&users, audit_cell_users(&evidence->cells[finding->cells[i]]));
        widen(&lengths, evidence->cells[finding->cells[i]].input_length);
    }
    write_span(&span, &users, users.high == 1 ? "user" : "users");
    write_span(&span, &lengths, finding_length_unit(evidence));
    text_add(out, text_string(&span));
}

static json_t *rows_json(const struct evidence *evidence, const struct finding *finding)
{
    json_t *rows = json_array();

    for (size_t i = 0; i < finding->cell_count && i < ROWS_SHOWN; i++)
        json_array_append_new(rows, json_integer(evidence->cells[finding->cells[i]].row));
    return rows;
}

static json_t *finding_json(const struct evidence *evidence, const struct finding *finding)
{
    TEXT_AUTO span = { 0 };

    finding_write_span(evidence, finding, &span);
    return json_pack("{s:s, s:s, s:s, s:i, s:i, s:o, s:s, s:s, s:s}", "rule", finding->rule->name,
                     "title", finding->rule->title, "weight", finding_weight_name(finding->weight),
                     "mistake", finding->rule->mistake, "cell_count", (int)finding->cell_count,
                     "rows", rows_json(evidence, finding), "where", text_string(&span),
                     "arithmetic", text_string(&finding->arithmetic), "consequence",
                     text_string(&finding->consequence));
}

json_t *findings_json(const struct evidence *evidence, const struct findings *findings)
{
    json_t *list = json_array();

    for (size_t i = 0; i < findings->count; i++)
        json_array_append_new(list, finding_json(evidence, &findings->at[i]));
    return list;
}
