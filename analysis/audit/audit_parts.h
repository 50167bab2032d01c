/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules of the audit share. Private to analysis/. */
#pragma once

#include <math.h>

#include "analysis/audit/audit.h"

struct audit {
    const struct audit_input *input;
    const struct evidence *evidence;
    const struct hardware *hardware; /* NULL: not known */
    const struct model *model;       /* NULL: not known */
    double chips;
    const struct audit_rule *rule;
    struct findings *findings;
};

/* A new finding of the rule at work; valid until the next. */
struct finding *audit_find(struct audit *audit, enum finding_weight weight);
void audit_finding_add_cell(struct finding *finding, size_t cell);

/* The cells' indices for which it holds, into a new finding; NULL, and no finding, if for none. */
struct finding *audit_find_cells(struct audit *audit, enum finding_weight weight,
                                 bool (*holds)(const struct evidence_cell *cell));

/* NaN where the figures do not tell. */
double audit_cell_users(const struct evidence_cell *cell);      /* asked for */
double audit_cell_mean_ms(const struct evidence_cell *cell);    /* E2E */
double audit_cell_requests(const struct evidence_cell *cell);   /* attempted, told or computed */
double audit_cell_tokens_out(const struct evidence_cell *cell); /* output tokens per request */
/* Of one run, as far as the file tells runs apart: only such cells say anything of one another. */
bool audit_cells_same_run(const struct evidence_cell *a, const struct evidence_cell *b);
/* Asked for, or as it was seen where the file does not say what was asked for; both unknown: yes.
 */
bool audit_cells_same_length(const struct evidence_cell *a, const struct evidence_cell *b);
bool audit_cell_is_measured(const struct evidence_cell *cell);

/* Of each cell, which of the runs that were appended or repeated in one file it is of: 0 everywhere
 * where no cell is there twice. free(). */
size_t *audit_passes(const struct evidence *evidence);

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
