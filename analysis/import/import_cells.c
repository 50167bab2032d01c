/* SPDX-License-Identifier: Apache-2.0 */
/* Adds cells for imported files and completes them with their state, figures that follow from
 * others, and what our own exports add. Lists figures for which a cell has no member. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/import/import_columns.h"
#include "analysis/import/import_members.h"
#include "analysis/import/import_variant.h"
#include "base/json/json.h"

bool import_cell(struct evidence *evidence, struct evidence_cell **out, struct error *error)
{
    *out = evidence_add(evidence);
    return *out != NULL
           || error_set(error, ERROR_INVALID,
                        "the file has more than %d rows: if each is a cell rather than a request, "
                        "import the file in parts",
                        EVIDENCE_CELLS_MAX);
}

/* A success rate outside 0 to 1 becomes unknown. If there are more successes than requests, neither
 * the failures nor the success rate is computed. The number of successes is computed from the
 * success rate only if the result is within 0.01 of an integer. */
static void complete_counts(struct evidence_cell *cell)
{
    double rounded = round(cell->attempted * cell->success_rate);

    if (!(cell->success_rate >= 0 && cell->success_rate <= 1))
        cell->success_rate = rounded = NAN;
    if (isnan(cell->attempted))
        cell->attempted = cell->succeeded + cell->failed;
    if (isnan(cell->succeeded) && fabs(cell->attempted * cell->success_rate - rounded) < 0.01)
        cell->succeeded = rounded;
    if (isnan(cell->failed) && cell->attempted >= cell->succeeded)
        cell->failed = cell->attempted - cell->succeeded;
    if (isnan(cell->success_rate) && cell->attempted > 0 && cell->succeeded <= cell->attempted)
        cell->success_rate = cell->succeeded / cell->attempted;
}

/* Some tools add up the tokens of all requests, others only those of successful ones, so a mean can
 * be computed only if every request succeeded. */
static void complete_means(struct evidence_cell *cell)
{
    if (!(cell->succeeded > 0) || cell->failed != 0)
        return;
    if (isnan(cell->input_tokens_mean))
        cell->input_tokens_mean = cell->input_tokens / cell->succeeded;
    if (isnan(cell->output_tokens_mean))
        cell->output_tokens_mean = cell->output_tokens / cell->succeeded;
}

static const struct word {
    const char *prefix;
    enum evidence_state state;
} words[] = {
    { "ok", EVIDENCE_MEASURED },       { "success", EVIDENCE_MEASURED },
    { "complete", EVIDENCE_MEASURED }, { "measured", EVIDENCE_MEASURED },
    { "pass", EVIDENCE_MEASURED },     { "done", EVIDENCE_MEASURED },
    { "fail", EVIDENCE_FAILED },       { "error", EVIDENCE_FAILED },
    { "timeout", EVIDENCE_FAILED },    { "timed", EVIDENCE_FAILED },
    { "oom", EVIDENCE_FAILED },        { "out of memory", EVIDENCE_FAILED },
    { "cuda", EVIDENCE_FAILED },       { "refused", EVIDENCE_FAILED },
    { "aborted", EVIDENCE_FAILED },    { "dnf", EVIDENCE_FAILED },
    { "crash", EVIDENCE_FAILED },      { "infeasible", EVIDENCE_INFEASIBLE },
    { "skip", EVIDENCE_SKIPPED },      { "not_", EVIDENCE_SKIPPED },
    { "not ", EVIDENCE_SKIPPED },      { "pending", EVIDENCE_SKIPPED },
};

enum evidence_state import_state_of(const char *status)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strncasecmp(status, words[i].prefix, strlen(words[i].prefix)) == 0)
            return words[i].state;
    return EVIDENCE_UNKNOWN;
}

bool import_has_speed(const struct evidence_cell *cell)
{
    if (cell->request_throughput > 0 || cell->output_throughput > 0)
        return true;
    for (int i = 0; i < METRIC_COUNT; i++)
        if (cell->latency[i].mean_ms > 0 || cell->latency[i].p50_ms > 0)
            return true;
    return false;
}

/* Tools write 0 if there was no value: as the TTFT of a cell without successes, for example, or as
 * the TPOT of answers with a single token. */
