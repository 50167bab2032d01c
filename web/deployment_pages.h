/* SPDX-License-Identifier: Apache-2.0 */
/* /deployments, and one of them. */
#pragma once

#include "web/page.h"

CHECKED bool deployment_page_list(const struct page_request *request, struct page_answer *answer,
                                  struct error *error);
/* GET /deployments/{name}: calls its server. */
CHECKED bool deployment_page_show(const struct page_request *request, struct page_answer *answer,
                                  struct error *error);
/* GET /deployments/{name}.json: deployment_show's answer. */
CHECKED bool deployment_page_json(const struct page_request *request, struct page_answer *answer,
                                  struct error *error);
/* POST /deployments/{name}/watch: scrape its metrics from now on, or no longer. */
CHECKED bool deployment_page_watch(const struct page_request *request, struct page_answer *answer,
                                   struct error *error);
