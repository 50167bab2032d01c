/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the latest answer of model_health for each revision of a deployment as long as the answer
 * is recent. A viewer gets that answer, since viewers are not allowed to make a model work at will.
 * If there is no recent answer, viewers take turns: only one viewer's call at a time queries the
 * model. Thread-safe. */
#pragma once

#include "handlers/tool.h"

/* Seconds for which an answer counts as recent. */
#define HEALTH_KEPT_S 30

struct health_memory;

struct health_memory *health_memory_create(void);
void health_memory_destroy(struct health_memory *memory); /* does nothing for NULL */

enum health_turn {
    /* The caller has the turn: it must query the model, then call health_memory_end_turn. */
    HEALTH_ASK,
    HEALTH_KNOWN,     /* there is an answer less than HEALTH_KEPT_S seconds old */
    HEALTH_CANCELLED, /* `cancelled` returned true while another call had the turn */
};
/* Waits while another call has the turn. HEALTH_KNOWN: the answer was copied to *answer, and *age_s
 * is its age in seconds. */
enum health_turn health_memory_get(struct health_memory *memory,
                                   const struct deployment *deployment,
                                   bool (*cancelled)(void *context), void *context,
                                   struct answer *answer, double *age_s);
/* Stores the answer. A caller without the turn may store one, too. */
void health_memory_set(struct health_memory *memory, const struct deployment *deployment,
                       const struct answer *answer);
/* Ends the turn of the call that got HEALTH_ASK. If there is still no recent answer, the turn goes
 * to one of the waiting calls. */
void health_memory_end_turn(struct health_memory *memory, const struct deployment *deployment);
