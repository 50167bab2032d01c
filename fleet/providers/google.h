/* SPDX-License-Identifier: Apache-2.0 */
/* What the providers on Google's platforms share: labels, steps, outcomes, what ends a resource,
 * lists, and what a target needs. Private to fleet/providers. What has no `cloud` is pure. */
#pragma once

#include "fleet/providers/provider.h"

#define GOOGLE_SECRETS "https://secretmanager.googleapis.com/v1/"
#define GOOGLE_IAM "https://iam.googleapis.com/v1/"
#define GOOGLE_COMPUTE "https://compute.googleapis.com/compute/v1/"
#define GOOGLE_SCOPE "https://www.googleapis.com/auth/cloud-platform"

/* ---- Labels, on everything that has them ---- */

#define GOOGLE_INSTANCE "opsbrain-instance"
#define GOOGLE_DEPLOYMENT "opsbrain-deployment"
#define GOOGLE_ENDS "opsbrain-ends" /* seconds since 1970 */

json_t *google_labels(const struct desired *desired); /* new reference */
/* Ours over those that others wrote on it: a change replaces them all. New reference. */
json_t *google_all_labels(const struct desired *desired, const struct observed *now);
void google_read_labels(const json_t *labels, struct observed *out);
/* By which what has no labels is known as ours: a description. New reference. */
json_t *google_mark(const struct desired *desired);

/* Of a deployment of this instance, in a place (`what`: its full name at the platform): 24 digits
 * for the names of what is made beside it, which no other has. */
#define GOOGLE_TAG_SIZE 25
void google_tag(const struct desired *desired, const char *what, char out[GOOGLE_TAG_SIZE]);
/* Whether a deployment's name may be a resource's: letters, digits and '-', shorter than `size`. */
CHECKED bool google_check_name(const char *name, const char *title, size_t size,
                               struct error *error);

/* "x" of "projects/P/locations/L/services/x". */
const char *google_last_part(const char *name);
/* Name, place and URL, of such a name. */
void google_read_name(const char *service, const char *name, struct observed *out);
/* An int64, which comes as a text, and may come as a number; 0: neither. */
int64_t google_integer(const json_t *object, const char *name);

/* ---- Steps ---- */

struct google_list {
    const struct desired *desired;
    struct step **steps;
    size_t *count;
};

/* `url` is also its resource; the summary gets the deployment's name and place. */
struct step *google_add(const struct google_list *list, const char *name, const char *method,
                        const char *url, const char *summary);
/* The recipe's secrets must be there: "secret-NAME". */
void google_add_secrets(const struct google_list *list);
/* INVALID: what could not be a secret's name. */
CHECKED bool google_check_secrets(const struct recipe *recipe, struct error *error);
/* A 404 is its success. */
struct step *google_add_removal(const struct google_list *list, const char *name, const char *url,
                                const char *summary);
/* The step POSTs to the parent of its resource, and is undone by deleting that. */
void google_set_creation(struct step *step);
/* Adds a parameter to the step's URL. */
void google_add_query(struct step *step, const char *name, const char *value);
/* What is to be created is not another's, and what is to be changed exists. `what`: "machine". */
CHECKED bool google_check_state(enum provider_verb verb, const struct desired *desired,
                                const struct observed *now, const char *what, struct error *error);
/* The step as a command of gcloud: `commands` has its name and words, { "stop", "compute instances
 * stop" }, and ends with NULL; `place` is the option of the place, "--zone". A step that is in no
 * row is shown as a request. */
void google_command(const struct desired *desired, const struct step *step,
                    const char *const commands[][2], const char *place, struct text *out);

/* ---- What ends a resource at its time ---- */

/* A job of Cloud Scheduler sends one request, as an account that is made for this. */
struct google_end {
    char account[128]; /* its e-mail address */
    char job[512];     /* URL */
};
/* `what`: the resource's full name at the platform; `region`: the scheduler's. */
void google_end_name(const struct desired *desired, const char *what, const char *region,
                     struct google_end *out);
/* "end-account": makes the account. Nothing is granted to it. */
void google_end_add_account(const struct google_list *list, const struct google_end *end);
/* "end-before", "end": makes the job. `body` NULL: the request has none. */
void google_end_add_job(const struct google_list *list, const struct google_end *end,
                        const char *method, const char *url, const char *body);
