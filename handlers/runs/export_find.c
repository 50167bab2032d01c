/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/runs/export_find.h"

#include <math.h>

bool export_find(struct call *call, const char *run, struct evidence *out, struct error *error)
{
    const struct audit_input input = {
        .evidence = out,
        .catalog = call->services->catalog,
        .chips = NAN,
    };
    FINDINGS_AUTO findings = { 0 };

    if (!evidence_find(call->services->store, run, out, error))
        return false;
    audit_run(&input, &findings);
    export_mark(out, &findings);
    return true;
}
