/* SPDX-License-Identifier: Apache-2.0 */
/* What the process asks of the machine for itself, once, before there are threads. */
#pragma once

#include <stdbool.h>

/* Few malloc arenas: each keeps what its threads once needed, so that memory grew for hours. */
void process_limit_memory(void);
/* In release builds no core dump, no debugger and no privilege by a program it starts; in others
 * nothing, for the sanitizers attach to themselves. What the kernel refuses is logged. */
void process_harden(void);
