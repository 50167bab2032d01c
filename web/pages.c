/* SPDX-License-Identifier: Apache-2.0 */
#include "web/overview.h"
#include "web/page.h"

const struct page pages[] = {
    { "GET", "/", ROLE_VIEWER, .write = overview_write },
    { 0 },
};
