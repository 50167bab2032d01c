/* SPDX-License-Identifier: Apache-2.0 */
/* Process-wide system settings, made once, before there are threads. */
#pragma once

#include <stdbool.h>

/* Few malloc arenas: each keeps the memory that its threads once needed, so memory would grow for
 * hours. */
void process_limit_memory(void);
/* In release builds no core dump, no debugger and no privilege by a program it starts; in others
 * nothing, for the sanitizers attach to themselves. What the kernel refuses is logged. */
void process_harden(void);
