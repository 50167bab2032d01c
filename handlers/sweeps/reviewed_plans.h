/* Plans that were looked at, by who did and by their digest, so that sweep_start can be told which
 * one with its digest alone. In memory: after a restart, or many plans later, the arguments are
 * given again. Threads may share one. */
#pragma once

#include <jansson.h>

#define PLANNED_MAX 512 /* of all principals; the oldest go */

struct planned;

struct planned *planned_create(void);
void planned_destroy(struct planned *planned); /* NULL is fine */
/* Long arguments are not kept. */
void planned_keep(struct planned *planned, const char *principal, const char *digest,
                  const json_t *arguments);
/* New reference; NULL: nothing is known of it. */
json_t *planned_find(struct planned *planned, const char *principal, const char *digest);
