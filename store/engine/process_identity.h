/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies a process by a string, so that other processes on the same machine can check whether
 * it has ended. Private to store/. */
#pragma once

#include <stdbool.h>

#define PROCESS_IDENTITY_SIZE 160

/* Writes the identity of the calling process, or "" if it cannot be read from /proc. */
void process_identity_write(char out[PROCESS_IDENTITY_SIZE]);
/* Returns true only if the process has certainly ended. Returns false if the identity is from
 * another machine, boot or PID namespace, because nothing is certain about that process. */
bool process_identity_is_gone(const char *identity);
