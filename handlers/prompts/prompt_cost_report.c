/* SPDX-License-Identifier: Apache-2.0 */
/* cost_report: computes what tokens cost on a deployment, from its measured throughput and its
 * price per hour. */

#include <math.h>
#include <stdlib.h>

#include "handlers/prompt.h"
#include "handlers/values.h"

static const struct prompt_argument arguments[] = {
    { "price_per_hour", "What the deployment's hardware costs per hour, as a number: 4.5.",
      .required = true },
    { "deployment", "Registered name; default: the sweep's.", .instances = &deployment_instances },
    { "sweep", "Sweep whose figures to use; default: the newest.", .instances = &sweep_instances },
    { "currency", "Currency of the price; default: USD." },
    { 0 },
};

static const char how_to_read[] =
    "\nHow to compute and read it:\n"
    "- Cost of a million output tokens = price per hour / (output tokens per second * 3600) * "
    "1000000. Take a cell's output tokens per second, for all users together, from "
    "run_report; compute each cell separately and show the division.\n"
    "- This cost holds for a deployment that is busy with this load around the clock: at half the "
    "use, the cost doubles. Say so next to the figure.\n"
    "- The cheapest cell is usually the one with the longest waits: give the cheapest of all, "
    "and the cheapest one whose TTFT and ITL are good enough.\n"
    "- Skip cells that failed, that are client limited or whose tokens were estimated, or "
    "mark them. The price also pays for input tokens: compare costs only at the same lengths of "
    "prompt and answer.\n";

static CHECKED bool check_price(const char *text, struct error *error)
{
    char *end, shown[VALUE_SHOWN_SIZE];
    double price = strtod(text, &end);

    if (*end == '\0' && isfinite(price) && price > 0 && price < 1e6)
        return true;
    return error_set(error, ERROR_INVALID,
                     "\"price_per_hour\" is %s: it must be a number above 0 and below a million, "
                     "such as 4.5",
                     value_show_text(text, shown));
}

static CHECKED bool write(struct call *call, json_t *messages, struct error *error)
{
    const char *deployment = call_text(call, "deployment"), *sweep = call_text(call, "sweep");
    const char *price = call_text(call, "price_per_hour"), *currency = call_text(call, "currency");
    TEXT_AUTO text = { 0 };

    if (!check_price(price, error))
        return false;
    text_addf(&text,
              "Report what tokens cost%s%s at %s %s per hour, from figures that "
              "opsbrain measured:\n",
              deployment != NULL ? " on the deployment " : "", deployment != NULL ? deployment : "",
              price, currency != NULL ? currency : "USD");
    text_addf(&text,
              "1. run_report with %s%s. If nothing is measured yet, say so, and offer to measure "
              "with sweep_plan and sweep_start.\n",
              sweep != NULL        ? "the sweep "
              : deployment != NULL ? "this deployment"
                                   : "no arguments",
              sweep != NULL ? sweep : "");
    text_add(
        &text,
        "2. run_show with the report's run has the figures that the report rounds.\n"
        "3. Show one table: users, context, output tokens per second, TTFT p99, cost of a million "
        "output tokens.\n");
    text_add(&text, how_to_read);
    prompt_write(messages, text_string(&text));
    return true;
}

const struct prompt prompt_cost_report = {
    .name = "cost_report",
    .title = "Report what tokens cost",
    .help = "Computes the cost of a million output tokens from measured throughput and the "
            "price per hour, cell by cell, and says what the figure assumes.",
    .arguments = arguments,
    .role = ROLE_VIEWER,
    .write = write,
};
