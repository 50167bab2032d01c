/* SPDX-License-Identifier: Apache-2.0 */
/* run_audit: looks for mistakes in a run's figures. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/audit/audit.h"
#include "handlers/answer.h"
#include "store/ledger/imports.h"

#define OTHERS_MAX 50 /* how many of the newest imports are searched for copies */

static const struct param params[] = {
    { "run", VALUE_TEXT, .required = true, .low = 1, .high = 39, .help = "Id: run_... or imp_..." },
    { "hardware", VALUE_TEXT, .low = 1, .high = 95,
      .help = "If the run does not say: L4, H100, tpu-v6e, ...",
      .more = "If hardware and model are known, the figures are compared with what the hardware "
              "can do." },
    { "model", VALUE_TEXT, .low = 1, .high = 159,
      .help = "If the run does not say: google/gemma-4-12B-it, 31B, ..." },
    { "chips", VALUE_INTEGER, .low = 1, .high = 100000,
      .help = "Accelerators, if the run does not say.", .more = "Default: 1." },
    { 0 },
};

static const struct field finding_fields[] = {
    { "rule", VALUE_TEXT, .help = "The rule's name." },
    { "title", VALUE_TEXT, .help = "What the rule looks for." },
    { "weight", VALUE_TEXT,
      .help = "wrong: a figure is not what its name says. caution: a figure says less than it "
              "seems to." },
    { "mistake", VALUE_INTEGER,
      .help = "The mistake's number in the list in docs/audit.md; 0: it is not listed." },
    { "cell_count", VALUE_INTEGER, .help = "Number of cells that the finding concerns." },
    { "rows", VALUE_INTEGERS,
      .help = "Rows of these cells in the file (in opsbrain's own runs: positions), at most 200." },
    { "where", VALUE_TEXT, .help = "The users and contexts that these cells span." },
    { "arithmetic", VALUE_TEXT, .help = "The figures that show the mistake." },
    { "consequence", VALUE_TEXT, .help = "What not to conclude." },
    { 0 },
};

static const struct field fields[] = {
    { "run", VALUE_TEXT, .help = "The run that was audited." },
    { "name", VALUE_TEXT, .help = "The file's name, or the sweep's id." },
    { "imported", VALUE_BOOLEAN, .sparse = true, .help = "True: another tool measured the run." },
    { "cells", VALUE_INTEGER, .help = "Cells in the run." },
    { "clean", VALUE_BOOLEAN, .help = "True: the rules that could be applied found nothing." },
    { "hardware", VALUE_TEXT, .optional = true,
      .help =
          "The hardware, from the catalogue, that the run was compared with; missing: not known." },
    { "model", VALUE_TEXT, .optional = true,
      .help =
          "The model, from the catalogue, that the run was compared with; missing: not known." },
    { "findings", VALUE_LIST, .help = "Findings, in the order of the rules.",
      .fields = finding_fields },
    { "applied", VALUE_TEXTS, .help = "Rules that could be applied to the run's figures." },
    { "not_applied", VALUE_LIST, .help = "Rules that lack something they need: {lacks, rules}." },
    { 0 },
};

/* The newest imports. They are read one at a time, because together they can exceed the memory. */
struct others {
    struct store *store;
    struct import_row *rows;
    size_t count, next;
    struct error problem; /* why an import could not be read; kind NONE: all could be read */
};

static bool next_other(void *context, struct evidence *out)
{
    struct others *others = context;

    if (others->next == others->count)
        return false;
    if (evidence_find(others->store, others->rows[others->next++].id, out, &others->problem))
        return true;
    evidence_finish(out);
    return false;
}

static void describe(const struct evidence *evidence, const struct findings *findings,
                     struct text *out)
{
    text_addf(out, "%s (%s): %zu cell%s, ", evidence->id, evidence->name, evidence->cell_count,
              evidence->cell_count == 1 ? "" : "s");
    if (findings->count == 0)
        text_addf(out, "the %zu rules that could be applied found nothing.\n",
                  findings_count_applied(findings));
    else
        text_addf(out, "%zu finding%s.\n", findings->count, findings->count == 1 ? "" : "s");
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->at[i];
        TEXT_AUTO span = { 0 };

        finding_write_span(evidence, finding, &span);
        text_addf(out, "\n%zu. %s (%s): %s\n", i + 1, finding->rule->name,
                  finding_weight_name(finding->weight), finding->rule->title);
        if (finding->cell_count > 0)
            text_addf(out, "   %zu of %zu cells: %s\n", finding->cell_count, evidence->cell_count,
                      text_string(&span));
        text_addf(out, "   %s.\n   %s\n", text_string(&finding->arithmetic),
                  text_string(&finding->consequence));
    }
    text_add_char(out, '\n');
    findings_write_uses(findings, out);
}

static void answer_findings(const struct evidence *evidence, const struct findings *findings,
                            struct answer *answer)
{
    answer->structured =
        json_pack("{s:s, s:s, s:b, s:i, s:b, s:s*, s:s*, s:o}", "run", evidence->id, "name",
                  evidence->name, "imported", evidence->imported, "cells",
                  (int)evidence->cell_count, "clean", findings->count == 0, "hardware",
                  findings->hardware == NULL ? NULL : findings->hardware->title, "model",
                  findings->model == NULL ? NULL : findings->model->name, "findings",
                  findings_json(evidence, findings));
    json_object_update_new(answer->structured, findings_uses_json(findings));
    describe(evidence, findings, &answer->text);
    answer_shows(answer, "/runs/%s", evidence->id);
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    EVIDENCE_AUTO evidence = { 0 };
    FINDINGS_AUTO findings = { 0 };
    struct others others = { .store = call->services->store };

    evidence_init(&evidence);
    if (!evidence_find(others.store, call_text(call, "run"), &evidence, error)
        || !import_list(others.store, NULL, 0, OTHERS_MAX, &others.rows, &others.count, error))
        return false;
    const struct audit_input input = {
        .evidence = &evidence,
        .next_other = next_other,
        .context = &others,
        .catalog = call->services->catalog,
        .hardware = call_text(call, "hardware"),
        .model = call_text(call, "model"),
        .chips = call_number(call, "chips", NAN),
    };
    audit_run(&input, &findings);
    import_rows_free(others.rows, others.count);
    if (others.problem.kind != ERROR_NONE)
        return error_set(error, others.problem.kind, "%s", others.problem.message);
    answer_findings(&evidence, &findings, answer);
    return true;
}

const struct tool tool_run_audit = {
    .name = "run_audit",
    .title = "Audit a run's figures",
    .help =
        "Looks for what is wrong with a run's figures. Call it before you quote or compare a run.",
    .more =
        "In own and imported runs: too few requests in flight, bursts, appended or copied runs, "
        "cut tails, cold starts, one-token outputs, prompt tokens counted as generated, cached "
        "prompts, more than the hardware can do. Each finding has its cells, arithmetic and what "
        "not to conclude; rules that cannot be applied are listed with what is missing.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
