/* SPDX-License-Identifier: Apache-2.0 */
#include "web/audit_log_page.h"
#include "web/deployment_pages.h"
#include "web/history.h"
#include "web/import_page.h"
#include "web/job_pages.h"
#include "web/leases.h"
#include "web/overview.h"
#include "web/page.h"
#include "web/register.h"
#include "web/sweep_form.h"

const struct page pages[] = {
    { "GET", "/", ROLE_VIEWER, .write = overview_write },

    { "GET", "/deployments", ROLE_VIEWER, .write = deployment_page_list },
    { "GET", "/deployments/new", ROLE_OPERATOR, .write = register_write },
    { "POST", "/deployments/new", ROLE_OPERATOR, .waits = true, .write = register_take },
    { "GET", "/deployments/{name}", ROLE_VIEWER, .waits = true, .write = deployment_page_show },
    { "POST", "/deployments/{name}/watch", ROLE_OPERATOR, .waits = true,
      .write = deployment_page_watch },
    { "GET", "/history", ROLE_VIEWER, .write = history_write },

    { "GET", "/sweeps/new", ROLE_OPERATOR, .write = sweep_form_write },
    { "POST", "/sweeps/new", ROLE_OPERATOR, .waits = true, .write = sweep_form_take },

    { "GET", "/jobs", ROLE_VIEWER, .write = job_page_list },
    { "GET", "/jobs/{id}", ROLE_VIEWER, .write = job_page_show },
    { "POST", "/jobs/{id}/cancel", ROLE_OPERATOR, .write = job_page_cancel },
    { "GET", "/leases", ROLE_VIEWER, .write = leases_write },
    { "GET", "/audit-log", ROLE_VIEWER, .write = audit_log_page_write },

    { "GET", "/imports", ROLE_VIEWER, .write = import_page_write },
    { "POST", "/imports", ROLE_OPERATOR, .takes_file = true, .write = import_page_take },
    { 0 },
};
