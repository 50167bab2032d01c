/* SPDX-License-Identifier: Apache-2.0 */
#include "handlers/resource.h"

#include <string.h>

/* All resources, in the order in which they are listed. To add one, write resource_<name>.c in the
 * folder for its subject, and add it both to this declaration and to the table below. */
extern const struct resource resource_answers, resource_arguments, resource_cells,
    resource_chart_app, resource_deployment, resource_export_aiperf, resource_export_csv,
    resource_export_serving_report, resource_export_vllm, resource_guide, resource_job,
    resource_metrics, resource_report, resource_run, resource_run_report_html, resource_sweep,
    resource_sweep_cells, resource_sweep_report_html;

const struct resource *const resources[] = {
    &resource_guide,
    &resource_answers,
    &resource_arguments,
    &resource_deployment,
    &resource_metrics,
    &resource_sweep,
    &resource_run,
    &resource_report,
    &resource_run_report_html,
    &resource_sweep_report_html,
    &resource_cells,
    &resource_sweep_cells,
    &resource_export_vllm,
    &resource_export_aiperf,
    &resource_export_csv,
    &resource_export_serving_report,
    &resource_job,
    &resource_chart_app,
    NULL,
};
