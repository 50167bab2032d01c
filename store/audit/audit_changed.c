/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the JSON with which an audit row describes a change: {"member": [before, after]}. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/json/json.h"
#include "store/ledger/deployments.h"
#include "store/ledger/store_private.h"

/* After each member, `changed` is valid JSON, because the brace that closes the object is already
 * there. The next member replaces that brace with a comma. */
static void begin_member(struct text *changed, const char *member)
{
    if (changed->length == 0)
        text_add_char(changed, '{');
    else
        changed->data[changed->length - 1] = ',';
    text_addf(changed, "\"%s\":[", member);
}

void audit_changed_text(struct text *changed, const char *member, const char *before,
                        const char *after)
{
    if (strcmp(before, after) == 0)
        return;
    begin_member(changed, member);
    json_add_string(changed, before, strlen(before));
    text_add_char(changed, ',');
    json_add_string(changed, after, strlen(after));
    text_add(changed, "]}");
}

void audit_changed_number(struct text *changed, const char *member, int64_t before, int64_t after)
{
    if (before == after)
        return;
    begin_member(changed, member);
    text_addf(changed, "%" PRId64 ",%" PRId64 "]}", before, after);
}

/* Like audit_changed_text, but for members that are stored as JSON; "" counts as {}. */
static void changed_json(struct text *changed, const char *member, const char *before,
                         const char *after)
{
    before = before[0] == '\0' ? "{}" : before;
    after = after[0] == '\0' ? "{}" : after;
    if (strcmp(before, after) == 0)
        return;
    begin_member(changed, member);
    text_addf(changed, "%s,%s]}", before, after);
}

void audit_changed_deployment(struct text *changed, const struct deployment *before,
                              const struct deployment *after)
{
    static const struct {
        const char *name;
        size_t offset;
    } texts[] = {
        { "url", offsetof(struct deployment, url) },
        { "model", offsetof(struct deployment, model) },
        { "model_revision", offsetof(struct deployment, model_revision) },
        { "quantization", offsetof(struct deployment, quantization) },
        { "engine", offsetof(struct deployment, engine) },
        { "hardware", offsetof(struct deployment, hardware) },
        { "region", offsetof(struct deployment, region) },
        { "secret", offsetof(struct deployment, secret) },
        { "owner", offsetof(struct deployment, owner) },
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        audit_changed_text(changed, texts[i].name, (const char *)before + texts[i].offset,
                           (const char *)after + texts[i].offset);
    audit_changed_number(changed, "chips", before->chips, after->chips);
    changed_json(changed, "labels", before->labels, after->labels);
    changed_json(changed, "limits", before->limits, after->limits);
}
