/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP status for an error of a tool, for callers who see one: uploads and pages. */
#pragma once

#include "base/core/error.h"

unsigned http_status_of(const struct error *error);
