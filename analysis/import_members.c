#include "analysis/import_members.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define UNKNOWN_MEMBERS_MAX 64
#define UNKNOWN_TEXT_SIZE 240

#define STATISTIC(name, member, scale) MEMBER_NUMBER_AT(name, evidence_latency, member, scale)
#define STATISTICS(scale)                                                                          \
    STATISTIC("count", count, 1), STATISTIC("mean", mean_ms, scale),                               \
        STATISTIC("avg", mean_ms, scale), STATISTIC("average", mean_ms, scale),                    \
        STATISTIC("std", deviation_ms, scale), STATISTIC("stddev", deviation_ms, scale),           \
        STATISTIC("std_dev", deviation_ms, scale), STATISTIC("min", min_ms, scale),                \
        STATISTIC("median", p50_ms, scale), STATISTIC("p50", p50_ms, scale),                       \
        STATISTIC("p90", p90_ms, scale), STATISTIC("p95", p95_ms, scale),                          \
        STATISTIC("p99", p99_ms, scale), STATISTIC("max", max_ms, scale)

const struct import_member latency_ms_members[] = {
    STATISTICS(1),
    MEMBER_INSIDE("percentiles", 0, latency_ms_members),
    { 0 },
};

const struct import_member latency_s_members[] = {
    STATISTICS(1000),
    MEMBER_INSIDE("percentiles", 0, latency_s_members),
    { 0 },
};

/* ---- Values ---- */

static bool opens(enum json_scan_token token)
{
    return token == JSON_SCAN_OBJECT || token == JSON_SCAN_ARRAY;
}

bool import_skip(struct json_scan *scan, enum json_scan_token token)
{
    size_t open = opens(token);

    while (open > 0) {
        enum json_scan_token next = json_scan_next(scan);

        if (next == JSON_SCAN_FAILED)
            return false;
        if (opens(next))
            open++;
        else if (next == JSON_SCAN_OBJECT_END || next == JSON_SCAN_ARRAY_END)
            open--;
    }
    return token != JSON_SCAN_FAILED;
}

void import_scan_init(struct json_scan *scan, const char *bytes, size_t length)
{
    json_scan_init(scan, bytes, length);
    scan->takes_nan = true;
}

static void copy_text(const struct json_scan *scan, char *out, size_t size)
{
    char whole[4096];

    if (json_scan_copy(scan, whole, sizeof whole))
        text_copy(out, size, whole);
}

/* Nothing that is measured is below zero. */
static void take_number(double value, double *out)
{
    if (value >= 0 && isfinite(value))
        *out = value;
}

/* A number that was written as text, "4.0", as options given on a command line are kept. */
static void take_number_text(const struct json_scan *scan, double scale, double *out)
{
    char text[64], *end;
    double value;

    if (!json_scan_copy(scan, text, sizeof text) || text[0] == '\0'
        || strspn(text, "0123456789+-.eE") != strlen(text))
        return;
    value = strtod(text, &end);
    if (*end == '\0')
        take_number(value * scale, out);
}

/* The value of `row`, whose first token is read. */
static bool take(struct json_scan *scan, const struct import_member *row, void *base,
                 enum json_scan_token token)
{
    char *at = (char *)base + row->offset;

    if (row->kind == MEMBER_NUMBER && token == JSON_SCAN_NUMBER)
        take_number(json_scan_number(scan) * row->scale, (double *)(void *)at);
    else if (row->kind == MEMBER_NUMBER && token == JSON_SCAN_STRING)
        take_number_text(scan, row->scale, (double *)(void *)at);
    else if (row->kind == MEMBER_TEXT && token == JSON_SCAN_STRING)
        copy_text(scan, at, row->size);
    else
        return import_skip(scan, token);
    return true;
}

static void keep_unknown(const struct json_scan *scan, const char *key, enum json_scan_token token,
                         json_t *unknown)
{
    char text[UNKNOWN_TEXT_SIZE] = "";

    if (unknown == NULL || opens(token) || token == JSON_SCAN_NULL || token == JSON_SCAN_FAILED
        || json_object_size(unknown) >= UNKNOWN_MEMBERS_MAX)
        return;
    if (token == JSON_SCAN_STRING)
        copy_text(scan, text, sizeof text);
    else if (scan->length < sizeof text)
        memcpy(text, scan->text, scan->length);
    json_object_set_new(unknown, key, json_string(text));
}