static void clear_zeros(struct evidence_latency *latency)
{
    const struct evidence_latency unknown = { NAN, NAN, NAN,   NAN,   NAN,   NAN,  NAN,
                                              NAN, NAN, false, false, false, false };
    const double figures[] = { latency->mean_ms, latency->p50_ms, latency->p90_ms, latency->p95_ms,
                               latency->p99_ms,  latency->max_ms, latency->min_ms };
    bool has_zero = false;

    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        if (figures[i] > 0)
            return;
        has_zero |= figures[i] == 0;
    }
    if (has_zero)
        *latency = unknown;
}

/* Reads the warnings in the form that our own exports write. */
static void read_marks(struct evidence_cell *cell)
{
    char marks[sizeof cell->marks];

    text_copy(marks, sizeof marks, cell->marks);
    cell->marks[0] = '\0';
    evidence_add_warnings(cell, marks);
}

void import_complete_cell(struct evidence_cell *cell)
{
    read_marks(cell);
    complete_counts(cell);
    complete_means(cell);
    for (int i = 0; i < METRIC_COUNT; i++)
        clear_zeros(&cell->latency[i]);
    if (cell->state == EVIDENCE_UNKNOWN)
        cell->state = import_state_of(cell->status);
    if (cell->state != EVIDENCE_UNKNOWN || cell->status[0] != '\0')
        return;
    if (cell->success_rate == 0)
        cell->state = EVIDENCE_FAILED;
    else if (cell->success_rate > 0 || import_has_speed(cell))
        cell->state = EVIDENCE_MEASURED;
}

/* ---- What our own exports add ---- */

void import_own_init(struct import_own *own)
{
    *own = (struct import_own){ .context = NAN };
}

void import_own_apply(const struct import_own *own, struct evidence_cell *cell,
                      struct evidence *out)
{
    if (own->format[0] != '\0')
        text_copy(out->facts.tool, sizeof out->facts.tool, own->tool);
    if (isnan(own->context))
        return;
    cell->input_length = own->context;
    out->input_unit = length_unit_find(own->context_unit);
}

bool import_is_own(const char *bytes, size_t length, const char *format)
{
    const char *value;
    size_t size;

    return import_find_member(bytes, length, "opsbrain_format", &value, &size)
           && size == strlen(format) + 2 && memcmp(value + 1, format, size - 2) == 0;
}

/* ---- Figures for which a cell has no member ---- */

#define NAMES_LISTED 16

/* Whether the value is a number, or a list or object that has a digit outside its strings. */
static bool has_figures(const char *text)
{
    bool is_quoted = false;
    char *end;

    if (text[0] != '{' && text[0] != '[') {
        strtod(text, &end);
        return strchr("+-.0123456789", text[0]) != NULL && end > text && *end == '\0';
    }
    for (; *text != '\0'; text++) {
        is_quoted ^= *text == '"';
        if (!is_quoted && isdigit((unsigned char)*text) != 0)
            return true;
    }
    return false;
}

static void count_figures(const json_t *original, json_t *counts)
{
    const char *name;
    json_t *value;

    json_object_foreach(json_iterable(original), name, value) {
        char normalized[HEADING_SIZE];

        import_column_normalize(name, normalized);
        if (has_figures(json_string_value(value)) && !import_is_variant(normalized))
            json_object_set_new(counts, name, json_integer(json_get_integer(counts, name, 0) + 1));
    }
}

void import_list_unknown(struct evidence *evidence)
{
    json_auto_t *counts = json_object();
    TEXT_AUTO names = { 0 };
    size_t listed = 0;
    const char *name;
    json_t *count;

    for (size_t i = 0; i < evidence->cell_count; i++)
        count_figures(evidence->cells[i].original, counts);
    json_object_foreach(counts, name, count) {
        if (listed++ >= NAMES_LISTED)
            continue;
        text_addf(&names, "%s\"%.60s\"", names.length > 0 ? ", " : "", name);
        if ((size_t)json_integer_value(count) < evidence->cell_count)
            text_addf(&names, " (in %lld of %zu cells)", (long long)json_integer_value(count),
                      evidence->cell_count);
    }
    if (listed > NAMES_LISTED)
        text_addf(&names, " and %zu more", listed - NAMES_LISTED);
    if (listed > 0)
        evidence_remark(evidence, "figures not known here, kept as text: %s", text_string(&names));
}
