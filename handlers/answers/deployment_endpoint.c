/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/answers/deployment_endpoint.h"

#include <string.h>

#include "base/core/clock.h"
#include "base/core/log.h"
#include "fleet/engine.h"

void deployment_endpoint_wipe(struct endpoint *endpoint)
{
    explicit_bzero(endpoint, sizeof *endpoint);
}

int64_t deployment_endpoint_left_ms(const struct call *call, int64_t since_ns)
{
    int64_t left = (int64_t)(call_number(call, "timeout_s", 0) * 1000)
                   - (clock_monotonic_ns() - since_ns) / 1000000;

    return left > 1 ? left : 1;
}

static CHECKED bool ask(const struct services *services, const struct deployment *deployment,
                        int64_t within_ms, struct endpoint *endpoint, struct model_facts *facts,
                        enum failure *failure, struct error *error)
{
    struct error problem;

    if (!engine_facts(deployment, endpoint, within_ms, facts, failure, error))
        return false;
    if (!model_facts_note(services->store, facts, &problem))
        log_warning("the facts about deployment %s were not stored: %s", deployment->name,
                    problem.message);
    return true;
}

static CHECKED bool discover(const struct services *services, const struct deployment *deployment,
                             int64_t within_ms, struct endpoint *endpoint,
                             struct model_facts *facts, enum failure *failure, struct error *error)
{
    *failure = FAILURE_NONE;
    return secret_access_endpoint(&services->access, deployment, endpoint, error)
           && ask(services, deployment, within_ms, endpoint, facts, failure, error);
}

bool deployment_endpoint_ask(const struct services *services, const struct deployment *deployment,
                             struct endpoint *endpoint, struct model_facts *facts,
                             struct error *error)
{
    enum failure ignored;

    return ask(services, deployment, 0, endpoint, facts, &ignored, error);
}

bool deployment_endpoint_discover(const struct services *services,
                                  const struct deployment *deployment, struct endpoint *endpoint,
                                  struct model_facts *facts, struct error *error)
{
    enum failure ignored;

    return discover(services, deployment, 0, endpoint, facts, &ignored, error);
}

bool deployment_endpoint(const struct services *services, const struct deployment *deployment,
                         int64_t within_ms, struct endpoint *endpoint, enum failure *failure,
                         struct error *error)
{
    struct model_facts facts;
    bool found = false;

    *failure = FAILURE_NONE;
    if (deployment->model[0] == '\0'
        && !model_facts_latest(services->store, deployment->id, &facts, &found, error))
        return false;
    if (deployment->model[0] == '\0' && (!found || facts.revision != deployment->revision))
        return discover(services, deployment, within_ms, endpoint, &facts, failure, error);
    if (!secret_access_endpoint(&services->access, deployment, endpoint, error))
        return false;
    if (deployment->model[0] == '\0')
        text_copy(endpoint->model, sizeof endpoint->model, facts.model);
    return true;
}

bool deployment_endpoint_model_moved(const struct services *services,
                                     const struct deployment *deployment, struct endpoint *endpoint)
{
    ENDPOINT_AUTO fresh = { 0 };
    struct model_facts facts;
    struct error ignored;

    if (deployment->model[0] != '\0'
        || !deployment_endpoint_discover(services, deployment, &fresh, &facts, &ignored)
        || strcmp(fresh.model, endpoint->model) == 0)
        return false;
    *endpoint = fresh;
    return true;
}

void deployment_endpoint_explain_missing(const struct services *services,
                                         const struct deployment *deployment, int64_t within_ms,
                                         struct error *error)
{
    ENDPOINT_AUTO endpoint = { 0 };
    struct model_facts facts;
    enum failure ignored;
    struct error problem;

    if (deployment->model[0] != '\0'
        && !discover(services, deployment, within_ms, &endpoint, &facts, &ignored, &problem)
        && problem.kind == ERROR_NOT_FOUND)
        *error = problem;
}
