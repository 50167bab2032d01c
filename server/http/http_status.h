/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP status of a tool's error, for callers that see a status: those of uploads and pages. */
#pragma once

#include "base/core/error.h"

unsigned http_status_of(const struct error *error);
