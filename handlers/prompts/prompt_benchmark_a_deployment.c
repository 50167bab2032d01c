/* SPDX-License-Identifier: Apache-2.0 */
/* benchmark_a_deployment: measures a registered deployment, and reads the report. */

#include <string.h>

#include "handlers/prompt.h"

static const char *const depths[] = { "quick", "standard", "thorough", NULL };

static const struct prompt_argument arguments[] = {
    { "deployment", "Registered name; default: the only one.", .instances = &deployment_instances },
    { "depth",
      "quick (a first impression), standard (the default), or thorough (with repetitions).",
      .choices = depths },
    { 0 },
};

/* Arguments for sweep_plan, in the order of `depths`. */
static const char *const grids[] = {
    "concurrency [1, 4, 16], input_tokens [512], output_tokens [128], window_s 15",
    "concurrency [1, 2, 4, 8, 16, 32], input_tokens [512, 2048, 8192], output_tokens [256], "
    "window_s 30",
    "concurrency [1, 2, 4, 8, 16, 32, 64], input_tokens [512, 2048, 8192, 16384], output_tokens "
    "[256], window_s 60, repetitions 3",
};

static const char *grid_of(const char *depth)
{
    for (size_t i = 0; depth != NULL && depths[i] != NULL; i++)
        if (strcmp(depths[i], depth) == 0)
            return grids[i];
    return grids[1];
}

static const char how_to_read[] =
    "\nHow to read the report:\n"
    "- Rows are context lengths, columns are users at once. Read along a row: while throughput "
    "grows and TTFT does not, there is room; where throughput stops growing and only TTFT grows, "
    "the deployment is saturated. The report names that point, or an interval that contains it and "
    "the loads to measure to narrow that interval.\n"
    "- A value with >= is a lower bound, since requests timed out. A cell marked client limited "
    "says nothing about the server. An infeasible cell does not fit into the model's context. A "
    "failed cell has no latency to quote: say which failures it had.\n"
    "- One repetition shows no spread: do not call differences of a few percent real.\n"
    "- Quote the figures as they stand, with users and context; never recompute or average them. "
    "Name the fingerprint, so that others can repeat the measurement.\n";

static CHECKED bool write(struct call *call, json_t *messages, struct error *error)
{
    const char *deployment = call_text(call, "deployment");
    TEXT_AUTO text = { 0 };

    (void)error;
    text_addf(&text, "Benchmark %s%s with the tools of opsbrain, in this order:\n",
              deployment != NULL ? "the deployment " : "the registered deployment",
              deployment != NULL ? deployment : "");
    text_add(&text,
             "1. deployment_show, then model_health: continue only if it is up. Note its context "
             "length and its limits.\n");
    text_addf(&text,
              "2. sweep_plan with %s. Omit contexts longer than the model accepts. Show me the "
              "estimate; if the plan needs a go-ahead, wait for mine. If I ask how much load the "
              "deployment can handle, or name latency limits, pass a fine-grained list of at least "
              "20 loads, `search` adaptive and the limits instead: that measures only about a "
              "quarter of the loads.\n",
              grid_of(call_text(call, "depth")));
    text_add(
        &text,
        "3. sweep_start with the same arguments, and plan_digest if sweep_plan asked for "
        "it. sweep_start answers at once and names a job.\n"
        "4. job_show with that job and wait_s 600; repeat it until the job has ended. If the sweep "
        "stopped early, sweep_show says why; sweep_resume measures what is missing.\n"
        "5. run_report with the sweep, and show me its matrices, peak, saturation point and "
        "warnings.\n");
    text_add(&text, how_to_read);
    prompt_write(messages, text_string(&text));
    return true;
}

const struct prompt prompt_benchmark_a_deployment = {
    .name = "benchmark_a_deployment",
    .title = "Benchmark a deployment",
    .help = "Measures a deployment over a grid of users and context, and reads the report: how "
            "fast it is, where it saturates, where it fails.",
    .arguments = arguments,
    .role = ROLE_OPERATOR,
    .write = write,
};
