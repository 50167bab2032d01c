/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain://deployments/{name}/metrics: the model server's own metrics, read from the server
 * whenever the resource is read. */

#include "handlers/resource_answer.h"

static CHECKED bool read(struct call *call, const char *value, struct text *out,
                         struct error *error)
{
    return resource_answer_of_tool_take(
        call, "metrics_show", json_pack("{s:s, s:i}", "deployment", value, "interval_s", 0),
        RESOURCE_JSON, out, error);
}

const struct resource resource_metrics = {
    .name = "metrics",
    .uri = "opsbrain://deployments/{name}/metrics",
    .title = "Metrics of deployment",
    .help = "A deployment's own metrics at this moment, under the same names for all engines: "
            "requests running and waiting, KV cache use, counters since the server's start. For "
            "rates, call the tool metrics_show.",
    .mime_type = "application/json",
    .role = ROLE_VIEWER,
    .placement = PLACE_WAITING,
    .instances = &deployment_instances,
    .read = read,
};
