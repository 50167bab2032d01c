/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain://runs/{id}: one repetition of a sweep, with its fingerprint, or an imported run. */

#include "handlers/resource_answer.h"

static CHECKED bool read(struct call *call, const char *value, struct text *out,
                         struct error *error)
{
    return resource_answer_of_tool_take(
        call, "run_show", json_pack("{s:s, s:i, s:b}", "run", value, "limit", 200, "detail", 1),
        RESOURCE_JSON, out, error);
}

const struct resource resource_run = {
    .name = "run",
    .uri = "opsbrain://runs/{id}",
    .title = "Run",
    .help =
        "One repetition of a sweep: its fingerprint (what was measured), its provenance (who, why, "
        "from where) and its first 200 cells (for more, call run_show with next_cursor). For an "
        "imported run: what its file contains.",
    .mime_type = "application/json",
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .instances = &run_instances,
    .read = read,
};
