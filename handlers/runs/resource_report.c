/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain://runs/{id}/report: the report on one run. */

#include "handlers/resource_answer.h"

static CHECKED bool read(struct call *call, const char *value, struct text *out,
                         struct error *error)
{
    return resource_answer_of_tool_take(call, "run_report", json_pack("{s:s}", "run", value),
                                        RESOURCE_TEXT, out, error);
}

const struct resource resource_report = {
    .name = "report",
    .uri = "opsbrain://runs/{id}/report",
    .title = "Report on run",
    .help = "The report on one run: latency and throughput matrices, percentiles, peak, "
            "saturation, where failures begin, warnings, key takeaways. Its figures come from "
            "stored measurements: quote them, do not recompute them.",
    .mime_type = "text/markdown",
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .instances = &run_instances,
    .read = read,
};
