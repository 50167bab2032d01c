/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain://guide: explains how to use the product, as the tables of tools, resources and prompts
 * describe it. */

#include <string.h>

#include "handlers/prompt.h"
#include "handlers/resource.h"

static const struct {
    const char *term, *meaning;
} terms[] = {
    { "deployment", "A model server under a registered name. Every change makes a new revision; "
                    "runs point to the revision that they measured." },
    { "sweep", "A benchmark: a grid of loads (users or requests per second) and contexts (prompt "
               "lengths), with repetitions." },
    { "A/B sweep", "A sweep over two deployments, a baseline and a candidate, that take turns cell "
                   "by cell, so that drift affects both alike." },
    { "run", "One repetition of a sweep's grid, under one fingerprint; or another tool's results, "
             "imported from a file. A finished run is never changed: a correction is a new run "
             "that points to it." },
    { "cell", "One point of the grid: a load, a prompt length and an answer length." },
    { "fingerprint", "Digest of what was measured: model, engine, hardware, limits, workload. Runs "
                     "with the same fingerprint are comparable." },
    { "concurrency", "Number of simultaneous users: each sends its next request once its previous "
                     "one has ended." },
    { "TTFT", "Time to first token: from sending the request to the first output of any channel "
              "(content, reasoning, tool call)." },
    { "TTFO", "Time to first visible output, if reasoning came before it." },
    { "ITL", "Gap between two tokens of an answer: the gap before a stream chunk, divided by the "
             "number of tokens in the chunk." },
    { "ICL", "Gap between two stream chunks of an answer; other tools often call it ITL." },
    { "TPOT", "Mean time per output token after the first, over a whole request." },
    { "E2E", "Time of a whole request, from sending it to its last token." },
    { "throughput", "Output tokens (or requests) per second for all users together." },
    { "goodput", "Requests per second that met the plan's latency limits." },
    { "saturation", "The smallest load that reaches 95 % of the server's highest output tokens/s: "
                    "beyond it, adding users mostly lengthens the wait." },
    { "limits", "Limits on latencies and errors (`limit_ttft_ms` and others in sweep_plan); for "
                "each context, a report shows the largest load that stays within them." },
    { "inferred",
      "A cell that an adaptive search (`search` of sweep_plan) did not need to "
      "measure, because its neighbours' figures are enough. Such a cell has no figures." },
    { "censored", "Cut off by timeouts: a percentile is then only a lower bound, shown with >=." },
    { "client limited", "The load generator was late or busy, so that the figure does not show the "
                        "server's limit." },
    { "witness", "What the server's own metrics showed while a cell was measured." },
    { "job", "Long-running work with an id: it continues after the call ends, and after a "
             "restart." },
    { "lease", "The right to measure an endpoint: only one sweep has it at a time." },
};

static void add_tools(struct text *out)
{
    for (size_t i = 0; tools[i] != NULL; i++) {
        size_t subject_length = strcspn(tools[i]->name, "_");

        if (i == 0 || strncmp(tools[i - 1]->name, tools[i]->name, subject_length + 1) != 0)
            text_addf(out, "\n### %.*s\n\n", (int)subject_length, tools[i]->name);
        text_addf(out, "- `%s` (%s): %s %s\n", tools[i]->name, role_name(tools[i]->role),
                  tools[i]->help, tools[i]->more);
    }
}

static CHECKED bool read(struct call *call, const char *value, struct text *out,
                         struct error *error)
{
    (void)call;
    (void)value;
    (void)error;
    text_add(out, "# opsbrain\n\n");
    tools_instructions(out);
    text_add(out, "\n## Tools by subject\n");
    add_tools(out);
    text_add(out, "\n## Resources\n\n");
    for (size_t i = 0; resources[i] != NULL; i++)
        text_addf(out, "- `%s`: %s\n", resources[i]->uri, resources[i]->help);
    text_add(out, "\n## Prompts\n\n");
    for (size_t i = 0; prompts[i] != NULL; i++)
        text_addf(out, "- `%s`: %s\n", prompts[i]->name, prompts[i]->help);
    text_add(out, "\n## Terms\n\n");
    for (size_t i = 0; i < sizeof terms / sizeof terms[0]; i++)
        text_addf(out, "- %s: %s\n", terms[i].term, terms[i].meaning);
    return true;
}

const struct resource resource_guide = {
    .name = "guide",
    .uri = "opsbrain://guide",
    .title = "Guide to opsbrain",
    .help = "How to use the product: the usual workflows, the tools by subject, the resources, the "
            "prompts and the terms.",
    .mime_type = "text/markdown",
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .read = read,
};
