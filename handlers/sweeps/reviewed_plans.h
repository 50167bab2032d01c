/* SPDX-License-Identifier: Apache-2.0 */
/* Plans that were looked at, by who did and by their digest, so that sweep_start can be told which
 * one with its digest alone. In memory: after a restart, or many plans later, the arguments are
 * given again. Threads may share one. */
#pragma once

#include <jansson.h>

#define REVIEWED_PLANS_MAX 512 /* of all principals; the oldest go */

struct reviewed_plans;

struct reviewed_plans *reviewed_plans_create(void);
void reviewed_plans_destroy(struct reviewed_plans *planned); /* NULL is fine */
/* Long arguments are not kept. */
void reviewed_plans_keep(struct reviewed_plans *planned, const char *principal, const char *digest,
                         const json_t *arguments);
/* New reference; NULL: nothing is known of it. */
json_t *reviewed_plans_find(struct reviewed_plans *planned, const char *principal,
                            const char *digest);
