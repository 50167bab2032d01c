/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/prompt.h"

#include <string.h>

/* All prompts, sorted by name. To add one, write prompts/prompt_<name>.c and add its name to both
 * lists below. */
extern const struct prompt prompt_benchmark_a_deployment, prompt_compare_deployments,
    prompt_cost_report, prompt_diagnose_a_deployment;

const struct prompt *const prompts[] = {
    &prompt_benchmark_a_deployment,
    &prompt_compare_deployments,
    &prompt_cost_report,
    &prompt_diagnose_a_deployment,
    NULL,
};

const struct prompt *prompt_find(const struct prompt *const *table, const char *name)
{
    for (size_t i = 0; table[i] != NULL; i++)
        if (strcmp(table[i]->name, name) == 0)
            return table[i];
    return NULL;
}
