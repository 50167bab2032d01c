/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the audit's findings for a part of the document: one entry for each rule that found
 * something, for all of the part's runs together. */
#include "analysis/document/document_parts.h"
#include "base/core/memory.h"

#define ARITHMETIC_BYTES 1200 /* a finding's arithmetic is truncated to this size */

/* One rule's findings in several runs. */
struct rule_findings {
    const struct finding *worst;     /* the first one with the greatest weight; NULL: none */
    const struct evidence *evidence; /* the run of `worst` */
    enum finding_weight weight;      /* of `worst` */
    size_t cells;                    /* how many cells of all runs the findings name */
    size_t runs;                     /* how many runs have such a finding */
};

/* Counts the finding's cells, except those already counted for this rule in this run. */
static void count_cells(const struct finding *finding, bool *is_counted, struct rule_findings *out)
{
    for (size_t i = 0; i < finding->cell_count; i++) {
        out->cells += !is_counted[finding->cells[i]];
        is_counted[finding->cells[i]] = true;
    }
}

static struct rule_findings gather_findings(const struct chart_runs *runs,
                                            const struct audit_rule *rule)
{
    struct rule_findings out = { 0 };

    for (size_t r = 0; r < runs->count; r++) {
        FREE_AUTO bool *is_counted = memory_zeroed(runs->runs[r].cell_count + 1, 1);
        bool has_any = false;

        for (size_t i = 0; i < runs->findings[r].count; i++) {
            const struct finding *finding = &runs->findings[r].at[i];

            if (finding->rule != rule)
                continue;
            if (finding->weight > out.weight) {
                out.worst = finding;
                out.evidence = &runs->runs[r];
                out.weight = finding->weight;
            }
            count_cells(finding, is_counted, &out);
            has_any = true;
        }
        out.runs += has_any;
    }
    return out;
}

static size_t count_rules(const struct chart_runs *runs, enum finding_weight weight)
{
    size_t count = 0;

    for (const struct audit_rule *rule = audit_rules; rule->name != NULL; rule++)
        count += gather_findings(runs, rule).weight == weight;
    return count;
}

/* Writes "132 of 156 cells, 1-2048 users: "; the ranges cover only the cells of the worst finding.
 * Writes nothing if the findings name no cells. */
static void add_place(const struct rule_findings *found, const struct chart_runs *runs,
                      struct text *out)
{
    TEXT_AUTO span = { 0 };
    size_t cells = 0;

    for (size_t r = 0; r < runs->count; r++)
        cells += runs->runs[r].cell_count;
    if (found->cells == 0)
        return;
    text_addf(out, "%zu of %zu cells", found->cells, cells);
    if (found->runs > 1)
        text_addf(out, " in %zu runs", found->runs);
    finding_write_span(found->evidence, found->worst, &span);
    text_addf(out, "%s%s: ", span.length > 0 ? ", " : "", text_string(&span));
}

static void write_finding(const struct rule_findings *found, const struct chart_runs *runs,
                          struct html *html)
{
    TEXT_AUTO line = { 0 };

    add_place(found, runs, &line);
    text_add_printable(&line, text_string(&found->worst->arithmetic),
                       found->worst->arithmetic.length, ARITHMETIC_BYTES);
    html_open(html, "li");
    html_element(html, "strong", found->worst->rule->title);
    html_textf(html, " (%s). %s. ", found->worst->rule->name, text_string(&line));
    html_element(html, "em", text_string(&found->worst->consequence));
    html_close(html, "li");
}

static void write_findings(const struct chart_runs *runs, enum finding_weight weight,
                           struct html *html)
{
    html_open(html, "ul");
    for (const struct audit_rule *rule = audit_rules; rule->name != NULL; rule++) {
        const struct rule_findings found = gather_findings(runs, rule);

        if (found.weight == weight)
            write_finding(&found, runs, html);
    }
    html_close(html, "ul");
}

static void write_banner(const struct chart_runs *runs, enum finding_weight weight,
                         struct html *html)
{
    size_t count = count_rules(runs, weight);
    const char *noun = count == 1 ? "finding" : "findings";

    if (count == 0)
        return;
    html_open(html, "section", { "class", weight == FINDING_WRONG ? "error" : "warning" });
    html_open(html, "h2");
    if (weight == FINDING_WRONG)
        html_textf(html, "Audit: %zu %s: figures that are not what their names say", count, noun);
    else
        html_textf(html, "Audit: %zu %s: figures that say less than they seem to", count, noun);
    html_close(html, "h2");
    write_findings(runs, weight, html);
    html_close(html, "section");
}

/* For each rule, its highest use (enum audit_use) in any of the runs. */
static struct findings gather_uses(const struct chart_runs *runs)
{
    struct findings out = { 0 };

    for (size_t r = 0; r < runs->count; r++)
        for (size_t i = 0; audit_rules[i].name != NULL; i++)
            if (runs->findings[r].uses[i] > out.uses[i])
                out.uses[i] = runs->findings[r].uses[i];
    return out;
}

static size_t count_lacking(const struct findings *findings)
{
    size_t count = 0;

    for (size_t i = 0; audit_rules[i].name != NULL; i++)
        count += findings->uses[i] == RULE_LACKS_FIGURES;
    return count;
}

static void write_uses(const struct findings *findings, struct html *html)
{
    TEXT_AUTO uses = { 0 };

    findings_write_uses(findings, &uses);
    html_open(html, "details");
    html_open(html, "summary");
    html_textf(html, "Audit rules applied: %zu; not applied for lack of figures: %zu",
               findings_count_applied(findings), count_lacking(findings));
    html_close(html, "summary");
    html_element(html, "p", text_string(&uses), { "class", "small" });
    html_close(html, "details");
}

void document_write_audit(const struct document_part *part, struct html *html)
{
    const struct chart_runs *runs = &part->runs;
    const struct findings uses = gather_uses(runs);

    write_banner(runs, FINDING_WRONG, html);
    write_banner(runs, FINDING_CAUTION, html);
    if (count_rules(runs, FINDING_WRONG) + count_rules(runs, FINDING_CAUTION) == 0) {
        html_open(html, "section", { "class", "note" });
        html_open(html, "h2");
        html_textf(html, "Audit: the %zu rules that could be applied found nothing",
                   findings_count_applied(&uses));
        html_close(html, "h2");
        html_close(html, "section");
    }
    write_uses(&uses, html);
}
