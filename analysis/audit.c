#include "analysis/audit.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/audit_needs.h"
#include "base/memory.h"

#define ROWS_SHOWN 200
#define SEEN_WITHIN 0.05 /* lengths that were seen are the same workload within this share */

const struct audit_rule audit_rules[] = {
    { "duplicate_cells", "the same cell more than once in one file: runs that were appended", 5,
      check_duplicates, "users, rates or lengths of rows", has_places },
    { "identical_runs", "the same figures, to the digit, under another name", 5, check_copies,
      "other imports", has_others },
    { "failed_speed", "a speed, or a mean of zero, for a cell in which nothing succeeded", 5,
      check_failed_speed, "how many requests succeeded", has_outcomes, .of_imports = true },
    { "low_success", "figures over the few requests that succeeded", 8, check_success,
      "how many requests succeeded", has_outcomes },
    { "all_failed", "cells in which no request succeeded", 8, check_all_failed,
      "how many requests succeeded", has_outcomes, .of_imports = true },
    { "misnamed_failure", "requests longer than the context told as another failure", 7,
      check_misnamed, "how many requests succeeded", has_outcomes },
    { "actual_load", "fewer requests in flight than the cell's users (Little's law)", 4,
      check_actual_load, "users, rates and mean latencies", has_in_flight },
    { "load_plateau", "no more requests in flight, however many users", 4, check_plateau,
      "three numbers of users with rates and mean latencies", has_three_levels },
    { "request_cap", "fewer requests than users", 4, check_requests,
      "users and numbers of requests", has_requests },
    { "burst", "one burst of requests: no steady state", 3, check_burst,
      "users and numbers of requests", has_rounds },
    { "front_door", "more users than the deployment lets in at once", 6, check_front_door,
      "container_concurrency", has_door },
    { "first_shape", "a cold start (a compilation, an empty prefix cache) inside the figures", 9,
      check_first_shape, "mean latencies at two numbers of users", has_two_levels },
    { "non_monotone", "more work that took less time: noise of single measurements", 16,
      check_monotone, "mean latencies at two numbers of users", has_two_levels },
    { "censored_tail", "a timeout that cut the slow requests off", 10, check_censored,
      "how many requests succeeded", has_slowest },
    { "few_samples", "percentiles of fewer requests than they need", 16, check_samples,
      "percentiles and numbers of requests", has_percentiles, .of_imports = true },
    { "disorder", "latencies that contradict one another", 0, check_order,
      "two figures of a latency", has_order },
    { "one_token_output", "too few output tokens to tell of generation speed", 1, check_one_token,
      "output tokens", has_output },
    { "tokens_locked_to_context", "input tokens counted as generated", 11, check_locked_tokens,
      "token rates, request rates and contexts", has_tokens_of_context },
    { "unknown_output", "output tokens that nobody counted", 12, check_unknown_output,
      .of_imports = true },
    { "tokens_estimated", "tokens counted from chunks", 12, check_estimated,
      "marks of opsbrain's load generator", has_marks },
    { "length_mismatch", "prompts or answers of another length than asked for", 0, check_lengths,
      "token lengths, both asked for and seen", has_lengths, .of_imports = true },
    { "tokens_recounted", "tokens counted by another tokenizer than the server's", 12,
      check_recounted, "token counts of both the tool and the server", has_both_counts },
    { "prefix_cache", "prompts served from the prefix cache", 2, check_cache,
      "cached tokens, or latencies of long prompts at two numbers of users", has_cache },
    { "client_limited", "the load generator was the limit", 16, check_client,
      "marks of opsbrain's load generator", has_marks },
    { "contaminated", "the server worked for others meanwhile", 16, check_contaminated,
      "marks of opsbrain's load generator", has_marks },
    { "rates_disagree", "rates that are not what counts and durations give", 0, check_rates,
      "rates with the counts behind them", has_rates_twice, .of_imports = true },
    { "compute_roofline", "more arithmetic per second than the hardware has", 14, check_compute,
      "hardware and model", has_roof },
    { "bandwidth_roofline", "weights read faster than the memory can", 14, check_bandwidth,
      "hardware and model", has_roof },
    { 0 },
};

