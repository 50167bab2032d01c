/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by deployment_stop and deployment_destroy: ending something needs no earlier plan, but
 * shows what is removed and asks. */
#pragma once

#include "fleet/providers/provider.h"
#include "handlers/tool.h"

/* `title` is the label of the form's box. */
CHECKED bool ending_go_ahead(struct call *call, enum provider_verb verb, const char *title,
                             struct error *error);
CHECKED bool ending_run(struct call *call, enum provider_verb verb, struct answer *answer,
                        struct error *error);
