/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP status that an error of a tool has where its caller sees one: uploads and pages. */
#pragma once

#include "base/core/error.h"

unsigned http_status_of(const struct error *error);
