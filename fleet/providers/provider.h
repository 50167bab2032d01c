/* SPDX-License-Identifier: Apache-2.0 */
/* The platforms on which model servers are deployed. Each has a row in the table in providers.c,
 * through which the rest of the program calls it. A verb is first turned into a list of requests
 * (by `steps`, which does no I/O), so that a plan can show exactly what will be sent when it is
 * applied. */
#pragma once

#include "base/core/text.h"
#include "fleet/cloud/cloud.h"
#include "fleet/providers/target.h"

struct recipe; /* fleet/recipes/recipe.h */

enum provider_verb {
    VERB_CREATE = 1,
    VERB_UPDATE,
    VERB_START,
    VERB_STOP,
    VERB_SCALE,
    VERB_EXTEND,
    VERB_DESTROY,
    VERB_COUNT,
};
#define VERB_BIT(verb) (1U << (verb))
const char *provider_verb_name(enum provider_verb verb); /* "create", ...; static */

/* The wanted state of a deployment. All pointers are borrowed. */
struct desired {
    const struct fleet_target *target;
    const struct recipe *recipe; /* NULL if not known: only create and update need it */
    const char *deployment;      /* name of the deployment and of its resources */
    const char *instance;        /* the id of this opsbrain, which marks all that it creates */
    const char *place;           /* one of the target's regions or zones; "" if it has none */
    /* how the hardware is bought: "on_demand", "spot", "flex_start", "reserved"; "": not given */
    const char *kind;
    int64_t made_ms;   /* UTC: when the plan was made */
    int64_t ends_ms;   /* UTC: when the deployment ends; 0: never */
    bool end_destroys; /* true: the end destroys the deployment; false: the end only stops it */
    int64_t replicas;  /* 0: the recipe's maximum */
    const char *request_seed; /* the plan's id, from which the ids of its requests are derived */
};

const char *desired_at_end(const struct desired *desired); /* "stop" or "destroy"; static */
/* Returns the maximum number of servers that run at once: `replicas` or, if that is 0, the recipe's
 * maximum. Returns 1 if neither is known. */
int64_t desired_replicas(const struct desired *desired);

/* One request of a plan. The steps are sent in order, each after the previous one is done. If the
 * last step is a GET that only waits for the server, it is not sent: fleet/managed observes the
 * server instead. */
struct step {
    char name[64];         /* unique in the plan: "service", "end", "firewall" */
    char method[8];        /* GET for a step that only checks or waits */
    char url[1024];        /* in the form that cloud_call takes */
    char content_type[64]; /* of the body or, for a GET, of the reply; "": application/json */
    json_t *body;          /* NULL for none; never contains a secret */
    /* URL of the same request as a dry run, sent while the plan is made; "" if there is none. A
     * GET with such a URL checks a precondition, such as that a secret exists. The plan is refused
     * unless the outcome of the dry run is STEP_DONE or STEP_WAIT. */
    char dry_run_url[1024];
    /* URL of what the step creates, changes, deletes or reads. If the reply is lost, a GET of this
     * URL can show whether the request was carried out. */
    char resource[512];
    /* If the plan fails or is cancelled, a DELETE of this URL removes what the step created; "": it
     * is not removed. */
    char undo_url[1024];
    bool creates; /* the step creates `resource`; false: it changes, deletes or reads `resource` */
    bool absent_is_done; /* a 404 is success, as for a deletion */
    /* How long an accepted request is allowed to take. 0: as long as a server is allowed to take to
     * become ready. STEP_WAITS_TO_END: until the deployment's end, for example to wait for
     * capacity. */
    int64_t wait_s;
    char summary[256]; /* "Creates the Cloud Run service gemma (1 x L4, us-east4)" */
};
#define STEP_WAITS_TO_END (-1)
void step_list_free(struct step *steps, size_t count); /* does nothing for NULL */
/* For providers: adds an empty step. The returned pointer is valid until the next step is added. */
struct step *step_list_add(struct step **steps, size_t *count);
/* For providers: returns true if the list has a step for this resource. */
bool step_list_has(const struct step *steps, size_t count, const char *resource);

