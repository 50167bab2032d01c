/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the provider "cloud_tpu". A deployment that opsbrain created consists of
 * a queued resource and one node (the machine), both named like the deployment, plus a firewall and
 * a secret with the server's key (google_machine.h). In an adopted deployment, the node can have
 * another name, and there may be no queued resource. Queued resources have no labels: the labels of
 * the requested node count as theirs. Private to tpu*.c. */
#pragma once

#include "fleet/providers/google_machine.h"

#define TPU "https://tpu.googleapis.com/v2/"
#define TPU_ALPHA "https://tpu.googleapis.com/v2alpha1/" /* the only version with flex-start */
#define TPU_IMAGE "opsbrain-image" /* member of a node's metadata that names the image */

#define TPU_NAME_SIZE 256
/* Writes "projects/P/locations/ZONE/COLLECTION/NAME"; returns `out`. */
const char *tpu_name(const struct desired *desired, const char *collection, const char *name,
                     char out[TPU_NAME_SIZE]);
bool tpu_is_flex_start(const struct desired *desired);

/* Returns the body of a queued resource for a recipe. New reference. */
json_t *tpu_queued_resource(const struct desired *desired, const struct google_machine *machine);
/* INVALID if the platform would refuse the queued resource, or if the recipe needs more than one
 * machine. Does no I/O. */
CHECKED bool tpu_check(const struct desired *desired, struct error *error);
/* Adds a warning for each thing that is allowed but unwise. Does no I/O. */
void tpu_lint(const struct desired *desired, json_t *warnings);

CHECKED bool tpu_steps(enum provider_verb verb, const struct desired *desired,
                       const struct observed *now, struct step **out, size_t *count,
                       struct error *error);
CHECKED enum step_state tpu_outcome(const struct step *step, const struct cloud_reply *reply,
                                    char poll_url[1024], struct error *error);
void tpu_command(const struct desired *desired, const struct step *step, struct text *out);

/* Read the JSON object of a queued resource or of a node into a zeroed `out`. tpu_read_node also
 * accepts an `out` that tpu_read_queued has filled in from the node's queued resource, and keeps
 * the name, URL and id in it. `is_inside`: use the node's internal address even if it has an
 * external one. Neither function does any I/O. */
void tpu_read_queued(const json_t *queued, struct observed *out);
void tpu_read_node(const json_t *node, bool is_inside, struct observed *out);
/* Reads what the machine's script reports in the guest attributes. Does no I/O. */
void tpu_read_attributes(const json_t *attributes, struct observed *out);
/* Returns the node that a queued resource requests, because that node has the labels; returns any
 * other resource itself. Borrowed. */
const json_t *tpu_labelled(const json_t *resource);
/* Returns the node's name on the platform; "" if it is not known. Borrowed. */
const char *tpu_node_of(const struct observed *observed);

CHECKED bool tpu_observe(struct cloud *cloud, const struct desired *desired, struct observed *out,
                         struct error *error);
CHECKED bool tpu_list(struct cloud *cloud, const struct fleet_target *target, struct observed **out,
                      size_t *count, json_t *warnings, struct error *error);
