/* SPDX-License-Identifier: Apache-2.0 */
/* English words that are a single token in most vocabularies. */
#pragma once

#include <stddef.h>

#define WORDS_COUNT 384

extern const char *const words[WORDS_COUNT];
