/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/managed/managed_adopt.h"

#include <string.h>

#include "base/core/memory.h"
#include "base/json/json.h"
#include "fleet/managed/managed_check.h"
#include "fleet/managed/managed_document.h"

int64_t managed_adopt_ends_ms(const struct fleet_frame *frame,
                              const struct managed_adoption *adoption)
{
    const struct observed *observed = adoption->observed;
    bool is_ours = strcmp(observed->instance, frame->instance) == 0
                   && strcmp(observed->deployment, adoption->deployment) == 0;

    return is_ours ? observed->ends_ms : 0;
}

const char *managed_adopt_at_end(const struct managed_target *target,
                                 const struct observed *observed)
{
    bool stops = strcmp(observed->at_end, "destroy") != 0
                 && (target->provider->verbs & VERB_BIT(VERB_STOP)) != 0;

    return stops ? "stop" : "destroy";
}

bool managed_adopt(const struct fleet_frame *frame, const struct managed_adoption *adoption,
                   struct change *change, struct error *error)
{
    int64_t ends_ms = managed_adopt_ends_ms(frame, adoption);
    const char *at_end =
        ends_ms == 0 ? NULL : managed_adopt_at_end(adoption->target, adoption->observed);
    json_auto_t *wish = json_pack("{s:s, s:s*}", "place", adoption->place, "at_end", at_end);
    json_auto_t *observation = managed_document_observation(adoption->observed);
    json_auto_t *door = managed_document_door(adoption->observed);
    FREE_AUTO char *wish_text = json_write(wish);
    FREE_AUTO char *observed_text = json_write(observation);
    FREE_AUTO char *door_text = json_write(door);
    struct fleet_managed_row row = {
        .wish = wish_text, .observed = observed_text, .door = door_text, .ends_ms = ends_ms
    };
    int64_t now_ms = frame->now_ms();

    text_copy(row.deployment, sizeof row.deployment, adoption->deployment);
    text_copy(row.target, sizeof row.target, adoption->target->plain.name);
    text_copy(row.rights, sizeof row.rights, adoption->rights);
    text_copy(row.at_end, sizeof row.at_end, at_end == NULL ? "" : at_end);
    text_copy(row.state, sizeof row.state, managed_check_state(&row, adoption->observed, now_ms));
    return fleet_managed_adopt(frame->store, &row, now_ms, change, error);
}
