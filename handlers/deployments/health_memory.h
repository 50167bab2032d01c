/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers the latest answer of model_health for each revision of a deployment, while it is
 * recent. Viewers may not cause work at will: they get that answer. If there is none, they take
 * turns, so that one viewer's call at a time reaches the model. Thread safe. */
#pragma once

#include "handlers/tool.h"

/* Seconds for which an answer counts as recent. */
#define HEALTH_KEPT_S 30

struct health_memory;

struct health_memory *health_memory_create(void);
void health_memory_destroy(struct health_memory *memory); /* does nothing for NULL */

enum health_turn {
    /* It is the caller's turn: it asks the model, then calls health_memory_end_turn. */
    HEALTH_ASK,
    HEALTH_KNOWN,     /* there is an answer from less than HEALTH_KEPT_S ago */
    HEALTH_CANCELLED, /* `cancelled` became true during another call's turn */
};
/* Waits while it is another call's turn. HEALTH_KNOWN: *answer gets a copy, and *age_s its age in
 * seconds. */
enum health_turn health_memory_get(struct health_memory *memory,
                                   const struct deployment *deployment,
                                   bool (*cancelled)(void *context), void *context,
                                   struct answer *answer, double *age_s);
/* Stores the answer. A call that did not get its turn from health_memory_get may do this, too. */
void health_memory_set(struct health_memory *memory, const struct deployment *deployment,
                       const struct answer *answer);
/* Ends the turn of the call that got HEALTH_ASK. If there still is no recent answer, it is the turn
 * of one of the waiting calls. */
void health_memory_end_turn(struct health_memory *memory, const struct deployment *deployment);
