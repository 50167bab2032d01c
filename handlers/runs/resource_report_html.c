/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain://runs/{id}/report.html, opsbrain://sweeps/{id}/report.html: the report as one file. */

#include "handlers/resource.h"
#include "handlers/runs/report_document.h"

static CHECKED bool read(struct call *call, const char *value, struct text *out,
                         struct error *error)
{
    REPORT_DOCUMENT_AUTO document = { 0 };

    if (!report_document_find(call, value, &document, error))
        return false;
    document_write(&document.document, out);
    return true;
}

#define HELP                                                                                       \
    "The report as one HTML file with charts, for people: verdict, audit, figures, provenance. "   \
    "Save it for them; to read the report yourself, call run_report."

const struct resource resource_run_report_html = {
    .name = "run-report-html",
    .uri = "opsbrain://runs/{id}/report.html",
    .title = "Report on a run as a file",
    .help = HELP,
    .mime_type = "text/html",
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .instances = &run_instances,
    .unlisted = true,
    .read = read,
};

const struct resource resource_sweep_report_html = {
    .name = "sweep-report-html",
    .uri = "opsbrain://sweeps/{id}/report.html",
    .title = "Report on a sweep as a file",
    .help = HELP,
    .mime_type = "text/html",
    .role = ROLE_VIEWER,
    .placement = PLACE_WORKER,
    .instances = &sweep_instances,
    .unlisted = true,
    .read = read,
};
