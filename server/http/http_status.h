/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP status with which uploads and pages report an error. */
#pragma once

#include "base/core/error.h"

unsigned http_status_of(const struct error *error);
