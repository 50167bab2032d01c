/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of the provider "kubernetes". A deployment that opsbrain makes consists
 * of a Kubernetes Deployment and a Service with the same name. If it is to end at some time, there
 * is also a CronJob NAME-end, whose service account can only scale or delete that one Deployment.
 * Private to kubernetes*.c. */
#pragma once

#include "fleet/providers/provider.h"

#define KUBERNETES_INSTANCE "opsbrain/instance"     /* a label: the id of this opsbrain */
#define KUBERNETES_DEPLOYMENT "opsbrain/deployment" /* a label: the deployment's name */
/* An annotation: when the deployment ends, in UTC, like 2026-11-23T04:50:00.000Z, or "never". */
#define KUBERNETES_ENDS "opsbrain/ends"
#define KUBERNETES_AT_END "opsbrain/at-end" /* an annotation: "stop" or "destroy" */
#define KUBERNETES_APPLY "application/apply-patch+yaml"
#define KUBERNETES_ACCELERATORS                                                                    \
    {                                                                                              \
        "nvidia.com/gpu", "google.com/tpu", "amd.com/gpu", NULL                                    \
    }

/* Each of the next six returns the body of one object; kubernetes_labels returns the labels that
 * all of these objects have. New references. */
json_t *kubernetes_deployment(const struct desired *desired);
json_t *kubernetes_service(const struct desired *desired);
json_t *kubernetes_end_account(const struct desired *desired);
json_t *kubernetes_end_role(const struct desired *desired);
json_t *kubernetes_end_binding(const struct desired *desired);
json_t *kubernetes_end_job(const struct desired *desired);
json_t *kubernetes_labels(const struct desired *desired);
/* Returns the annotations about the end: its time, and whether the deployment is then stopped or
 * destroyed. New reference. */
json_t *kubernetes_end_notes(const struct desired *desired);

/* Returns the name of the recipe's accelerator resource, such as "nvidia.com/gpu". Borrowed. */
const char *kubernetes_accelerator(const struct recipe *recipe);
/* Returns the target's `door` (how servers are reached), or "cluster" if it is "". Borrowed. */
const char *kubernetes_door(const struct fleet_target *target);

CHECKED bool kubernetes_steps(enum provider_verb verb, const struct desired *desired,
                              const struct observed *now, struct step **out, size_t *count,
                              struct error *error);
CHECKED enum step_state kubernetes_outcome(const struct step *step, const struct cloud_reply *reply,
                                           char poll_url[1024], struct error *error);
void kubernetes_command(const struct desired *desired, const struct step *step, struct text *out);

/* Reads a Deployment object. `pods` and `log` are NULL if they are not known. Does no I/O. */
void kubernetes_read(const json_t *deployment, const json_t *pods, const char *log,
                     struct observed *out);
CHECKED bool kubernetes_observe(struct cloud *cloud, const struct desired *desired,
                                struct observed *out, struct error *error);
CHECKED bool kubernetes_list(struct cloud *cloud, const struct fleet_target *target,
                             struct observed **out, size_t *count, json_t *warnings,
                             struct error *error);
CHECKED bool kubernetes_check(struct cloud *cloud, const struct fleet_target *target,
                              json_t *findings, struct error *error);
CHECKED bool kubernetes_key(struct cloud *cloud, const struct observed *observed,
                            char out[SECRET_VALUE_SIZE], struct error *error);
