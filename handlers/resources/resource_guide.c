/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain://guide: explains how to use the product, from the tables of tools and prompts. */

#include <string.h>

#include "handlers/prompt.h"
#include "handlers/resource.h"

static const struct {
    const char *term, *meaning;
} terms[] = {
    { "deployment", "A model server under a registered name. Every change makes a new revision; "
                    "runs point at the revision they measured." },
    { "sweep", "A benchmark: a grid of concurrency and context, with repetitions." },
    { "A/B sweep", "A sweep over two deployments, a baseline and a candidate, that take turns cell "
                   "by cell: drift affects both alike." },
    { "run", "One repetition of a sweep's grid, under one fingerprint; or what another tool "
             "measured, imported from its file. A finished run is never changed: a correction is a "
             "new run that points at it." },
    { "cell", "One point of the grid: a number of users, a prompt length and an answer length." },
    { "fingerprint", "Digest of what was measured: model, engine, hardware, limits, workload. Runs "
                     "are comparable if it is the same." },
    { "concurrency",
      "Users at once: each sends its next request once its previous one has ended." },
    { "TTFT", "Time to first token: from sending the request to the first output of any channel "
              "(content, reasoning, tool call)." },
    { "TTFO", "Time to first visible output, where reasoning came before it." },
    { "ITL", "Gap between two tokens of an answer: a chunk's gap divided by its tokens." },
    { "ICL", "Gap between two stream chunks of an answer; other tools often call it ITL." },
    { "TPOT", "Time per output token after the first, of a whole request." },
    { "E2E", "Time of a whole request, from sending it to its last token." },
    { "throughput", "Output tokens (or requests) per second of all users together." },
    { "goodput", "Requests per second that met the plan's limits of latency." },
    { "saturation", "The smallest load that reaches 95 % of the server's highest output tokens/s: "
                    "beyond it, adding users mostly lengthens the wait." },
    { "limits", "What answers must meet (`limit_ttft_ms` and others of sweep_plan); a report "
                "shows the largest load that meets them, per context." },
    { "inferred", "A cell that an adaptive search (`search` of sweep_plan) did not need to "
                  "measure: its neighbours' figures are enough, and the cell itself has none." },
    { "censored", "Cut off by timeouts: a percentile is then only a lower bound, shown with >=." },
    { "client limited", "The load generator was late or busy: the figure is not the server's "
                        "limit." },
    { "witness", "What the server's own metrics showed while a cell was measured." },
    { "job", "Long work with an id: it continues when a call ends, and after a restart." },
    { "lease", "The right to measure on an endpoint: only one sweep has it at a time." },
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
