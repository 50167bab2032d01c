/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the providers for Google's platforms: labels, steps, outcomes, scheduled ends, lists,
 * and the requirements of targets. Private to fleet/providers. Functions without a parameter
 * `cloud` do no I/O. */
#pragma once

#include "fleet/providers/provider.h"

#define GOOGLE_SECRETS "https://secretmanager.googleapis.com/v1/"
#define GOOGLE_IAM "https://iam.googleapis.com/v1/"
#define GOOGLE_COMPUTE "https://compute.googleapis.com/compute/v1/"
#define GOOGLE_SCOPE "https://www.googleapis.com/auth/cloud-platform"

/* ---- Labels, on every resource that can have them ---- */

#define GOOGLE_INSTANCE "opsbrain-instance"
#define GOOGLE_DEPLOYMENT "opsbrain-deployment"
#define GOOGLE_ENDS "opsbrain-ends"     /* when the deployment ends, in seconds since 1970 */
#define GOOGLE_AT_END "opsbrain-at-end" /* "stop" or "destroy" */

/* Returns our labels. New reference. */
json_t *google_labels(const struct desired *desired);
/* Returns our labels and those that others wrote, because a change of the labels replaces all of
 * them. New reference. */
json_t *google_all_labels(const struct desired *desired, const struct observed *now);
/* Reads instance, deployment and end from a resource's labels, and keeps a copy of the labels. */
void google_read_labels(const json_t *labels, struct observed *out);
/* Returns a description that marks a resource without labels as ours. New reference. */
json_t *google_mark(const struct desired *desired);

/* Writes 24 hexadecimal digits, derived from `instance` and `what`, for the names of a deployment's
 * auxiliary resources. `what`: the deployment's full name at the platform. */
#define GOOGLE_TAG_SIZE 25
void google_tag(const struct desired *desired, const char *what, char out[GOOGLE_TAG_SIZE]);

/* Returns the last part of a name: "x" for "projects/P/locations/L/services/x". Borrowed. */
const char *google_last_part(const char *name);
/* Fills in name, place and URL from a resource's full name and the base URL of its service. */
void google_read_name(const char *service, const char *name, struct observed *out);
/* Reads an int64, which Google sends as a string or as a number. Returns 0 for anything else,
 * including a string with a negative number. */
int64_t google_integer(const json_t *object, const char *name);

/* ---- Steps ---- */

/* The names of the resources that a machine needs besides itself (google_machine.h). */
struct google_machine {
    /* the machine's network tag, by which the firewall finds it; also the firewall's name */
    char tag[32];
    char secret[40]; /* the key's name in Secret Manager */
    char firewall_url[512];
    char secret_url[512];
};
/* The names of a Cloud Scheduler job, and of the account with which it sends its one request. */
struct google_end {
    char account[128]; /* e-mail address */
    char job_url[512];
};

/* A verb's steps while they are being made. */
struct google_list {
    const struct desired *desired;
    const struct observed *now;
    struct step **steps;
    size_t *count;
    /* Each provider fills in only those of the following members that it uses. */
    char url[512];        /* the resource's URL */
    char queued_url[512]; /* Cloud TPU: the URL of the queued resource that requests the node */
    struct google_machine machine;
    struct google_end end;
};

/* How a provider makes the steps for each verb. */
struct google_verbs {
    CHECKED bool (*check)(enum provider_verb verb, const struct desired *desired,
                          const struct observed *now, struct error *error);
    void (*name)(struct google_list *list); /* fills in the list's URLs and names */
    void (*add[VERB_COUNT])(const struct google_list *list);
};
/* Implements provider.steps. */
CHECKED bool google_steps(const struct google_verbs *verbs, enum provider_verb verb,
                          const struct desired *desired, const struct observed *now,
                          struct step **out, size_t *count, struct error *error);

/* Adds a step. `url` is also its resource; the deployment's name and place are appended to the
 * summary. The returned step is valid until the next one is added. */
struct step *google_add(const struct google_list *list, const char *name, const char *method,
                        const char *url, const char *summary);
/* For each secret of the recipe, adds a step "secret-NAME" that checks that the secret exists. */
void google_add_secrets(const struct google_list *list);
/* INVALID if one of the recipe's secrets has a name that Secret Manager does not allow. */
CHECKED bool google_check_secrets(const struct recipe *recipe, struct error *error);
/* Adds a step that deletes the resource; a 404 counts as success. */
struct step *google_add_removal(const struct google_list *list, const char *name, const char *url,
                                const char *summary);
/* Turns a POST step into the creation of its resource: the request goes to the resource's parent,
 * and deleting the resource undoes it. */
void google_set_creation(struct step *step);
/* Appends a parameter to the step's URL. `value`: already percent-encoded. */
void google_add_query(struct step *step, const char *name, const char *value);
/* CONFLICT if the resource to create exists and is somebody else's. NOT_FOUND if the resource does
 * not exist, unless it is to be created or destroyed. INVALID if a creation or an update has no
 * recipe. `what`: the kind of resource, such as "machine". */
CHECKED bool google_check_state(enum provider_verb verb, const struct desired *desired,
                                const struct observed *now, const char *what, struct error *error);
/* Appends the step as a gcloud command. `commands` has pairs of a step's name and its command, such
 * as { "stop", "compute instances stop" }, and ends with NULL; `place` is the option for the place,
 * such as "--zone". The check of a secret has its own command; any other step without a pair is
 * shown as a curl command. */
void google_command(const struct desired *desired, const struct step *step,
                    const char *const commands[][2], const char *place, struct text *out);

/* ---- Scheduled ends ---- */

