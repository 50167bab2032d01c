/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers the plans that each principal reviewed, so that sweep_start needs only a plan's digest.
 * They are kept only in memory: after a restart, or many plans later, callers must give the
 * arguments again. Thread safe. */
#pragma once

#include <jansson.h>

#define REVIEWED_PLANS_MAX 512 /* plans of all principals; the oldest are replaced */

struct reviewed_plans;

struct reviewed_plans *reviewed_plans_create(void);
void reviewed_plans_destroy(struct reviewed_plans *planned); /* does nothing for NULL */
/* Stores the arguments of a plan, unless they are longer than 16 KiB. */
void reviewed_plans_keep(struct reviewed_plans *planned, const char *principal, const char *digest,
                         const json_t *arguments);
/* Returns the plan's arguments; new reference. NULL: they are not stored. */
json_t *reviewed_plans_find(struct reviewed_plans *planned, const char *principal,
                            const char *digest);
