/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the provider "cloud_tpu" share. A deployment is a queued resource of its name,
 * with one node of its name, the machine; beside them are a firewall and the secret of its key
 * (google_machine.h). Queued resources have no labels of their own: those of the node that they ask
 * for are theirs. Private to tpu*.c. */
#pragma once

#include "fleet/providers/google_machine.h"

#define TPU "https://tpu.googleapis.com/v2/"
#define TPU_ALPHA "https://tpu.googleapis.com/v2alpha1/" /* flex-start is in no other version */
#define TPU_IMAGE "opsbrain-image"                       /* member of a node's metadata */

#define TPU_NAME_SIZE 256
/* "projects/P/locations/ZONE/COLLECTION/NAME"; returns `out`. */
const char *tpu_name(const struct desired *desired, const char *collection, const char *name,
                     char out[TPU_NAME_SIZE]);
bool tpu_is_flex_start(const struct desired *desired);

/* The queued resource of a recipe. New reference. */
json_t *tpu_queued_resource(const struct desired *desired, const struct google_machine *machine);
/* What the platform would refuse, as INVALID, and what is allowed and unwise. Pure. */
CHECKED bool tpu_check(const struct desired *desired, struct error *error);
void tpu_lint(const struct desired *desired, json_t *warnings);

CHECKED bool tpu_steps(enum provider_verb verb, const struct desired *desired,
                       const struct observed *now, struct step **out, size_t *count,
                       struct error *error);
CHECKED enum step_state tpu_outcome(const struct step *step, const struct cloud_reply *reply,
                                    char poll_url[1024], struct error *error);
void tpu_command(const struct desired *desired, const struct step *step, struct text *out);

/* Reads a queued resource's object, and the object of its node over it, or of a node that nothing
 * queued asked for. Pure. */
void tpu_read_queued(const json_t *queued, struct observed *out);
void tpu_read_node(const json_t *node, bool is_inside, struct observed *out);
/* Reads what the machine's script says of itself, in its guest attributes. Pure. */
void tpu_read_attributes(const json_t *attributes, struct observed *out);
/* A queued resource's node, which has its labels; anything else is itself. Borrowed. */
const json_t *tpu_labelled(const json_t *resource);
/* The name of the node, at the provider, of what was read. Borrowed. */
const char *tpu_node_of(const struct observed *observed);

CHECKED bool tpu_observe(struct cloud *cloud, const struct desired *desired, struct observed *out,
                         struct error *error);
CHECKED bool tpu_list(struct cloud *cloud, const struct fleet_target *target, struct observed **out,
                      size_t *count, json_t *warnings, struct error *error);