enum step_state {
    STEP_DONE = 1,
    STEP_WAIT,   /* in progress: GET poll_url, and judge the reply to that */
    STEP_RETRY,  /* not carried out: send the same request again, after reply->retry_after_s */
    STEP_LOST,   /* perhaps carried out: read `resource` to find out, or else send it again */
    STEP_EXISTS, /* a resource with that name already exists, ours or somebody else's */
    STEP_FAILED, /* the step cannot succeed; `error` says why */
};

/* The observed state. Filled in by `observe` and `list`; free with observed_finish. */
struct observed {
    bool exists;
    char name[128];     /* its name at the provider */
    char resource[512]; /* URL, as in a step */
    /* absent, pending, starting, ready, stopping, stopped, failed, deleting */
    char state[24];
    /* how far startup has come: capacity, image, weights, compile, ready; "": not known */
    char phase[24];
    char message[512];  /* how the provider explains the state; "" for none */
    char address[1025]; /* base URL of the server; "" until there is one */
    char log_line[256]; /* the last available line of its log; "" for none */
    /* distinguishes this resource from a later one with the same name; "": nothing does */
    char uid[64];
    char revision[128], etag[128], image_digest[128], machine[64], place[64];
    /* the version of its specification: a number that each change increments or, on Cloud TPU, the
     * creation time; "": not known */
    char generation[32];
    char last_changed_by[256];         /* who changed it last, if the provider reports it */
    char instance[64], deployment[64]; /* from its labels; "": it lacks that label */
    bool ours;       /* its labels name our instance and this deployment; not filled in by `list` */
    bool sleeps;     /* it scales to zero: without requests no server runs */
    int64_t ends_ms; /* as recorded at the provider, such as in labels; 0: none */
    char at_end[16]; /* also as recorded there: "stop" or "destroy"; "": none */
    int64_t replicas, ready_replicas;
    json_t *labels; /* all of its labels if changing one means sending them all; else NULL */
    json_t *fields; /* the values that are compared for drift, such as {"replicas": 1}; or NULL */
};
void observed_finish(struct observed *observed);
/* Sets state, phase and message. The message is made printable and truncated to fit. */
void observed_set_state(struct observed *out, const char *state, const char *phase,
                        const char *message);
