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
void finding_add_cell(struct finding *finding, size_t cell);

/* The cells' indices for which it holds, into a new finding; NULL, and no finding, if for none. */
struct finding *audit_find_cells(struct audit *audit, enum finding_weight weight,
                                 bool (*holds)(const struct evidence_cell *cell));

/* NaN where the figures do not tell. */
double cell_users(const struct evidence_cell *cell);      /* asked for */
double cell_mean_ms(const struct evidence_cell *cell);    /* E2E */
double cell_requests(const struct evidence_cell *cell);   /* attempted, told or computed */
double cell_tokens_out(const struct evidence_cell *cell); /* output tokens per request */
/* Of one run, as far as the file tells runs apart: only such cells say anything of one another. */
bool cells_same_run(const struct evidence_cell *a, const struct evidence_cell *b);
/* Asked for, or as it was seen where the file does not say what was asked for; both unknown: yes.
 */
bool cells_same_length(const struct evidence_cell *a, const struct evidence_cell *b);
bool cell_is_measured(const struct evidence_cell *cell);

/* Of each cell, which of the runs that were appended or repeated in one file it is of: 0 everywhere
 * where no cell is there twice. free(). */
size_t *audit_passes(const struct evidence *evidence);

/* For sorting: ascending, NaN last. */
int audit_compare(double a, double b);

/* The rules, by file. */
void check_actual_load(struct audit *audit); /* audit_load.c */
void check_plateau(struct audit *audit);
void check_requests(struct audit *audit);
void check_burst(struct audit *audit);
void check_front_door(struct audit *audit);
void check_duplicates(struct audit *audit); /* audit_rows.c */
void check_copies(struct audit *audit);
void check_failed_speed(struct audit *audit); /* audit_failures.c */
void check_success(struct audit *audit);
void check_all_failed(struct audit *audit);
void check_misnamed(struct audit *audit);
void check_first_shape(struct audit *audit); /* audit_shape.c */
void check_monotone(struct audit *audit);
void check_cache(struct audit *audit);    /* audit_cache.c */
void check_censored(struct audit *audit); /* audit_latency.c */
void check_samples(struct audit *audit);
void check_order(struct audit *audit);
void check_one_token(struct audit *audit); /* audit_tokens.c */
void check_locked_tokens(struct audit *audit);
void check_unknown_output(struct audit *audit);
void check_estimated(struct audit *audit);
void check_recounted(struct audit *audit); /* audit_counts.c */
void check_lengths(struct audit *audit);
void check_client(struct audit *audit); /* audit_tokens.c */
void check_contaminated(struct audit *audit);
void check_uneven(struct audit *audit);
void check_rates(struct audit *audit);
void check_compute(struct audit *audit); /* audit_roofline.c */
void check_bandwidth(struct audit *audit);