const char *finding_weight_name(enum finding_weight weight)
{
    return weight == FINDING_WRONG ? "wrong" : "caution";
}

void findings_finish(struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++) {
        free(findings->at[i].cells);
        text_finish(&findings->at[i].arithmetic);
        text_finish(&findings->at[i].consequence);
    }
    free(findings->at);
    *findings = (struct findings){ 0 };
}

struct finding *audit_find(struct audit *audit, enum finding_weight weight)
{
    struct findings *findings = audit->findings;

    findings->at = memory_resize(findings->at, findings->count + 1, sizeof *findings->at);
    findings->at[findings->count] = (struct finding){ .rule = audit->rule, .weight = weight };
    return &findings->at[findings->count++];
}

void finding_add_cell(struct finding *finding, size_t cell)
{
    finding->cells = memory_resize(finding->cells, finding->cell_count + 1, sizeof *finding->cells);
    finding->cells[finding->cell_count++] = cell;
}

struct finding *audit_find_cells(struct audit *audit, enum finding_weight weight,
                                 bool (*holds)(const struct evidence_cell *cell))
{
    struct finding *finding = NULL;

    for (size_t i = 0; i < audit->evidence->cell_count; i++) {
        if (!holds(&audit->evidence->cells[i]))
            continue;
        if (finding == NULL)
            finding = audit_find(audit, weight);
        finding_add_cell(finding, i);
    }
    return finding;
}

/* What the run says itself goes before what the caller says. */
static const char *told(const char *by_run, const char *by_caller)
{
    return by_run[0] != '\0' || by_caller == NULL ? by_run : by_caller;
}

static enum audit_use use_of(const struct audit *audit)
{
    const struct audit_rule *rule = audit->rule;

    if (rule->of_imports && !audit->evidence->imported)
        return RULE_NOT_MEANT;
    return rule->has == NULL || rule->has(audit) ? RULE_APPLIED : RULE_LACKS;
}

void audit_run(const struct audit_input *input, struct findings *out)
{
    const struct evidence_facts *facts = &input->evidence->facts;
    struct audit audit = { .input = input, .evidence = input->evidence, .findings = out };

    audit.chips = isnan(facts->chips) ? input->chips : facts->chips;
    if (input->catalog != NULL) {
        audit.hardware =
            catalog_find_hardware(input->catalog, told(facts->hardware, input->hardware));
        audit.model = catalog_find_model(input->catalog, told(facts->model, input->model));
    }
    out->hardware = audit.hardware;
    out->model = audit.model;
    for (audit.rule = audit_rules; audit.rule->name != NULL; audit.rule++) {
        enum audit_use use = use_of(&audit);

        out->uses[audit.rule - audit_rules] = use;
        if (use == RULE_APPLIED)
            audit.rule->check(&audit);
    }
}

void findings_mark(const struct findings *findings, struct evidence *evidence)
{
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->at[i];

        for (size_t j = 0; finding->weight == FINDING_WRONG && j < finding->cell_count; j++) {
            struct evidence_cell *cell = &evidence->cells[finding->cells[j]];

            if (cell->found_wrong == NULL)
                cell->found_wrong = finding->rule->name;
        }
    }
}

/* ---- Of a cell ---- */

bool cell_is_measured(const struct evidence_cell *cell)
{
    return cell->state == EVIDENCE_MEASURED
           || (cell->state == EVIDENCE_UNKNOWN && cell->request_throughput > 0);
}

