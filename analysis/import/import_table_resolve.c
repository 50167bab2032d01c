/* SPDX-License-Identifier: Apache-2.0 */
/* Settles what no single row of a table can show, only all rows together. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "analysis/import/import_figure.h"
#include "analysis/import/import_members.h"
#include "analysis/import/import_table.h"
#include "analysis/import/import_variant.h"

#define COMPARED_ROWS_MAX 1000 /* how many rows each row is compared with */

static double *share_at(const struct import_column *column, struct evidence_cell *cell)
{
    return (double *)(void *)((char *)cell + column->offset);
}

/* If any value is above 1, the whole column holds percentages. */
static void resolve_percent(struct evidence *out, const struct import_column *column,
                            const char *heading)
{
    bool percent = false;

    for (size_t i = 0; i < out->cell_count; i++)
        percent |= *share_at(column, &out->cells[i]) > 1;
    if (!percent)
        return;
    evidence_remark(out, "\"%s\" has values above 1: read as a percentage", heading);
    for (size_t i = 0; i < out->cell_count; i++)
        *share_at(column, &out->cells[i]) /= 100;
}

static void resolve_shares(const struct import_table *table)
{
    struct evidence *out = table->out;

    for (size_t i = 0; i < table->count; i++) {
        const struct import_column *column = &table->columns[i];

        if (column->kind != IMPORT_COLUMN_NUMBER || !import_table_is_share(column))
            continue;
        resolve_percent(out, column, table->headings[i]);
        for (size_t c = 0; column->is_complement && c < out->cell_count; c++)
            *share_at(column, &out->cells[c]) = 1 - *share_at(column, &out->cells[c]);
    }
}

/* Whether the throughput counts requests. With one user, requests per second times the mean
 * seconds per request is about 1 (Little's law); with tokens per second, it hardly ever is. */
static bool is_request_throughput(const struct evidence *out)
{
    for (size_t i = 0; i < out->cell_count; i++) {
        const struct evidence_cell *cell = &out->cells[i];
        double in_flight = cell->request_throughput * cell->latency[METRIC_E2E].mean_ms / 1000;

        if (cell->concurrency == 1 && in_flight > 0)
            return in_flight > 0.8 && in_flight < 1.05;
    }
    return false;
}

static void resolve_throughput(const struct import_table *table)
{
    struct evidence *out = table->out;

    for (size_t i = 0; i < table->count; i++) {
        if (!table->columns[i].is_bare_throughput || table->columns[i].kind != IMPORT_COLUMN_NUMBER)
            continue;
        if (is_request_throughput(out)) {
            evidence_remark(out,
                            "the column \"%s\" has no unit: read as requests per second, since at "
                            "1 user it is the inverse of the mean latency",
                            table->headings[i]);
            continue;
        }
        evidence_remark(out,
                        "the column \"%s\" has no unit, and nothing else in the file shows "
                        "what it counts: kept as text",
                        table->headings[i]);
        for (size_t c = 0; c < out->cell_count; c++)
            out->cells[c].request_throughput = NAN;
    }
}

static double requests_of(const struct evidence_cell *cell)
{
    if (!isnan(cell->requests_asked))
        return cell->requests_asked;
    return isnan(cell->attempted) ? cell->succeeded : cell->attempted;
}

/* What the other rows with the same input length as a given row show. */
struct same_lengths {
    bool any;            /* there is at least one such row */
    bool other_requests; /* such a row has a different number of requests */
    bool other_users;    /* such a row has a different number of users, and neither row's number of
                            requests is known */
};

static struct same_lengths find_same_lengths(const struct evidence *out,
                                             const struct evidence_cell *of)
{
    struct same_lengths found = { 0 };

    for (size_t i = 0; i < out->cell_count && i < COMPARED_ROWS_MAX; i++) {
        const struct evidence_cell *cell = &out->cells[i];

        if (cell == of || cell->input_length != of->input_length)
            continue;
        found.any = true;
        found.other_requests |= fabs(requests_of(cell) - requests_of(of)) >= 1;
        found.other_users |= cell->concurrency != of->concurrency && isnan(requests_of(cell))
                             && isnan(requests_of(of));
    }
    return found;
}

/* Whether the lengths certainly count the tokens of each request, not of all requests together.
 * They do if some row has fewer tokens than requests, or as many tokens as a row with a different
 * number of requests. If no numbers of requests are known, they do if every row has as many tokens
 * as a row with a different number of users. Otherwise, *all_recur says whether every length occurs
 * in several rows. */
static bool are_per_request(const struct evidence *out, bool *all_recur)
{
    bool other_users = true;

    *all_recur = true;
    for (size_t i = 0; i < out->cell_count; i++) {
        struct same_lengths same_lengths = find_same_lengths(out, &out->cells[i]);

        if (isnan(out->cells[i].input_length))
            continue;
        if (out->cells[i].input_length < requests_of(&out->cells[i]) || same_lengths.other_requests)
            return true;
        other_users &= same_lengths.other_users;
        *all_recur &= same_lengths.any;
    }
    return other_users;
}