/* Fills in the names of the job and its account. `what`: the resource's full name at the platform;
 * `region`: the job's. */
void google_end_name(const struct desired *desired, const char *what, const char *region,
                     struct google_end *out);
/* Adds the step "end-account", which creates the account, without any rights. */
void google_end_add_account(const struct google_list *list);
/* Adds the steps "end-before", which deletes an earlier job, and "end", which creates the job.
 * `method`, `url` and `body` are those of the request that the job sends; `body` NULL: none. */
void google_end_add_job(const struct google_list *list, const char *method, const char *url,
                        const char *body);
/* Adds the step "end", which changes the existing job instead of replacing it, so that there is
 * always a job that will end the running server. */
void google_end_add_change(const struct google_list *list, const char *method, const char *url,
                           const char *body);
/* Adds the step "remove-end", which deletes the job. */
void google_end_add_job_removal(const struct google_list *list);
/* Adds the step "remove-end-account", which deletes the job's account. */
void google_end_add_account_removal(const struct google_list *list);
/* INVALID if the end is too far away for a schedule, which has no year. */
CHECKED bool google_end_check(const struct desired *desired, const char *title,
                              struct error *error);

/* ---- Warnings ---- */

struct google_warning {
    bool applies;
    const char *sentence;
};
/* Adds the sentences that apply. */
void google_warn(const struct google_warning *rows, size_t count, json_t *warnings);

/* ---- Outcomes ---- */

/* Sets `error` and returns STEP_FAILED. */
CHECKED enum step_state google_fail(struct error *error, const char *message);
/* Judges a reply whose verdict is not CLOUD_DONE. */
CHECKED enum step_state google_judge_failure(const struct step *step,
                                             const struct cloud_reply *reply, struct error *error);
/* Judges a long-running operation, {"name", "done", "error" or "response"}. Its URL is `base`
 * followed by its name. */
CHECKED enum step_state google_judge_operation(const json_t *operation, const char *base,
                                               char poll_url[1024], struct error *error);
/* Judges a step that waits: it is done once the observed state equals the step's name. A step
 * "ready" fails if the observed state is "failed". */
CHECKED enum step_state google_judge_wait(const struct step *step, const struct observed *now,
                                          char poll_url[1024], struct error *error);
bool google_is_one_of(const char *name, const char *const *names); /* `names` ends with NULL */

/* ---- Lists ---- */

/* The target that is searched, and the list to which each page's resources are added. */
struct google_found {
    const struct fleet_target *target;
    struct observed **list;
    size_t *count;
};
/* A collection of resources. The URL of its pages is SERVICE followed by
 * "projects/PROJECT/PLACES/PLACE/QUERY". */
struct google_collection {
    const char *service, *places; /* such as GOOGLE_COMPUTE and "zones" */
    const char *query;            /* such as "instances?maxResults=100" */
    const char *what;             /* in messages, such as "machines" */
    void (*read)(const json_t *page, const struct google_found *found);
};
/* Lists the resources of all collections in each of the target's places; a row without a service
 * ends `collections`. Adds a warning for a place that the platform reports as unreachable. Free
 * with observed_list_free. */
CHECKED bool google_list_resources(struct cloud *cloud, const struct fleet_target *target,
                                   const struct google_collection *collections,
                                   struct observed **out, size_t *count, json_t *warnings,
                                   struct error *error);

/* ---- Requirements of a target ---- */

/* Checks project, credential and places, which must be zones (`has_zones`) or regions. */
CHECKED bool google_check_target(const struct fleet_target *target, const char *title,
                                 bool has_zones, struct error *error);
/* Adds a finding for each permission. `permissions` ends with NULL. */
CHECKED bool google_check_permissions(struct cloud *cloud, const struct fleet_target *target,
                                      const char *const *permissions, json_t *findings,
                                      struct error *error);
/* Adds a finding for each service: whether its API is enabled. `services` ends with NULL. */
void google_check_services(struct cloud *cloud, const struct fleet_target *target,
                           const char *const *services, json_t *findings);
/* Adds {"need", "ok", "fix"}. Takes over the reference `fix`, which is omitted if `ok`. */
void google_add_finding(json_t *findings, const char *need, bool ok, json_t *fix);

/* Checks that the target's service account, network and bucket exist, if it names them.
 * `for_machines`: a network is always checked, `default` if the target names none. */
void google_check_resources(struct cloud *cloud, const struct fleet_target *target,
                            bool for_machines, json_t *findings);
/* Returns the target's network in Compute Engine's form; `default` if it names none. New
 * reference. */
json_t *google_network(const struct fleet_target *target);

/* The quotas for a place, from which one finding is made: whether at least one is not used up. */
struct google_quotas {
    struct text list; /* "NVIDIA_L4_GPUS 8 (2 used)" */
    bool has_free;
};
/* Adds a quota. `limit` < 0: unlimited. */
void google_quotas_add(struct google_quotas *quotas, const char *name, int64_t limit, int64_t used);
/* Reads a quota for a place (a region or zone) from Cloud Quotas. A quota that cannot be read
 * counts as missing. */
void google_quotas_read(struct cloud *cloud, const char *project, const char *service,
                        const char *quota, const char *place, struct google_quotas *quotas);
/* Adds the finding, and frees the list. */
void google_quotas_finish(struct google_quotas *quotas, const struct fleet_target *target,
                          const char *place, json_t *findings);
/* Adds a finding for each of the target's places: whether at least one of the quotas in `names` is
 * not used up there. These are quotas of `service` in Cloud Quotas. `names` ends with NULL. */
void google_check_quotas(struct cloud *cloud, const struct fleet_target *target,
                         const char *service, const char *const *names, json_t *findings);
