/* SPDX-License-Identifier: Apache-2.0 */
/* What every provider is put to: one row for each, with its fake, and the rest of the tests knows
 * none by name. A new provider is a row in trials.c and a file of what is there before. */
#pragma once

#include "fleet/cloud/cloud.h"
#include "store/fleet/fleet_targets.h"
#include "tests/clouds/fake_faults.h"

#define TRIAL_DEPLOYMENT "gemma"

struct trial_site;

struct trial {
    struct fleet_target_row target;
    const char *recipe; /* of catalog/recipes/ */
    /* File of tests/data/clouds/: {"needed": {path: object}, "foreign": {path: object}}; in what is
     * foreign each '#' is a number: there are 50 of them. */
    const char *world;
    void (*start)(struct trial_site *site);
    void (*stop)(struct trial_site *site);
    /* A condition of the whole world: "pages", "numbers", "operation_error"; false: it has no such.
     */
    bool (*set)(struct trial_site *site, const char *condition);
    bool renews_token; /* a 401 is answered with a new one */
    /* It is this machine, which is told each thing once: a fault may be a failure. Its watchdogs
     * take their time, so that only `./run clouds` tries it. */
    bool is_here;
};

/* A fake that runs, filled by trial->start. */
struct trial_site {
    const struct trial *trial;
    void *fake;
    struct fake_server *server;
    json_t *objects; /* by path; borrowed */
    char endpoints[2048];
    char credential[1024];               /* what the target's credential file has; "" */
    const struct cloud_machine *machine; /* NULL: none */
    char recipes[64];                    /* folder of recipes besides the catalogue's; "" */
    json_t *before;                      /* what is there before: the foreign, and what is needed */
    struct fake_faults faults;
};

const struct trial *trial_all(void); /* ends with a row without a recipe */
/* A program that opens a trial's site is the watchdog, too, if it is called as one: its main calls
 * this first. */
bool trial_main(int count, char **arguments, int *status);
const struct trial *trial_find(const char *provider); /* NULL: there is none */

void trial_site_start(struct trial_site *site, const struct trial *trial);
void trial_site_stop(struct trial_site *site);
/* As it was at the start, without a fault. */
void trial_site_reset(struct trial_site *site);
/* What is there now and was not before: paths. New reference. */
json_t *trial_site_made(struct trial_site *site);
/* The path of something foreign that is gone or was changed; NULL: none. free() it. */
char *trial_site_touched(struct trial_site *site);