/* Removes the lengths. If every length occurs in several rows, the lengths become variants:
 * whatever they count, rows with different lengths are different cells. */
static void drop_lengths(struct evidence *out, const char *heading, bool all_recur)
{
    for (size_t i = 0; i < out->cell_count; i++) {
        struct evidence_cell *cell = &out->cells[i];

        if (all_recur && !isnan(cell->input_length))
            snprintf(cell->variant, sizeof cell->variant, "%.40s=%.15g", heading,
                     cell->input_length);
        cell->input_length = NAN;
    }
}

static void resolve_lengths(const struct import_table *table)
{
    struct evidence *out = table->out;
    bool all_recur;

    for (size_t i = 0; i < table->count; i++) {
        if (!table->columns[i].may_be_total || table->columns[i].kind != IMPORT_COLUMN_NUMBER)
            continue;
        if (are_per_request(out, &all_recur)) {
            out->input_unit = LENGTH_TOKENS;
            evidence_remark(out,
                            "\"%s\" was read as the tokens of each request: as totals, "
                            "its values would contradict the other figures",
                            table->headings[i]);
            continue;
        }
        evidence_remark(out,
                        "\"%s\" may count the tokens of each request or of all requests together, "
                        "and nothing in the file shows which: kept as text",
                        table->headings[i]);
        drop_lengths(out, table->headings[i], all_recur);
    }
}

static void resolve_facts(const struct import_table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        if (!table->fact_differs[i])
            continue;
        if (table->columns[i].kind == IMPORT_COLUMN_FACT_NUMBER)
            *(double *)(void *)((char *)&table->out->facts + table->columns[i].offset) = NAN;
        else
            *((char *)&table->out->facts + table->columns[i].offset) = '\0';
        evidence_remark(
            table->out,
            "the rows differ in \"%s\": the file holds several runs, and each row keeps its "
            "own value",
            table->headings[i]);
    }
}

/* ---- Columns that are kept as text ---- */

static size_t count_values(const struct evidence *out, const char *heading)
{
    size_t count = 0;

    for (size_t i = 0; i < out->cell_count; i++) {
        const char *value = json_string_value(json_object_get(out->cells[i].original, heading));

        count += value != NULL && !import_figure_is_nothing(value);
    }
    return count;
}

static bool is_unknown(const struct import_table *table, size_t i)
{
    char name[HEADING_SIZE];

    import_column_normalize(table->headings[i], name);
    return table->columns[i].kind == IMPORT_COLUMN_UNKNOWN && !table->columns[i].is_ignored
           && name[0] != '\0' && !import_is_variant(name);
}

static void add_unknown(const struct import_table *table, size_t i, struct text *names)
{
    size_t count = is_unknown(table, i) ? count_values(table->out, table->headings[i]) : 0;

    if (count == 0)
        return;
    text_addf(names, "%s\"%s\"", names->length > 0 ? ", " : "", table->headings[i]);
    if (count < table->out->cell_count)
        text_addf(names, " (in %zu of %zu rows)", count, table->out->cell_count);
}

static void remark_unknown(const struct import_table *table)
{
    TEXT_AUTO names = { 0 };
    TEXT_AUTO unitless = { 0 };

    for (size_t i = 0; i < table->count; i++)
        add_unknown(table, i, table->columns[i].lacks_unit ? &unitless : &names);
    if (unitless.length > 0)
        evidence_remark(table->out,
                        "latencies whose names have no unit, kept as text: %s; say in \"columns\" "
                        "whether they are seconds or milliseconds, as in \"mean_ttft=mean_ttft_s\"",
                        text_string(&unitless));
    if (names.length > 0)
        evidence_remark(table->out, "columns not known here, kept as text: %s",
                        text_string(&names));
}

/* ---- The whole table ---- */

/* If a row has a number of successes, but no number of attempts or failures and no success rate,
 * all planned requests count as attempted: those that did not succeed count as failed. */
static void complete_failures(struct evidence_cell *cell)
{
    if (isnan(cell->attempted) && isnan(cell->failed) && isnan(cell->success_rate)
        && cell->requests_asked >= cell->succeeded)
        cell->attempted = cell->requests_asked;
}

void import_table_resolve(struct import_table *table)
{
    struct evidence *out = table->out;

    resolve_shares(table);
    resolve_throughput(table);
    resolve_lengths(table);
    resolve_facts(table);
    remark_unknown(table);
    for (size_t i = 0; i < out->cell_count; i++) {
        complete_failures(&out->cells[i]);
        import_complete_cell(&out->cells[i]);
    }
    if (table->misfits > IMPORT_TABLE_REMARKS_MAX)
        evidence_remark(out, "rows or figures that did not fit, besides those listed: %zu",
                        table->misfits - IMPORT_TABLE_REMARKS_MAX);
}
