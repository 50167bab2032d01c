/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain://sweeps/{id}: a sweep's progress, and the figures of its first cells. */

#include "handlers/resource_answer.h"

static CHECKED bool read(struct call *call, const char *value, struct text *out,
                         struct error *error)
{
    return resource_answer_of_tool_take(
        call, "sweep_show", json_pack("{s:s, s:i, s:b}", "sweep", value, "limit", 200, "detail", 1),
        RESOURCE_JSON, out, error);
}

const struct resource resource_sweep = {
    .name = "sweep",
    .uri = "opsbrain://sweeps/{id}",
    .title = "Sweep",
    .help = "A benchmark over a grid: its plan, its state, its job and its first 200 cells with "
            "their figures (for more, call sweep_show with next_cursor). Subscribe to follow it "
            "while it runs.",
    .mime_type = "application/json",
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .instances = &sweep_instances,
    .read = read,
};