static const struct import_member *find(const struct import_member *members,
                                        const struct json_scan *scan)
{
    while (members->name != NULL && !json_scan_is(scan, members->name))
        members++;
    return members;
}

static bool read_member(struct json_scan *scan, const struct import_member *members, void *base,
                        json_t *unknown)
{
    const struct import_member *row = find(members, scan);
    char key[128];
    enum json_scan_token token;

    if (row->name != NULL && row->kind == MEMBER_READ)
        return row->read(scan, base);
    if (row->name != NULL && row->kind == MEMBER_OBJECT)
        return import_object(scan, row->members, (char *)base + row->offset, NULL);
    json_scan_copy(scan, key, sizeof key);
    token = json_scan_next(scan);
    if (row->name != NULL)
        return take(scan, row, base, token);
    keep_unknown(scan, key, token, unknown);
    return import_skip(scan, token);
}

bool import_object(struct json_scan *scan, const struct import_member *members, void *base,
                   json_t *unknown)
{
    enum json_scan_token token = json_scan_next(scan);

    if (token != JSON_SCAN_OBJECT)
        return import_skip(scan, token);
    while ((token = json_scan_next(scan)) == JSON_SCAN_KEY)
        if (!read_member(scan, members, base, unknown))
            return false;
    return token == JSON_SCAN_OBJECT_END;
}

bool import_array(struct json_scan *scan, bool (*each)(struct json_scan *scan, void *context),
                  void *context)
{
    struct json_scan ahead;
    enum json_scan_token token = json_scan_next(scan);

    if (token != JSON_SCAN_ARRAY)
        return import_skip(scan, token);
    for (;;) {
        ahead = *scan;
        token = json_scan_next(&ahead);
        if (token == JSON_SCAN_ARRAY_END || token == JSON_SCAN_FAILED)
            break;
        if (!each(scan, context))
            return false;
    }
    *scan = ahead;
    return token == JSON_SCAN_ARRAY_END;
}

/* ---- Cells ---- */

bool import_cell(struct evidence *evidence, struct evidence_cell **out, struct error *error)
{
    *out = evidence_add(evidence);
    return *out != NULL
           || error_set(error, ERROR_INVALID,
                        "the file has more than %d rows: these are requests rather than cells; "
                        "import it in parts",
                        EVIDENCE_CELLS_MAX);
}

/* More successes than requests: the file contradicts itself, and tells no rate. */
static void settle_counts(struct evidence_cell *cell)
{
    double whole = round(cell->attempted * cell->success_rate);

    if (!(cell->success_rate >= 0 && cell->success_rate <= 1))
        cell->success_rate = whole = NAN;
    if (isnan(cell->attempted))
        cell->attempted = cell->succeeded + cell->failed;
    if (isnan(cell->succeeded) && fabs(cell->attempted * cell->success_rate - whole) < 0.01)
        cell->succeeded = whole;
    if (isnan(cell->failed) && cell->attempted >= cell->succeeded)
        cell->failed = cell->attempted - cell->succeeded;
    if (isnan(cell->success_rate) && cell->attempted > 0 && cell->succeeded <= cell->attempted)
        cell->success_rate = cell->succeeded / cell->attempted;
}

/* Tools differ in whose tokens they add up: a mean follows only where every request succeeded. */
static void settle_means(struct evidence_cell *cell)
{
    if (!(cell->succeeded > 0) || cell->failed != 0)
        return;
    if (isnan(cell->input_tokens_mean))
        cell->input_tokens_mean = cell->input_tokens / cell->succeeded;
    if (isnan(cell->output_tokens_mean))
        cell->output_tokens_mean = cell->output_tokens / cell->succeeded;
}

static const struct word {
    const char *begins;
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
        if (strncasecmp(status, words[i].begins, strlen(words[i].begins)) == 0)
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

void import_settle(struct evidence_cell *cell)
{
    settle_counts(cell);
    settle_means(cell);
    if (cell->state == EVIDENCE_UNKNOWN)
        cell->state = import_state_of(cell->status);
    if (cell->state != EVIDENCE_UNKNOWN || cell->status[0] != '\0')
        return;
    if (cell->success_rate == 0)
        cell->state = EVIDENCE_FAILED;
    else if (cell->success_rate > 0 || import_has_speed(cell))
        cell->state = EVIDENCE_MEASURED;
}
