/* SPDX-License-Identifier: Apache-2.0 */
/* What the audit's rules share. Private to analysis/audit/. */
#pragma once

#include <math.h>

#include "analysis/audit/audit.h"

/* The maximum number of tokens that a chat template is assumed to add to a prompt. */
#define AUDIT_TEMPLATE_TOKENS 100
/* A measured length that differs from the requested one by at most this share counts as equal to
 * it. */
#define AUDIT_LENGTH_WITHIN 0.1

struct audit {
    const struct audit_input *input;
    const struct evidence *evidence;
    /* as in struct findings */
    const struct hardware *hardware;
    const struct model *model;
    double chips;                  /* NaN: not known */
    const struct audit_rule *rule; /* the rule that is being applied */
    struct findings *findings;
};

/* Adds a finding by the current rule. The pointer is valid until the next finding is added. */
struct finding *audit_add_finding(struct audit *audit, enum finding_weight weight);
void audit_finding_add_cell(struct finding *finding, size_t cell);
/* Adds the cell to *finding. If *finding is NULL, first creates it. */
void audit_report_cell(struct audit *audit, enum finding_weight weight, size_t cell,
                       struct finding **finding);
const struct evidence_cell *audit_first_cell(const struct audit *audit,
                                             const struct finding *finding);

/* Creates a finding with the cells for which `matches` is true; if there are none, returns NULL and
 * creates no finding. */
struct finding *audit_find_cells(struct audit *audit, enum finding_weight weight,
                                 bool (*matches)(const struct evidence_cell *cell));

/* Figures of a cell; NaN: not known. */
double audit_cell_users(const struct evidence_cell *cell);    /* as requested */
double audit_cell_mean_ms(const struct evidence_cell *cell);  /* end to end */
double audit_cell_requests(const struct evidence_cell *cell); /* attempted, else planned */
/* Output tokens per request: as measured, else as requested. */
double audit_cell_tokens_out(const struct evidence_cell *cell);
/* Whether both cells belong to one run, as far as the file distinguishes runs: only such cells can
 * be compared with each other. */
bool audit_cells_same_run(const struct evidence_cell *a, const struct evidence_cell *b);
/* Compares the requested input lengths. If neither cell has one, compares the measured lengths; an
 * unknown measured length equals any other. */
bool audit_cells_same_length(const struct evidence_cell *a, const struct evidence_cell *b);
/* True if the cell's state is EVIDENCE_MEASURED, or if its state is not known but it has a request
 * rate above 0. */
bool audit_cell_is_measured(const struct evidence_cell *cell);

/* One file can contain several runs of the same cells. Returns an array with the number of each
 * cell's run, counted from 0; all are 0 if no cell occurs twice. The caller frees the array. */
size_t *audit_passes(const struct evidence *evidence);

/* The ending of a plural: "" for 1, else "s". */
static inline const char *audit_plural(double count)
{
    return count == 1 ? "" : "s";
}

/* For sorting: ascending, NaN last. */
int audit_compare(double a, double b);

/* The rules, by file. */
void audit_check_actual_load(struct audit *audit); /* audit_load.c */
void audit_check_plateau(struct audit *audit);
void audit_check_requests(struct audit *audit);
void audit_check_burst(struct audit *audit);
void audit_check_front_door(struct audit *audit);
void audit_check_duplicates(struct audit *audit); /* audit_rows.c */
void audit_check_copies(struct audit *audit);
void audit_check_failed_speed(struct audit *audit); /* audit_failures.c */
void audit_check_success(struct audit *audit);
void audit_check_all_failed(struct audit *audit);
void audit_check_misnamed(struct audit *audit);
void audit_check_first_shape(struct audit *audit); /* audit_shape.c */
void audit_check_monotone(struct audit *audit);
void audit_check_cache(struct audit *audit);    /* audit_cache.c */
void audit_check_censored(struct audit *audit); /* audit_latency.c */
void audit_check_samples(struct audit *audit);
void audit_check_order(struct audit *audit);
void audit_check_one_token(struct audit *audit); /* audit_tokens.c */
void audit_check_locked_tokens(struct audit *audit);
void audit_check_unknown_output(struct audit *audit);
void audit_check_estimated(struct audit *audit);
void audit_check_recounted(struct audit *audit); /* audit_counts.c */
void audit_check_lengths(struct audit *audit);
void audit_check_client(struct audit *audit); /* audit_tokens.c */
void audit_check_contaminated(struct audit *audit);
void audit_check_uneven(struct audit *audit);
void audit_check_rates(struct audit *audit);
void audit_check_compute(struct audit *audit); /* audit_roofline.c */
void audit_check_bandwidth(struct audit *audit);