/* "end": moves the job, which stays, so that what runs is never without its end. */
void google_end_add_change(const struct google_list *list, const struct google_end *end,
                           const char *method, const char *url, const char *body);
void google_end_add_job_removal(const struct google_list *list, const struct google_end *end);
void google_end_add_account_removal(const struct google_list *list, const struct google_end *end);
/* INVALID: a schedule has no year. */
CHECKED bool google_end_check(const struct desired *desired, const char *title,
                              struct error *error);

/* ---- What is unwise ---- */

struct google_warning {
    bool holds;
    const char *sentence;
};
void google_warn(const struct google_warning *rows, size_t count, json_t *warnings);

/* ---- Outcomes ---- */

/* For `outcome`: sets `error`. */
CHECKED enum step_state google_fail(struct error *error, const char *message);
/* What a reply that is not 2xx means. */
CHECKED enum step_state google_refused(const struct step *step, const struct cloud_reply *reply,
                                       struct error *error);
/* A long operation, {"name", "done", "error" or "response"}; `base` and its name are its URL. */
CHECKED enum step_state google_judge_operation(const json_t *operation, const char *base,
                                               char poll_url[1024], struct error *error);
/* A step that waits: its name is the state that it waits for. */
CHECKED enum step_state google_judge_wait(const struct step *step, const struct observed *now,
                                          char poll_url[1024], struct error *error);
bool google_is_one_of(const char *name, const char *const *names); /* ends with NULL */

/* ---- Lists ---- */

struct google_found {
    const struct fleet_target *target;
    struct observed **list;
    size_t *count;
};
/* The pages of SERVICE projects/P/PLACES/PLACE/QUERY. */
struct google_collection {
    const char *service, *places; /* GOOGLE_COMPUTE, "zones" */
    const char *query;            /* "instances?maxResults=100" */
    const char *what;             /* "machines" */
    void (*read)(const json_t *page, const struct google_found *found);
};
/* All collections in each of the target's places; a row without a service ends them. Places that
 * could not be read are warnings. Free with observed_list_free. */
CHECKED bool google_list(struct cloud *cloud, const struct fleet_target *target,
                         const struct google_collection *collections, struct observed **out,
                         size_t *count, json_t *warnings, struct error *error);

/* ---- What a target needs ---- */

/* Project, credential and places, which are zones or regions. */
CHECKED bool google_check_target(const struct fleet_target *target, const char *title,
                                 bool has_zones, struct error *error);
/* One finding each; the lists end with NULL. */
CHECKED bool google_check_permissions(struct cloud *cloud, const struct fleet_target *target,
                                      const char *const *permissions, json_t *findings,
                                      struct error *error);
void google_check_services(struct cloud *cloud, const struct fleet_target *target,
                           const char *const *services, json_t *findings);
/* `fix` is taken. */
void google_add_finding(json_t *findings, const char *need, bool holds, json_t *fix);

/* The target's service account, network and bucket, as far as it names them. `of_machines`: they
 * are in the network `default` if it names none. */
void google_check_things(struct cloud *cloud, const struct fleet_target *target, bool of_machines,
                         json_t *findings);
/* The target's network as Compute Engine names it, `default` if it names none. New reference. */
json_t *google_network(const struct fleet_target *target);

/* Quotas in a place, which become one finding: there is one that is not used up. */
struct google_quotas {
    struct text list; /* "NVIDIA_L4_GPUS 8 (2 used)" */
    bool has_any;
};
/* `limit` < 0: none. */
void google_quotas_add(struct google_quotas *quotas, const char *name, int64_t limit, int64_t used);
/* Of Cloud Quotas; what cannot be read is not there. `place`: a region or zone. */
void google_quotas_read(struct cloud *cloud, const char *project, const char *service,
                        const char *quota, const char *place, struct google_quotas *quotas);
void google_quotas_finish(struct google_quotas *quotas, const struct fleet_target *target,
                          const char *place, json_t *findings);
/* A finding for each place: those of Cloud Quotas with these names; NULL ends them. */
void google_check_quotas(struct cloud *cloud, const struct fleet_target *target,
                         const char *service, const char *const *names, json_t *findings);
