/* SPDX-License-Identifier: Apache-2.0 */
/* run_compare: compares two sides, each of one or more runs, to find out which side is faster. */

#include "handlers/answer.h"
#include "handlers/runs/compare_answer.h"
#include "handlers/runs/compare_request.h"

static const struct param params[] = {
    { "sweep", VALUE_TEXT, .low = 1, .high = 39, .help = "An A/B sweep, instead of the two sides.",
      .more = "Compares its candidate and baseline in the pairs of runs that took turns." },
    { "baseline", VALUE_TEXTS, .low = 1, .high = 16, .item_low = 1, .item_high = 39,
      .help = "Runs that repeat one another, or a sweep for all its runs.",
      .more = "Ids: run_..., imp_..., swp_..." },
    { "candidate", VALUE_TEXTS, .low = 1, .high = 16, .item_low = 1, .item_high = 39,
      .help = "The other side; ratios are candidate / baseline." },
    { "metric", VALUE_CHOICE, .choices = compare_metric_names, .initial = "\"output_throughput\"",
      .help = "What to compare.",
      .more = "icl: gaps between stream chunks (vLLM's ITL); itl: gaps between tokens." },
    { "factors", VALUE_TEXTS, .high = COMPARE_REQUEST_NAMES_MAX - 1, .item_low = 1, .item_high = 40,
      .help = "Facts the sides are meant to differ in, such as hardware.",
      .more = "Any other difference rules the comparison out. Without factors, an A/B sweep "
              "compares the deployments as they are." },
    { "accept_unknown", VALUE_TEXTS, .high = COMPARE_REQUEST_NAMES_MAX - 1, .item_low = 1,
      .item_high = 40, .help = "Facts allowed to be unknown.",
      .more = "Also success_rate (of cells)." },
    { "keep_wrong", VALUE_BOOLEAN, .initial = "false",
      .help = "Also compare what run_audit finds wrong." },
    { "detail", VALUE_BOOLEAN, .initial = "false", .help = "Also list every compared cell." },
    { 0 },
};

static void describe_pairs(const struct compare_request *request, struct answer *answer)
{
    static const char *const names[] = { "none", "some", "all" };
    static const char *const sentences[] = {
        "\nThe two sides were not measured alternately: drift between them counts as a "
        "difference.\n",
        "\nNot all runs of the two sides were measured alternately, so they are compared unpaired. "
        "To compare pairs, name the same repetitions of an A/B sweep on both sides, or give the "
        "sweep as \"sweep\".\n",
        "",
    };

    json_object_set_new(answer->structured, "pairing", json_string(names[request->pairing]));
    text_add(&answer->text, sentences[request->pairing]);
    if (request->sweep.id[0] == '\0')
        return;
    json_object_set_new(answer->structured, "pairs_left_out",
                        json_integer((json_int_t)request->pairs_left_out));
    if (request->pairs_left_out > 0)
        text_addf(&answer->text,
                  "\nSkipped repetitions (not finished on both deployments): %zu of %lld.\n",
                  request->pairs_left_out, (long long)request->sweep.repetitions);
}

/* If a side has several ids, the answer names no page: a URL with all of them would be too long. */
static void name_page(const struct call *call, const struct compare_request *request,
                      struct answer *answer)
{
    const json_t *baseline = json_object_get(call->arguments, "baseline");
    const json_t *candidate = json_object_get(call->arguments, "candidate");

    if (request->sweep.id[0] != '\0')
        answer_shows(answer, "/sweeps/%s", request->sweep.id);
    else if (json_array_size(baseline) == 1 && json_array_size(candidate) == 1)
        answer_shows(answer, "/compare?a=%s&b=%s", json_string_value(json_array_get(baseline, 0)),
                     json_string_value(json_array_get(candidate, 0)));
}

static CHECKED bool run(struct call *call, struct answer *answer, struct error *error)
{
    struct compare_request request;
    bool compared = compare_request_run(call, &request, error);

    if (compared) {
        answer->structured = compare_answer_json(&request.input, &request.comparison,
                                                 call_boolean(call, "detail", false));
        compare_answer_describe(&request.input, &request.comparison, &answer->text);
        describe_pairs(&request, answer);
        name_page(call, &request, answer);
    }
    compare_request_finish(&request);
    return compared;
}

const struct tool tool_run_compare = {
    .name = "run_compare",
    .title = "Compare runs",
    .help = "Is the candidate faster than the baseline? Answers faster, slower or no_evidence, "
            "with ratio and 95 % interval.",
    .more =
        "For an A/B sweep give `sweep`: its runs are compared in the pairs they were measured "
        "in. Otherwise each side has runs that repeat one another, own or imported. The run, "
        "not the request, is the unit; one run per side is never evidence. Sides that differ in "
        "more than the `factors` you name are not_comparable; the answer then lists the "
        "differences. Unknown facts count as different unless accepted by name. The answer covers "
        "all cells together, and each one. Cells that failed, that run_audit finds wrong or that "
        "one side lacks are skipped and listed.",
    .sets = SET_MEASURE,
    .params = params,
    .fields = compare_answer_fields,
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read_only = true,
    .idempotent = true,
    .run = run,
};
