/* SPDX-License-Identifier: Apache-2.0 */
/* A trial runs a provider's verbs (create, stop, ...) against a fake of the provider's platform.
 * There is one trial for each provider: a new provider needs a row in trials.c, and a file in
 * tests/data/clouds/ with the resources that exist at the start. */
#pragma once

#include "fleet/cloud/cloud.h"
#include "store/fleet/fleet_targets.h"
#include "tests/clouds/fake_faults.h"

#define TRIAL_DEPLOYMENT "gemma"

struct trial_site;

struct trial {
    struct fleet_target_row target;
    /* Name of a recipe in the folder catalog/recipes/ or site->recipes. NULL ends the table. */
    const char *recipe;
    /* File in tests/data/clouds/ with the resources that exist at the start: {"needed": {path:
     * object}, "foreign": {path: object}}. The "foreign" objects belong to someone else. They are
     * copied until there are at least 50; in each copy, a different number replaces '#'. */
    const char *world;
    void (*start)(struct trial_site *site);
    void (*stop)(struct trial_site *site);
    /* Sets the fake's condition, which changes how it behaves until the next call. "" clears it.
     * The conditions' names, such as "pages", are in trial_faults(). Returns false if `condition`
     * is "" or the fake has no such condition. */
    bool (*set)(struct trial_site *site, const char *condition);
    bool renews_token; /* after a reply with status 401, the credential gets a new token */
    /* The provider is this machine. Its requests are not repeated, so any fault can make a plan
     * fail. Its watchdogs are slow, so only `./run clouds` runs this trial. */
    bool is_here;
};

/* A running fake; trial->start fills in the members from `fake` to `recipes`. */
struct trial_site {
    const struct trial *trial;
    void *fake;
    struct fake_server *server;
    json_t *objects; /* the fake's objects, by path; borrowed */
    char endpoints[2048];
    /* The contents of the target's credential file; "": the target has no such file. */
    char credential[1024];
    const struct cloud_machine *machine; /* NULL unless trial->is_here */
    char recipes[64];                    /* a folder with more recipes; "": none */
    json_t *before;                      /* the resources that exist at the start, by path */
    struct fake_faults faults;
};

const struct trial *trial_all(void); /* ends with a row without a recipe */
/* The main function of a program that runs this machine's trial must call this first, because that
 * trial also starts the program as its watchdog. If the program was started as the watchdog, runs
 * the watchdog, sets *status to the exit status, and returns true. */
bool trial_main(int count, char **arguments, int *status);
const struct trial *trial_find(const char *provider); /* NULL: there is none */

void trial_site_start(struct trial_site *site, const struct trial *trial);
void trial_site_stop(struct trial_site *site);
/* Restores the resources that existed at the start, and removes all others. Afterwards no request
 * gets a fault, and no process is killed. The fake's condition stays as it is. */
void trial_site_reset(struct trial_site *site);
/* Returns the paths of the resources that were not there at the start, as an array that the caller
 * releases. */
json_t *trial_site_made(struct trial_site *site);
/* Returns the path of a resource that existed at the start and is gone or changed; NULL if there is
 * none. The caller frees it. */
char *trial_site_touched(struct trial_site *site);