/* Formats text that contains words from a platform: makes it printable, and truncates it to fit. */
void observed_write(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns true if the labels are those of the wanted deployment. */
bool observed_is_of(const struct observed *observed, const struct desired *desired);
/* Returns true if an end is wanted and differs, in whole seconds, from the observed one. */
bool observed_end_moves(const struct observed *now, const struct desired *desired);
void observed_list_free(struct observed *list, size_t count); /* does nothing for NULL */
/* For providers: adds an empty entry. The returned pointer is valid until the next one is added. */
struct observed *observed_list_add(struct observed **list, size_t *count);

/* ---- For providers: what several platforms share ---- */

/* INVALID unless a deployment's name can name a resource: it consists of a-z, 0-9 and '-', begins
 * with a letter, does not end with '-', and is shorter than `size`. */
CHECKED bool provider_check_name(const char *name, const char *title, size_t size,
                                 struct error *error);
/* Returns a cron schedule in UTC for the first whole minute that is not before `at_ms`. A schedule
 * has no year, so it recurs each year. New reference. */
json_t *provider_schedule(int64_t at_ms);
/* Sets "command" and "args" of a container, in the form that Kubernetes and Cloud Run take. The
 * recipe's `command`, if it has one, becomes "command", which replaces the image's program; the
 * rest of the recipe's command line becomes "args". */
void provider_set_program(const struct desired *desired, json_t *container);
/* Adds the members of a container that are compared for drift. A missing member is added as null,
 * and a missing environment as the digest of an empty text, so that setting it later counts as a
 * difference. Other people may have put secrets into the environment, so only its digest is added;
 * secrets in the command line are masked. */
void provider_compare_container(const json_t *container, json_t *fields);
/* Decodes a server's key, which a secret store returns in base64. Returns false unless the
 * key is text of 1 to SECRET_VALUE_SIZE - 1 bytes. */
CHECKED bool provider_read_key(const char *base64, char out[SECRET_VALUE_SIZE]);
/* Returns a short digest of the text. New reference. */
json_t *provider_digest(const char *text);

/* ---- The table ---- */

struct provider {
    const char *name, *title;      /* "kubernetes", "Kubernetes" */
    unsigned verbs;                /* the VERB_BITs of the verbs that it supports */
    const char *lacks[VERB_COUNT]; /* for each other verb, why the provider does not support it */
    const char *lock;              /* how access to its servers is protected */
    /* Checks, without I/O, that a target has what the platform needs, in the right form. */
    CHECKED bool (*check_target)(const struct fleet_target *target, struct error *error);
    /* Makes the requests for a verb, without I/O: the same input gives the same bytes. `now` is
     * what observe() found. Fails if the platform is known to refuse them. Free with
     * step_list_free. */
    CHECKED bool (*steps)(enum provider_verb verb, const struct desired *desired,
                          const struct observed *now, struct step **out, size_t *count,
                          struct error *error);
    /* Judges a reply to a step, to its dry run, or to a GET of its poll_url, without I/O. `error`
     * is set unless the step is done or waits. */
    CHECKED enum step_state (*outcome)(const struct step *step, const struct cloud_reply *reply,
                                       char poll_url[1024], struct error *error);
    /* Returns the part of a resource's document that has its labels, or the document itself if the
     * labels are at its top level or in its "metadata". Borrowed. This member is NULL for
     * platforms whose documents always have the labels there. */
    const json_t *(*labelled)(const json_t *resource);
    /* Observes the deployment. Also returns true if it does not exist (state "absent"). */
    CHECKED bool (*observe)(struct cloud *cloud, const struct desired *desired,
                            struct observed *out, struct error *error);
    /* Lists the model servers on the target, whoever made them. `warnings`: gets a sentence for
     * each part that could not be read. Free with observed_list_free. */
    CHECKED bool (*list)(struct cloud *cloud, const struct fleet_target *target,
                         struct observed **out, size_t *count, json_t *warnings,
                         struct error *error);
    /* Adds {"need": "create deployments in llm", "ok": false, "fix": "..."} to `findings` for each
     * thing that the verbs need. Returns false if the platform did not say what the credential
     * permits. */
    CHECKED bool (*check)(struct cloud *cloud, const struct fleet_target *target, json_t *findings,
                          struct error *error);
    /* Adds a warning for each thing that is allowed but unwise, besides those that recipe_lint
     * finds. Does no I/O. */
    void (*lint)(const struct desired *desired, json_t *warnings);
    /* Appends the step as a shell command, for the platform's own tool where possible, or as a
     * comment if no command can do it. Does no I/O. */
    void (*command)(const struct desired *desired, const struct step *step, struct text *out);
    /* For a deployment with an end: returns a sentence about its guard, which is what ends the
     * server if opsbrain is gone; NULL if there is no guard. Static. */
    const char *(*describe_guard)(const struct desired *desired);
    /* Reads the bearer token that the server accepts now; "" for none. `observed` has only the
     * name, the resource, the address and the place. */
    CHECKED bool (*key)(struct cloud *cloud, const struct observed *observed,
                        char out[SECRET_VALUE_SIZE], struct error *error);
    bool keeps_replicas; /* an update or extension keeps the number of servers, unless it is 0 */
    /* How long a key can be cached; 0: not at all, for example because `cloud` caches the token. */
    int64_t key_lasts_ms;
};

const struct provider *provider_find(const char *name); /* NULL: there is none */
const struct provider *const *provider_all(void);       /* ends with NULL */
/* UNSUPPORTED if the provider lacks the verb; the message says why. */
CHECKED bool provider_check_verb(const struct provider *provider, enum provider_verb verb,
                                 struct error *error);
