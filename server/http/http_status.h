/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP status that reports an error to the callers of uploads and pages. */
#pragma once

#include "base/core/error.h"

unsigned http_status_of(const struct error *error);
