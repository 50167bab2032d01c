/* SPDX-License-Identifier: Apache-2.0 */
/* The audit finds mistakes in the figures of a run, whether it was measured here or imported. It
 * checks the figures by arithmetic, and reads the texts and warnings that come with them. It
 * applies each rule in the table in audit.c if the run has what the rule needs; some rules are only
 * for imports. */
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

/* In ascending order: for each rule, a document about several runs shows the greatest of the runs'
 * values. */
enum audit_use {
    RULE_NOT_APPLICABLE, /* the rule is only for imports, and the run was measured here */
    RULE_LACKS_FIGURES,  /* the run lacks something that the rule needs (see its `needs`) */
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
    /* The hardware and model as the run records them, else as the caller states them; single cells
     * can name others. NULL: not known, not in the catalogue, or no catalogue was passed. */
    const struct hardware *hardware;
    const struct model *model;
};
#define FINDINGS_AUTO __attribute__((cleanup(findings_finish))) struct findings
void findings_finish(struct findings *findings);

struct audit_rule {
    const char *name;  /* "actual_load" */
    const char *title; /* the mistake that the rule looks for, in words */
    int mistake;       /* the mistake's number in docs/audit.md; 0: it has none */
    void (*check)(struct audit *audit);
    const char *needs;                      /* what the rule needs, in words; NULL: nothing */
    bool (*has)(const struct audit *audit); /* whether the run has what is needed; NULL: always */
    /* The rule applies only to imports: runs measured here report the mistake themselves, or cannot
     * have it. */
    bool of_imports;
};
extern const struct audit_rule audit_rules[]; /* ends with a NULL name */

struct audit_input {
    const struct evidence *evidence;
    /* Iterates over the runs among which to look for copies; they can include the audited run. Each
     * call puts the next run into *out, and the audit then frees it with evidence_finish(). Returns
     * false after the last run, or if the next one cannot be read. NULL: the audit does not look
     * for copies. */
    bool (*next_other)(void *context, struct evidence *out);
    void *context;
    /* NULL: figures are not compared with what the hardware can do. */
    const struct catalog *catalog;
    /* Facts that are used only where the run does not record them. hardware, model: "" or NULL if
     * not known; chips: NaN if not known. */
    const char *hardware, *model;
    double chips;
};

/* *out must be zeroed before the call; free it with findings_finish(). */
void audit_run(const struct audit_input *input, struct findings *out);

/* Sets each cell's `found_wrong` to the name of the first rule that found the cell wrong, if any
 * did. */
void findings_mark(const struct findings *findings, struct evidence *evidence);

/* Writes the ranges that a finding's cells cover: "1-4 users, 128-2048 tokens of context". */
void finding_write_span(const struct evidence *evidence, const struct finding *finding,
                        struct text *out);
/* The unit of input lengths: "tokens of context", "words of context" or, if the file does not say,
 * "tokens or words of context". */
const char *finding_length_unit(const struct evidence *evidence);
size_t findings_count_applied(const struct findings *findings); /* the number of rules applied */
/* Writes which rules were applied, which could not be, and what the run lacks for those. Omits
 * rules that are not applicable, as does findings_uses_json(). */
void findings_write_uses(const struct findings *findings, struct text *out);
/* {"applied": [rule], "not_applied": [{"lacks", "rules"}]}. New reference. */
json_t *findings_uses_json(const struct findings *findings);
/* Returns a list of the findings. New reference. */
json_t *findings_json(const struct evidence *evidence, const struct findings *findings);