int audit_compare(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

bool cells_same_run(const struct evidence_cell *a, const struct evidence_cell *b)
{
    return strcmp(a->variant, b->variant) == 0;
}

bool cells_same_length(const struct evidence_cell *a, const struct evidence_cell *b)
{
    double seen = a->input_tokens_mean, other = b->input_tokens_mean;

    if (!isnan(a->input_length) || !isnan(b->input_length))
        return fabs(a->input_length - b->input_length) < 0.5;
    return isnan(seen) || isnan(other) || fabs(seen - other) <= SEEN_WITHIN * fmax(seen, other);
}

double cell_users(const struct evidence_cell *cell)
{
    return cell->concurrency;
}

double cell_mean_ms(const struct evidence_cell *cell)
{
    return cell->latency[METRIC_E2E].mean_ms;
}

double cell_requests(const struct evidence_cell *cell)
{
    if (!isnan(cell->attempted))
        return cell->attempted;
    if (!isnan(cell->succeeded + cell->failed))
        return cell->succeeded + cell->failed;
    return cell->requests_asked;
}

double cell_tokens_out(const struct evidence_cell *cell)
{
    if (!isnan(cell->output_tokens_mean))
        return cell->output_tokens_mean;
    if (cell->succeeded > 0 && !isnan(cell->output_tokens))
        return cell->output_tokens / cell->succeeded;
    if (cell->request_throughput > 0 && !isnan(cell->output_throughput))
        return cell->output_throughput / cell->request_throughput;
    return cell->output_tokens_asked;
}

/* ---- Which rules ---- */

size_t findings_applied(const struct findings *findings)
{
    size_t count = 0;

    for (size_t i = 0; audit_rules[i].name != NULL; i++)
        count += findings->uses[i] == RULE_APPLIED;
    return count;
}

/* The first rule that lacks this. */
static bool is_first_need(const struct findings *findings, size_t rule)
{
    if (findings->uses[rule] != RULE_LACKS)
        return false;
    for (size_t i = 0; i < rule; i++)
        if (findings->uses[i] == RULE_LACKS
            && strcmp(audit_rules[i].needs, audit_rules[rule].needs) == 0)
            return false;
    return true;
}

/* Those that lack what `rule` does; NULL: those that were applied. */
static json_t *names_of(const struct findings *findings, const struct audit_rule *rule)
{
    json_t *names = json_array();

    for (size_t i = 0; audit_rules[i].name != NULL; i++)
        if (rule == NULL
                ? findings->uses[i] == RULE_APPLIED
                : findings->uses[i] == RULE_LACKS && strcmp(audit_rules[i].needs, rule->needs) == 0)
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

static void add_names(json_t *names, struct text *out)
{
    size_t i;
    const json_t *name;

    json_array_foreach(names, i, name)
        text_addf(out, "%s%s", i > 0 ? ", " : "", json_string_value(name));
    json_decref(names);
}

void findings_write_uses(const struct findings *findings, struct text *out)
{
    text_addf(out, "Rules applied (%zu): ", findings_applied(findings));
    add_names(names_of(findings, NULL), out);
    text_add(out, ".\n");
    for (size_t i = 0; audit_rules[i].name != NULL; i++) {
        if (!is_first_need(findings, i))
            continue;
        text_addf(out, "Not applied, for want of %s: ", audit_rules[i].needs);
        add_names(names_of(findings, &audit_rules[i]), out);
        text_add(out, ".\n");
    }
}

/* ---- Telling ---- */

void finding_write_rows(const struct evidence *evidence, const struct finding *finding,
                        struct text *out)
{
    text_add(out, evidence->imported ? "rows " : "cells ");
    for (size_t i = 0; i < finding->cell_count;) {
        int64_t first = evidence->cells[finding->cells[i]].row, last = first;
        const char *comma = i > 0 ? ", " : "";

        while (++i < finding->cell_count && evidence->cells[finding->cells[i]].row == last + 1)
            last++;
        if (last == first)
            text_addf(out, "%s%lld", comma, (long long)first);
        else
            text_addf(out, "%s%lld-%lld", comma, (long long)first, (long long)last);
    }
}

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

void finding_write_span(const struct evidence *evidence, const struct finding *finding,
                        struct text *out)
{
    static const char *const units[LENGTH_UNITS] = { "of context", "tokens of context",
                                                     "words of context" };
    struct span users = { INFINITY, -INFINITY }, lengths = users;
    TEXT_AUTO span = { 0 };

    for (size_t i = 0; i < finding->cell_count; i++) {
        widen(&users, cell_users(&evidence->cells[finding->cells[i]]));
        widen(&lengths, evidence->cells[finding->cells[i]].input_length);
    }
    write_span(&span, &users, "users");
    write_span(&span, &lengths, units[evidence->input_unit]);
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
