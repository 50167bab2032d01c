/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the provider "local": servers on the machine where opsbrain runs,
 * controlled by calls that fleet/machine answers. Private to this_machine*.c. */
#pragma once

#include "fleet/providers/provider.h"

#define THIS_MACHINE_INSTANCE "opsbrain/instance"     /* a label: the id of this opsbrain */
#define THIS_MACHINE_DEPLOYMENT "opsbrain/deployment" /* a label: the deployment's name */

/* How an engine gets its API key, and what makes it listen on loopback only. */
struct this_machine_engine {
    const char *name;
    const char *key_variable; /* environment variable for the key; "": the engine has no key */
    const char *host;         /* argument or environment variable for the address to listen on */
};
/* Returns NULL if the recipe's engine is not known. Static. */
const struct this_machine_engine *this_machine_engine_of(const struct recipe *recipe);

/* Returns the body of the request to fleet/machine that creates the server. `now` is what observe()
 * found, or NULL. New reference. */
json_t *this_machine_body(const struct desired *desired, const struct observed *now);

CHECKED bool this_machine_steps(enum provider_verb verb, const struct desired *desired,
                                const struct observed *now, struct step **out, size_t *count,
                                struct error *error);
CHECKED enum step_state this_machine_outcome(const struct step *step,
                                             const struct cloud_reply *reply, char poll_url[1024],
                                             struct error *error);
void this_machine_command(const struct desired *desired, const struct step *step, struct text *out);
