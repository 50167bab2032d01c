/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the provider "cloud_run". A deployment is a private service of the same
 * name and, if it has an end, a Cloud Scheduler job whose account can end only that service.
 * Private to cloud_run*.c. */
#pragma once

#include "fleet/providers/google.h"

#define CLOUD_RUN "https://run.googleapis.com/v2/"

#define CLOUD_RUN_NAME_SIZE 256
/* Writes "projects/P/locations/R/services/NAME"; returns `out`. */
const char *cloud_run_name(const struct desired *desired, char out[CLOUD_RUN_NAME_SIZE]);
/* Returns the body of a service for a recipe. New reference. */
json_t *cloud_run_service(const struct desired *desired);
/* Returns the service's member "scaling", with the minimum and maximum number of instances. New
 * reference. */
json_t *cloud_run_scaling(const struct desired *desired);
/* INVALID if the platform would refuse the deployment's name or its recipe. Does no I/O. */
CHECKED bool cloud_run_check(const struct desired *desired, struct error *error);
/* Adds a warning for each thing that is allowed but unwise. Does no I/O. */
void cloud_run_lint(const struct desired *desired, json_t *warnings);

/* These implement provider.steps, provider.outcome and provider.command (provider.h). */
CHECKED bool cloud_run_steps(enum provider_verb verb, const struct desired *desired,
                             const struct observed *now, struct step **out, size_t *count,
                             struct error *error);
CHECKED enum step_state cloud_run_outcome(const struct step *step, const struct cloud_reply *reply,
                                          char poll_url[1024], struct error *error);
void cloud_run_command(const struct desired *desired, const struct step *step, struct text *out);

/* Reads a service from its JSON object. Does no I/O. */
void cloud_run_read(const json_t *service, struct observed *out);
/* These implement provider.observe and provider.list. */
CHECKED bool cloud_run_observe(struct cloud *cloud, const struct desired *desired,
                               struct observed *out, struct error *error);
CHECKED bool cloud_run_list(struct cloud *cloud, const struct fleet_target *target,
                            struct observed **out, size_t *count, json_t *warnings,
                            struct error *error);
