/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by deployment_stop and deployment_destroy. Neither tool needs a plan that was made before,
 * but both need consent to the requests that they would send. */
#pragma once

#include "fleet/providers/provider.h"
#include "handlers/tool.h"

/* A tool's go_ahead(): gets consent (handlers/consent.h). `title` labels the form's checkbox. */
CHECKED bool ending_go_ahead(struct call *call, enum provider_verb verb, const char *title,
                             struct error *error);
/* A tool's run(): makes and stores a plan for the verb, begins it, and answers with its job. */
CHECKED bool ending_run(struct call *call, enum provider_verb verb, struct answer *answer,
                        struct error *error);
