/* SPDX-License-Identifier: Apache-2.0 */
/* /deployments, and the page of one deployment. */
#pragma once

#include "web/page.h"

CHECKED bool deployment_page_list(const struct page_request *request, struct page_answer *answer,
                                  struct error *error);
/* GET /deployments/{name}: queries the model server for its state and load. */
CHECKED bool deployment_page_show(const struct page_request *request, struct page_answer *answer,
                                  struct error *error);
/* GET /deployments/{name}.json: deployment_show's answer or, if there is no such deployment, the
 * page of the deployment named "{name}.json". */
CHECKED bool deployment_page_json(const struct page_request *request, struct page_answer *answer,
                                  struct error *error);
/* POST /deployments/{name}/watch: sets how often the deployment's metrics are scraped (interval_s;
 * 0: never). */
CHECKED bool deployment_page_watch(const struct page_request *request, struct page_answer *answer,
                                   struct error *error);
