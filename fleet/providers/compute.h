/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the provider "compute_engine". A deployment is one instance of the same
 * name, with GPUs or TPUs; if it has an end, the platform itself stops or deletes it then. A
 * firewall and a secret with its API key belong to it (google_machine.h). Private to compute*.c. */
#pragma once

#include "fleet/providers/google_machine.h"

#define COMPUTE_NAME_SIZE 256
/* Writes "projects/P/zones/Z/instances/NAME"; returns `out`. */
const char *compute_name(const struct desired *desired, char out[COMPUTE_NAME_SIZE]);
/* Writes the region of a zone, such as "us-central1" for "us-central1-a". */
void compute_region(const char *zone, char out[FLEET_PLACE_SIZE]);
/* Returns true if the machine is bought as flex-start: it waits for capacity, and its life counts
 * from when it gets capacity. This is read from the scheduling in `now` or, if that is not known,
 * from desired->kind. */
bool compute_is_flexible(const struct desired *desired, const struct observed *now);

/* Returns the body of an instance for a recipe. New reference. */
json_t *compute_instance(const struct desired *desired, const struct google_machine *machine);
/* Returns an instance's member "scheduling", which says how the machine is bought and when it ends:
 * the one in `now`, but with the wanted end. `now` NULL: that of a new machine. New reference. */
json_t *compute_scheduling(const struct desired *desired, const struct observed *now);

/* INVALID if the platform would refuse the deployment's name or its recipe. Does no I/O. */
CHECKED bool compute_check(const struct desired *desired, struct error *error);
/* INVALID if the platform would refuse the end. Does no I/O. */
CHECKED bool compute_check_end(const struct desired *desired, const struct observed *now,
                               struct error *error);
/* Adds a warning for each thing that is allowed but unwise. Does no I/O. */
void compute_lint(const struct desired *desired, json_t *warnings);
/* Returns true if this machine type includes accelerators. */
bool compute_has_accelerators(const char *machine_type);

/* These implement provider.steps, provider.outcome and provider.command (provider.h). */
CHECKED bool compute_steps(enum provider_verb verb, const struct desired *desired,
                           const struct observed *now, struct step **out, size_t *count,
                           struct error *error);
CHECKED enum step_state compute_outcome(const struct step *step, const struct cloud_reply *reply,
                                        char poll_url[1024], struct error *error);
void compute_command(const struct desired *desired, const struct step *step, struct text *out);

/* Reads an instance from its JSON object. `is_inside`: use its internal address even if it has an
 * external one. Does no I/O. */
void compute_read(const json_t *instance, bool is_inside, struct observed *out);
/* These implement provider.observe and provider.list. */
CHECKED bool compute_observe(struct cloud *cloud, const struct desired *desired,
                             struct observed *out, struct error *error);
CHECKED bool compute_list(struct cloud *cloud, const struct fleet_target *target,
                          struct observed **out, size_t *count, json_t *warnings,
                          struct error *error);
/* Adds a finding for each region of the target's zones: whether it has an accelerator quota that
 * is not used up. */
void compute_check_quotas(struct cloud *cloud, const struct fleet_target *target, json_t *findings);
