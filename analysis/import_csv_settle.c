/* What only all rows of a table together tell. */
#include <math.h>
#include <stddef.h>

#include "analysis/import_csv.h"
#include "analysis/import_members.h"

static double *share_at(const struct import_column *column, struct evidence_cell *cell)
{
    return (double *)(void *)((char *)cell + column->offset);
}

/* A share above 1 is percent, and then all of the column is. */
static void settle_percent(struct evidence *out, const struct import_column *column,
                           const char *heading)
{
    bool percent = false;

    for (size_t i = 0; i < out->cell_count; i++)
        percent |= *share_at(column, &out->cells[i]) > 1;
    if (!percent)
        return;
    evidence_remark(out, "\"%s\" has values above 1: read as percent", heading);
    for (size_t i = 0; i < out->cell_count; i++)
        *share_at(column, &out->cells[i]) /= 100;
}

static void settle_shares(const struct table *table)
{
    struct evidence *out = table->out;

    for (size_t i = 0; i < table->count; i++) {
        const struct import_column *column = &table->columns[i];

        if (column->kind != COLUMN_NUMBER || !table_is_share(column))
            continue;
        settle_percent(out, column, table->headings[i]);
        for (size_t c = 0; column->is_complement && c < out->cell_count; c++)
            *share_at(column, &out->cells[c]) = 1 - *share_at(column, &out->cells[c]);
    }
}

/* Of one user, requests per second times their seconds are one: whatever else a "throughput" may
 * count, it would not be. */
static bool is_request_throughput(const struct evidence *out)
{
    for (size_t i = 0; i < out->cell_count; i++) {
        const struct evidence_cell *cell = &out->cells[i];
        double little = cell->request_throughput * cell->latency[METRIC_E2E].mean_ms / 1000;

        if (cell->concurrency == 1 && little > 0)
            return little > 0.8 && little < 1.05;
    }
    return false;
}

static void settle_throughput(const struct table *table)
{
    struct evidence *out = table->out;

    for (size_t i = 0; i < table->count; i++) {
        if (!table->columns[i].is_throughput || table->columns[i].kind != COLUMN_NUMBER)
            continue;
        if (is_request_throughput(out)) {
            evidence_remark(out,
                            "the column \"%s\" has no unit: requests per second, since at 1 "
                            "user it is the inverse of the mean latency",
                            table->headings[i]);
            continue;
        }
        evidence_remark(out,
                        "the column \"%s\" has no unit, and nothing in the file tells it: kept "
                        "as text",
                        table->headings[i]);
        for (size_t c = 0; c < out->cell_count; c++)
            out->cells[c].request_throughput = NAN;
    }
}

static void settle_facts(const struct table *table)
{
    for (size_t i = 0; i < table->count; i++) {
        if (!table->fact_differs[i])
            continue;
        if (table->columns[i].kind == COLUMN_FACT_NUMBER)
            *(double *)(void *)((char *)&table->out->facts + table->columns[i].offset) = NAN;
        else
            *((char *)&table->out->facts + table->columns[i].offset) = '\0';
        evidence_remark(table->out,
                        "the rows differ in \"%s\": the file holds several runs, see each row",
                        table->headings[i]);
    }
}

/* Where a table tells no failures: what was asked for and did not succeed. */
static void settle_failures(struct evidence_cell *cell)
{
    if (isnan(cell->attempted) && isnan(cell->failed) && isnan(cell->success_rate)
        && cell->requests_asked >= cell->succeeded)
        cell->attempted = cell->requests_asked;
}

void table_settle(struct table *table)
{
    struct evidence *out = table->out;

    settle_shares(table);
    settle_throughput(table);
    settle_facts(table);
    for (size_t i = 0; i < out->cell_count; i++) {
        settle_failures(&out->cells[i]);
        import_settle(&out->cells[i]);
    }
    if (table->odd_rows > TABLE_REMARKS_MAX)
        evidence_remark(out, "%zu more rows or figures did not fit",
                        table->odd_rows - TABLE_REMARKS_MAX);
}
