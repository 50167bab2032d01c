/* SPDX-License-Identifier: Apache-2.0 */
/* The audit finds mistakes in the figures of a run, measured here or imported: by arithmetic on the
 * figures, and by the texts and warnings beside them. It applies every rule of the table in audit.c
 * for which the run has what the rule needs; some rules are only for imports. */
#pragma once

#include <math.h>

#include "analysis/evidence/evidence.h"
#include "base/llm/catalog.h"

enum finding_weight {
    FINDING_CAUTION = 1, /* the figures are right, but mean less than they seem to */
    FINDING_WRONG,       /* a figure does not measure what its name says */
};
const char *finding_weight_name(enum finding_weight weight); /* "caution", "wrong" */

struct audit_rule;
struct audit;

/* Each value says that more could be done than the one before. */
enum audit_use {
    RULE_NOT_APPLICABLE, /* the rule is only for imports, and the run was measured here */
    RULE_LACKS_FIGURES,  /* something that the rule needs is missing (`needs` of its row) */
    RULE_APPLIED,
};

struct finding {
    const struct audit_rule *rule;
    enum finding_weight weight;
    size_t *cells;           /* indices of the affected cells in the evidence, ascending; heap */
    size_t cell_count;       /* 0: the finding is about the file as a whole */
    struct text arithmetic;  /* the figures that show the mistake */
    struct text consequence; /* which conclusions are not valid */
};

#define AUDIT_RULES_MAX 40

struct findings {
    struct finding *at; /* in the order of the rules */
    size_t count;
    enum audit_use uses[AUDIT_RULES_MAX]; /* one for each rule, in the order of audit_rules */
    /* The run's hardware and model, whose cells may name others; NULL: not known, not in the
     * catalogue, or no catalogue was passed. */
    const struct hardware *hardware;
    const struct model *model;
};
#define FINDINGS_AUTO __attribute__((cleanup(findings_finish))) struct findings
void findings_finish(struct findings *findings);

struct audit_rule {
    const char *name;  /* "actual_load" */
    const char *title; /* the mistake that it looks for, in words */
    int mistake;       /* its number in the list of mistakes in docs/audit.md; 0: none */
    void (*check)(struct audit *audit);
    const char *needs;                      /* what the rule needs, in words; NULL: nothing */
    bool (*has)(const struct audit *audit); /* whether that is there; NULL: always */
    /* The rule applies only to imports: runs measured here report the mistake themselves, or cannot
     * have it. */
    bool of_imports;
};
extern const struct audit_rule audit_rules[]; /* ends with a NULL name */

struct audit_input {
    const struct evidence *evidence;
    /* Iterates over the runs in which to look for copies; the audited run may be among them. Each
     * call puts one run into *out, which the audit finishes; it returns false after the last, or if
     * it cannot read the next. NULL: no copies are looked for. */
    bool (*next_other)(void *context, struct evidence *out);
    void *context;
    /* NULL: figures are not compared with what the hardware can do. */
    const struct catalog *catalog;
    /* Each is used if the run records none of its own; "", NULL or NaN: not known. */
    const char *hardware, *model;
    double chips;
};

/* *out must be zeroed before; free it with findings_finish(). */
void audit_run(const struct audit_input *input, struct findings *out);

/* Stores in `found_wrong` of each cell the name of the first rule that found the cell wrong, if one
 * did. */
void findings_mark(const struct findings *findings, struct evidence *evidence);

/* Writes the ranges that a finding's cells cover: "1-4 users, 128-2048 tokens of context". */
void finding_write_span(const struct evidence *evidence, const struct finding *finding,
                        struct text *out);
/* The unit of input lengths: "tokens of context", "words of context" or, if the file does not say,
 * "tokens or words of context". */
const char *finding_length_unit(const struct evidence *evidence);
size_t findings_count_applied(const struct findings *findings); /* the number of rules applied */
/* Writes which rules were applied, and which lacked something, with what it was. Rules that are not
 * applicable are left out, in the JSON as well. */
void findings_write_uses(const struct findings *findings, struct text *out);
/* {"applied": [rule], "not_applied": [{"lacks", "rules"}]}. New reference. */
json_t *findings_uses_json(const struct findings *findings);
/* A list of the findings. New reference. */
json_t *findings_json(const struct evidence *evidence, const struct findings *findings);
