/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain://jobs/{id}: the current state of a job. */

#include "handlers/answers/job_answer.h"
#include "handlers/resource_answer.h"

static CHECKED bool read(struct call *call, const char *value, struct text *out,
                         struct error *error)
{
    json_auto_t *json = NULL;
    struct job job;

    if (!job_pool_show(call->services->jobs, value, &job, error))
        return false;
    json = job_answer_json(&job);
    resource_answer_add_json(json, out);
    return true;
}

const struct resource resource_job = {
    .name = "job",
    .uri = "opsbrain://jobs/{id}",
    .title = "Job",
    .help = "A job: its state, its progress, what it is doing and its result. Subscribe to "
            "follow it while it runs.",
    .mime_type = "application/json",
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .instances = &job_instances,
    .read = read,
};
