/* SPDX-License-Identifier: Apache-2.0 */
/* A run for the tests of the audit's rules. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/audit/audit.h"

/* A made-up run; the audit finds nothing in its cells until a test changes them. */
struct trial {
    struct evidence evidence;
    struct findings findings;
    struct catalog *catalog;
    struct audit_input input;
    int next_other_calls; /* how often the test's `input.next_other` was called */
};

/* Adds a cell that was measured with `users` users. Each of them always has one request in flight,
 * and waits `mean_ms` for the answer. */
static inline struct evidence_cell *add(struct trial *trial, double users, double length,
                                        double mean_ms)
{
    struct evidence_cell *cell = evidence_add(&trial->evidence);

    cell->row = (int64_t)trial->evidence.cell_count + 1;
    cell->state = EVIDENCE_MEASURED;
    cell->concurrency = users;
    cell->input_length = length;
    cell->output_tokens_asked = cell->output_tokens_mean = 64;
    cell->attempted = cell->succeeded = 200 * users;
    cell->failed = 0;
    cell->success_rate = 1;
    cell->request_throughput = users * 1000 / mean_ms;
    cell->duration_s = cell->succeeded / cell->request_throughput;
    cell->output_throughput = 64 * cell->request_throughput;
    cell->latency[METRIC_E2E].mean_ms = mean_ms;
    cell->latency[METRIC_E2E].p50_ms = mean_ms;
    cell->latency[METRIC_E2E].p95_ms = 1.2 * mean_ms;
    return cell;
}

/* Makes cells with 1, 4 and 16 users and with inputs of 128 and 1024 tokens. More work always takes
 * longer. */
static inline int set_up(void **state)
{
    struct trial *trial = calloc(1, sizeof *trial);
    struct error error;

    if (!catalog_create(&trial->catalog, &error))
        fail_msg("%s", error.message);
    evidence_init(&trial->evidence);
    trial->evidence.imported = true;
    trial->evidence.input_unit = LENGTH_TOKENS;
    for (int users = 1; users <= 16; users *= 4)
        for (int length = 128; length <= 1024; length *= 8)
            add(trial, users, length, 300 + length / 10.0 + users * 5);
    trial->input = (struct audit_input){ .evidence = &trial->evidence,
                                         .catalog = trial->catalog,
                                         .chips = NAN };
    *state = trial;
    return 0;
}

static inline int tear_down(void **state)
{
    struct trial *trial = *state;

    findings_finish(&trial->findings);
    evidence_finish(&trial->evidence);
    catalog_destroy(trial->catalog);
    free(trial);
    return 0;
}

static inline void audit(struct trial *trial)
{
    findings_finish(&trial->findings);
    audit_run(&trial->input, &trial->findings);
}

/* Audits the run. Asserts that there is exactly one finding, which is from this rule, and returns
 * it. */
static inline const struct finding *only(struct trial *trial, const char *rule)
{
    audit(trial);
    for (size_t i = 0; i < trial->findings.count; i++)
        if (strcmp(trial->findings.at[i].rule->name, rule) != 0)
            fail_msg("unexpected finding from %s: %s", trial->findings.at[i].rule->name,
                     text_string(&trial->findings.at[i].arithmetic));
    assert_int_equal(trial->findings.count, 1);
    return trial->findings.at;
}

static inline void says(const struct text *text, const char *words)
{
    if (strstr(text_string(text), words) == NULL)
        fail_msg("\"%s\" does not contain \"%s\"", text_string(text), words);
}
