/* SPDX-License-Identifier: Apache-2.0 */
/* The administration requests about the audit log; see admin.h. */
#pragma once

#include <jansson.h>

#include "base/core/error.h"

struct access;

/* {"command": "audit_list", "principal", "tool", "subject", "limit", "before_id", "as_rows"}: the
 * reply has a table in "text". If "as_rows" is true, it has "rows" instead, in the form in which
 * the tool audit_list returns them when its parameter `detail` is true. */
CHECKED bool admin_audit_list(const struct access *access, const json_t *request, json_t **reply,
                              struct error *error);
/* {"command": "audit_verify", "mark"}: "mark" is ROW:DIGEST, or "". The reply has "whole" (whether
 * the log is intact) and "found" (the verdict in words). */
CHECKED bool admin_audit_verify(const struct access *access, const json_t *request, json_t **reply,
                                struct error *error);
/* {"command": "audit_export", "after_id"}: the reply has "rows" (the next rows, oldest first, whose
 * ids are greater than "after_id") and "newest" (the id and digest of the log's newest row). */
CHECKED bool admin_audit_export(const struct access *access, const json_t *request, json_t **reply,
                                struct error *error);
