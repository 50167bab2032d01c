/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all pages: which function answers which request, and which role it requires. */
#include "web/ask_page.h"
#include "web/audit_log_page.h"
#include "web/chart_file.h"
#include "web/compare_page.h"
#include "web/deployment_pages.h"
#include "web/history.h"
#include "web/import_page.h"
#include "web/job_pages.h"
#include "web/leases.h"
#include "web/overview.h"
#include "web/page.h"
#include "web/plan_page.h"
#include "web/register.h"
#include "web/report_page.h"
#include "web/run_page.h"
#include "web/sweep_form.h"
#include "web/sweep_page.h"

const struct page pages[] = {
    { "GET", "/", ROLE_VIEWER, .write = overview_write },

    { "GET", "/deployments", ROLE_VIEWER, .write = deployment_page_list },
    { "GET", "/register", ROLE_OPERATOR, .write = register_write },
    { "POST", "/register", ROLE_OPERATOR, .waits = true, .write = register_submit },
    { "GET", "/deployments/{name}.json", ROLE_VIEWER, .waits = true,
      .write = deployment_page_json },
    { "GET", "/deployments/{name}", ROLE_VIEWER, .waits = true, .write = deployment_page_show },
    { "POST", "/deployments/{name}/watch", ROLE_OPERATOR, .waits = true,
      .write = deployment_page_watch },
    { "GET", "/history", ROLE_VIEWER, .write = history_write },

    { "GET", "/sweeps/new", ROLE_OPERATOR, .write = sweep_form_write },
    { "POST", "/sweeps/new", ROLE_OPERATOR, .waits = true, .write = sweep_form_submit },

    { "GET", "/jobs", ROLE_VIEWER, .write = job_page_list },
    { "GET", "/jobs/{id}.json", ROLE_VIEWER, .write = job_page_json },
    { "GET", "/jobs/{id}", ROLE_VIEWER, .write = job_page_show },
    { "POST", "/jobs/{id}/cancel", ROLE_OPERATOR, .write = job_page_cancel },
    { "GET", "/leases", ROLE_VIEWER, .write = leases_write },
    { "GET", "/audit-log", ROLE_VIEWER, .write = audit_log_page_write },

    { "GET", "/ask/{id}", ROLE_VIEWER, .write = ask_page_write },
    { "POST", "/ask/{id}", ROLE_VIEWER, .write = ask_page_submit },

    { "GET", "/plans/{id}", ROLE_VIEWER, .write = plan_page_write },
    { "POST", "/plans/{id}", ROLE_OPERATOR, .write = plan_page_submit },

    { "GET", "/imports", ROLE_VIEWER, .write = import_page_write },
    { "POST", "/imports", ROLE_OPERATOR, .takes_file = true, .write = import_page_submit },

    { "GET", "/sweeps", ROLE_VIEWER, .write = sweeps_page_write },
    { "GET", "/sweeps/{id}.html", ROLE_VIEWER, .write = report_page_file },
    { "GET", "/sweeps/{id}.json", ROLE_VIEWER, .write = sweep_page_json },
    { "GET", "/sweeps/{id}.csv", ROLE_VIEWER, .write = sweep_page_csv },
    { "GET", "/sweeps/{id}.svg", ROLE_VIEWER, .write = chart_file_of_plot },
    { "GET", "/sweeps/{id}.png", ROLE_VIEWER, .waits = true, .write = chart_file_of_plot },
    { "GET", "/sweeps/{id}", ROLE_VIEWER, .write = sweep_page_write },
    { "GET", "/sweeps/{id}/{chart}.svg", ROLE_VIEWER, .write = chart_file_of_plot },
    { "GET", "/sweeps/{id}/{chart}.png", ROLE_VIEWER, .waits = true, .write = chart_file_of_plot },
    { "GET", "/sweeps/{id}/{chart}.csv", ROLE_VIEWER, .write = chart_file_of_plot },
    { "GET", "/sweeps/{id}/{chart}.json", ROLE_VIEWER, .write = chart_file_of_plot },
    { "POST", "/sweeps/{id}/cancel", ROLE_OPERATOR, .write = sweep_page_cancel_submit },

    { "GET", "/runs", ROLE_VIEWER, .write = runs_page_write },
    { "GET", "/runs/{id}.html", ROLE_VIEWER, .write = report_page_file },
    { "GET", "/runs/{id}.json", ROLE_VIEWER, .write = run_page_json },
    { "GET", "/runs/{id}.csv", ROLE_VIEWER, .write = run_page_csv },
    { "GET", "/runs/{id}.svg", ROLE_VIEWER, .write = chart_file_of_plot },
    { "GET", "/runs/{id}.png", ROLE_VIEWER, .waits = true, .write = chart_file_of_plot },
    { "GET", "/runs/{id}", ROLE_VIEWER, .write = run_page_write },
    { "GET", "/runs/{id}/{chart}.svg", ROLE_VIEWER, .write = chart_file_of_plot },
    { "GET", "/runs/{id}/{chart}.png", ROLE_VIEWER, .waits = true, .write = chart_file_of_plot },
    { "GET", "/runs/{id}/{chart}.csv", ROLE_VIEWER, .write = chart_file_of_plot },
    { "GET", "/runs/{id}/{chart}.json", ROLE_VIEWER, .write = chart_file_of_plot },

    { "GET", "/compare", ROLE_VIEWER, .write = compare_page_write },
    { "GET", "/compare.html", ROLE_VIEWER, .write = compare_page_file },
    { "GET", "/compare.json", ROLE_VIEWER, .write = compare_page_json },
    { "GET", "/compare.csv", ROLE_VIEWER, .write = chart_file_of_comparison },
    { "GET", "/compare.svg", ROLE_VIEWER, .write = chart_file_of_comparison },
    { "GET", "/compare.png", ROLE_VIEWER, .waits = true, .write = chart_file_of_comparison },
    { "GET", "/compare/forest.svg", ROLE_VIEWER, .write = chart_file_of_comparison },
    { "GET", "/compare/forest.png", ROLE_VIEWER, .waits = true, .write = chart_file_of_comparison },
    { "GET", "/compare/forest.csv", ROLE_VIEWER, .write = chart_file_of_comparison },
    { "GET", "/compare/forest.json", ROLE_VIEWER, .write = chart_file_of_comparison },
    { "GET", "/history.svg", ROLE_VIEWER, .write = chart_file_of_history },
    { "GET", "/history.png", ROLE_VIEWER, .waits = true, .write = chart_file_of_history },
    { "GET", "/history.csv", ROLE_VIEWER, .write = chart_file_of_history },
    { "GET", "/history.json", ROLE_VIEWER, .write = chart_file_of_history },
    { "GET", "/history/chart.svg", ROLE_VIEWER, .write = chart_file_of_history },
    { "GET", "/history/chart.png", ROLE_VIEWER, .waits = true, .write = chart_file_of_history },
    { "GET", "/history/chart.csv", ROLE_VIEWER, .write = chart_file_of_history },
    { "GET", "/history/chart.json", ROLE_VIEWER, .write = chart_file_of_history },
    { 0 },
};
