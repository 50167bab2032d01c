/* SPDX-License-Identifier: Apache-2.0 */
/* compare_deployments: measures two deployments under the same load, and compares them. */

#include <string.h>

#include "handlers/prompt.h"

static const char *const aims[] = { "latency", "throughput", "both", NULL };

static const struct prompt_argument arguments[] = {
    { "first", "Registered name of one deployment.", .required = true,
      .instances = &deployment_instances },
    { "second", "Registered name of the other.", .required = true,
      .instances = &deployment_instances },
    { "aim", "What decides: latency, throughput or both (the default).", .choices = aims },
    { 0 },
};

static const char how_to_read[] =
    "\nHow to compare:\n"
    "- Compare cell by cell: the same users, the same context, the same answer length. The "
    "workload in both fingerprints must be the same; whatever else differs between the "
    "fingerprints (model, engine, hardware, limits) is what is compared: list it first.\n"
    "- Use the repetitions: a difference smaller than the spread between repetitions does "
    "not count. Say so instead of naming a winner.\n"
    "- Skip cells that are client limited, infeasible or failed on either side, and say "
    "which. A value with >= is a lower bound: it can lose, but not win.\n"
    "- Compare the saturation points too: which one carries more users before TTFT grows.\n";

static CHECKED bool write(struct call *call, json_t *messages, struct error *error)
{
    const char *first = call_text(call, "first"), *second = call_text(call, "second");
    const char *aim = call_text(call, "aim");
    TEXT_AUTO text = { 0 };

    if (strcmp(first, second) == 0)
        return error_set(error, ERROR_INVALID,
                         "\"first\" and \"second\" are both %s: name two deployments", first);
    text_addf(&text, "Compare the deployments %s and %s with the tools of opsbrain:\n", first,
              second);
    text_addf(&text,
              "1. deployment_show for %s and for %s: both must be up. Note what differs: model, "
              "engine, hardware, limits.\n",
              first, second);
    text_add(&text,
             "2. sweep_list: if there is already an A/B sweep of the two, use it and continue "
             "with step 4.\n");
    text_addf(&text,
              "3. sweep_plan, then sweep_start with deployment %s, candidate %s and repetitions 5: "
              "one sweep in which the two take turns, so that drift affects both alike; job_show "
              "with wait_s 600 until the job has ended.\n",
              first, second);
    text_addf(&text,
              "4. run_compare with this sweep, for each metric that matters; run_report with it "
              "shows both deployments in full. What decides is %s.\n",
              aim == NULL || strcmp(aim, "both") == 0 ? "latency and throughput" : aim);
    text_add(&text, how_to_read);
    prompt_write(messages, text_string(&text));
    return true;
}

const struct prompt prompt_compare_deployments = {
    .name = "compare_deployments",
    .title = "Compare two deployments",
    .help = "Measures two deployments under the same load and compares them cell by cell; "
            "differences within the spread between repetitions do not count.",
    .arguments = arguments,
    .role = ROLE_OPERATOR,
    .write = write,
};
