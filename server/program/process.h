/* SPDX-License-Identifier: Apache-2.0 */
/* Process-wide system settings, made once, before there are threads. */
#pragma once

#include <stdbool.h>

/* Few malloc arenas: each keeps the memory that its threads once needed, so memory would grow for
 * hours. */
void process_limit_memory(void);
/* In release builds: no core dumps, no debugger, and no new privileges for programs it starts. In
 * other builds it does nothing, since sanitizers attach to their own process. What the kernel
 * refuses is logged. */
void process_harden(void);
