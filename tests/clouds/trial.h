/* SPDX-License-Identifier: Apache-2.0 */
/* The trials of every provider: one row for each, with its fake. A new provider is a row in
 * trials.c and a file of earlier resources. */
#pragma once

#include "fleet/cloud/cloud.h"
#include "store/fleet/fleet_targets.h"
#include "tests/clouds/fake_faults.h"

#define TRIAL_DEPLOYMENT "gemma"

struct trial_site;

struct trial {
    struct fleet_target_row target;
    /* A recipe's name, in catalog/recipes/ or in the site's folder `recipes`. NULL ends the table.
     */
    const char *recipe;
    /* File of tests/data/clouds/: {"needed": {path: object}, "foreign": {path: object}}; each
     * '#' in "foreign" stands for a number, so that there are at least 50 foreign objects. */
    const char *world;
    void (*start)(struct trial_site *site);
    void (*stop)(struct trial_site *site);
    /* Sets one condition of the fake, such as "pages", which trial_faults() names; "" clears all.
     * Returns false if the fake has no such condition. */
    bool (*set)(struct trial_site *site, const char *condition);
    bool renews_token; /* after a 401 the credential returns a new token */
    /* The provider is this machine: its requests are not repeated, so that a fault may make a plan
     * fail. Its watchdogs are slow: only `./run clouds` tries it. */
    bool is_here;
};

/* A running fake; trial->start fills the members from `fake` to `recipes`. */
struct trial_site {
    const struct trial *trial;
    void *fake;
    struct fake_server *server;
    json_t *objects; /* by path; borrowed */
    char endpoints[2048];
    /* the contents of the target's credential file; "": none */
    char credential[1024];
    const struct cloud_machine *machine; /* NULL: none */
    char recipes[64];                    /* a folder with further recipes; "": none */
    json_t *before;                      /* the earlier resources: foreign and needed ones */
    struct fake_faults faults;
};

const struct trial *trial_all(void); /* ends with a row without a recipe */
/* The main of a program that opens a trial's site calls this first, because the program is also
 * called as a watchdog. Returns true, and sets the exit status, if it was called as a watchdog. */
bool trial_main(int count, char **arguments, int *status);
const struct trial *trial_find(const char *provider); /* NULL: there is none */

void trial_site_start(struct trial_site *site, const struct trial *trial);
void trial_site_stop(struct trial_site *site);
/* Restores the resources of the start. No request gets a fault afterwards, and no process is
 * killed; a condition stays. */
void trial_site_reset(struct trial_site *site);
/* Returns the paths of the resources that were not there at the start, as an array that the caller
 * releases. */
json_t *trial_site_made(struct trial_site *site);
/* Returns the path of an earlier resource that is gone or changed; NULL if there is none. The
 * caller frees it. */
char *trial_site_touched(struct trial_site *site);
