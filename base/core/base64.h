/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes as base64 (RFC 4648, with padding). */
#pragma once

#include "base/core/text.h"

void base64_add(struct text *out, const void *bytes, size_t length);
