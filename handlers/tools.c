/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "handlers/tool.h"

/* All tools, in order of name. To add a tool, write tool_<name>.c in the folder for its subject and
 * add its name to both lists below. */
extern const struct tool tool_audit_list, tool_chart_draw, tool_dataset_import, tool_dataset_list,
    tool_deployment_adopt, tool_deployment_apply, tool_deployment_destroy, tool_deployment_discover,
    tool_deployment_extend, tool_deployment_list, tool_deployment_plan, tool_deployment_register,
    tool_deployment_remove, tool_deployment_scale, tool_deployment_show, tool_deployment_start,
    tool_deployment_stop, tool_deployment_update, tool_fleet_list, tool_job_cancel, tool_job_list,
    tool_job_show, tool_lease_list, tool_metrics_history, tool_metrics_show, tool_metrics_watch,
    tool_model_health, tool_model_query, tool_model_show, tool_plan_approve, tool_plan_show,
    tool_recipe_import, tool_recipe_list, tool_recipe_show, tool_run_audit, tool_run_chart,
    tool_run_compare, tool_run_export, tool_run_import, tool_run_list, tool_run_report,
    tool_run_show, tool_secret_bind, tool_sweep_cancel, tool_sweep_list, tool_sweep_plan,
    tool_sweep_resume, tool_sweep_show, tool_sweep_start, tool_target_list, tool_target_register,
    tool_target_remove, tool_target_show;

/* clang-format off */ /* one line for each tool */
const struct tool *const tools[] = {
    &tool_audit_list,
    &tool_chart_draw,
    &tool_dataset_import,
    &tool_dataset_list,
    &tool_deployment_adopt,
    &tool_deployment_apply,
    &tool_deployment_destroy,
    &tool_deployment_discover,
    &tool_deployment_extend,
    &tool_deployment_list,
    &tool_deployment_plan,
    &tool_deployment_register,
    &tool_deployment_remove,
    &tool_deployment_scale,
    &tool_deployment_show,
    &tool_deployment_start,
    &tool_deployment_stop,
    &tool_deployment_update,
    &tool_fleet_list,
    &tool_job_cancel,
    &tool_job_list,
    &tool_job_show,
    &tool_lease_list,
    &tool_metrics_history,
    &tool_metrics_show,
    &tool_metrics_watch,
    &tool_model_health,
    &tool_model_query,
    &tool_model_show,
    &tool_plan_approve,
    &tool_plan_show,
    &tool_recipe_import,
    &tool_recipe_list,
    &tool_recipe_show,
    &tool_run_audit,
    &tool_run_chart,
    &tool_run_compare,
    &tool_run_export,
    &tool_run_import,
    &tool_run_list,
    &tool_run_report,
    &tool_run_show,
    &tool_secret_bind,
    &tool_sweep_cancel,
    &tool_sweep_list,
    &tool_sweep_plan,
    &tool_sweep_resume,
    &tool_sweep_show,
    &tool_sweep_start,
    &tool_target_list,
    &tool_target_register,
    &tool_target_remove,
    &tool_target_show,
    NULL,
};
/* clang-format on */

const struct tool *tool_find(const char *name)
{
    for (size_t i = 0; tools[i] != NULL; i++)
        if (strcmp(tools[i]->name, name) == 0)
            return tools[i];
    return NULL;
}
