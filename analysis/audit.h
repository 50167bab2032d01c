/* What is wrong with a run's figures, found by arithmetic on the figures themselves: every rule of
 * the table in audit.c that the data allows, on our own runs and on imported ones. */
#pragma once

#include <math.h>

#include "analysis/evidence.h"
#include "base/catalog.h"

enum finding_weight {
    FINDING_CAUTION, /* the figures are right, but say less than they seem to */
    FINDING_WRONG,   /* a figure is not what its name says */
};
const char *finding_weight_name(enum finding_weight weight); /* "caution", "wrong" */

struct audit_rule;
struct audit;

struct finding {
    const struct audit_rule *rule;
    enum finding_weight weight;
    size_t *cells; /* indices into the evidence's cells, ascending; heap */
    size_t cell_count;
    struct text arithmetic;  /* the figures behind it */
    struct text consequence; /* what not to conclude */
};

struct findings {
    struct finding *at; /* in the order of the rules */
    size_t count;
    const struct hardware *hardware; /* what the run was held against; NULL: not known */
    const struct model *model;
};
#define FINDINGS_AUTO __attribute__((cleanup(findings_finish))) struct findings
void findings_finish(struct findings *findings);

struct audit_rule {
    const char *name;  /* "littles_law" */
    const char *title; /* what it looks for, for people */
    int mistake;       /* of the README's list of measuring mistakes; 0: none of them */
    void (*check)(struct audit *audit);
};
extern const struct audit_rule audit_rules[]; /* ends with a NULL name */

struct audit_input {
    const struct evidence *evidence;
    /* Other runs, to look for copies in: one at a time into *out, which the audit finishes; false:
     * there is none left. NULL: none. */
    bool (*next_other)(void *context, struct evidence *out);
    void *context;
    const struct catalog *catalog; /* NULL: no comparison with what hardware can do */
    /* What the run was measured on where it does not say itself; "" or NULL: not known. */
    const char *hardware, *model;
    double chips; /* the same; NaN */
};

/* *out: zero before; findings_finish() frees it. */
void audit_run(const struct audit_input *input, struct findings *out);

/* "rows 2, 5-9": where a finding's cells stand in their file; for our own runs "cells ...". */
void finding_write_rows(const struct evidence *evidence, const struct finding *finding,
                        struct text *out);
/* "1-4 users, 128-2048 tokens": the ranges its cells span. */
void finding_write_span(const struct evidence *evidence, const struct finding *finding,
                        struct text *out);
/* New references. At most `rows_max` cells are listed per finding. */
json_t *findings_json(const struct evidence *evidence, const struct findings *findings);
