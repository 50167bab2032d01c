/* SPDX-License-Identifier: Apache-2.0 */
/* The file descriptors of this process. */
#pragma once

#include <stdint.h>

/* Returns how many descriptors are open; 0 if /proc cannot be read. */
int64_t descriptors_count(void);
