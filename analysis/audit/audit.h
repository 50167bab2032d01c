/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a run's figures, found by arithmetic on the figures themselves: every rule of
 * the table in audit.c that the data allows, on our own runs and on imported ones. */
#pragma once

#include <math.h>

#include "analysis/evidence/evidence.h"
#include "base/llm/catalog.h"

enum finding_weight {
    FINDING_CAUTION, /* the figures are right, but say less than they seem to */
    FINDING_WRONG,   /* a figure is not what its name says */
};
const char *finding_weight_name(enum finding_weight weight); /* "caution", "wrong" */

struct audit_rule;
struct audit;

enum audit_use {
    RULE_NOT_MEANT, /* for runs of this kind */
    RULE_LACKS,     /* what it needs */
    RULE_APPLIED,
};

struct finding {
    const struct audit_rule *rule;
    enum finding_weight weight;
    size_t *cells; /* indices into the evidence's cells, ascending; heap */
    size_t cell_count;
    struct text arithmetic;  /* the figures behind it */
    struct text consequence; /* what not to conclude */
};

#define AUDIT_RULES_MAX 40

struct findings {
    struct finding *at; /* in the order of the rules */
    size_t count;
    enum audit_use uses[AUDIT_RULES_MAX]; /* of each rule, in their order */
    const struct hardware *hardware;      /* what the run was held against; NULL: not known */
    const struct model *model;
};
#define FINDINGS_AUTO __attribute__((cleanup(findings_finish))) struct findings
void findings_finish(struct findings *findings);

struct audit_rule {
    const char *name;  /* "actual_load" */
    const char *title; /* what it looks for, for people */
    int mistake;       /* of the list of measuring mistakes in docs/audit.md; 0: none */
    void (*check)(struct audit *audit);
    const char *needs; /* figures without which it cannot be applied, for people; NULL: none */
    bool (*has)(const struct audit *audit); /* are they there? NULL: always */
    bool of_imports;                        /* our own runs say so themselves, or cannot have it */
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

/* Notes at each cell by which rule a figure of it is wrong, if one is (`found_wrong`). */
void findings_mark(const struct findings *findings, struct evidence *evidence);

/* "rows 2, 5-9": where a finding's cells stand in their file; for our own runs "cells ...". */
void finding_write_rows(const struct evidence *evidence, const struct finding *finding,
                        struct text *out);
/* "1-4 users, 128-2048 tokens": the ranges its cells span. */
void finding_write_span(const struct evidence *evidence, const struct finding *finding,
                        struct text *out);
size_t findings_applied(const struct findings *findings); /* how many rules were */
/* "Not applied for want of how many requests succeeded: low_success, all_failed." and so on, and
 * which were applied. */
void findings_write_uses(const struct findings *findings, struct text *out);
/* New references. {"applied": [rule], "not_applied": [{"lacks", "rules"}]} */
json_t *findings_uses_json(const struct findings *findings);
json_t *findings_json(const struct evidence *evidence, const struct findings *findings);
