/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain import FILE..., and other commands that upload files (tool_words.h). */
#pragma once

#include "client/command/client.h"
#include "client/command/tool_words.h"

/* Uploads the files one after another, each with the same arguments, and shows what the server
 * stored. Stops at the first failure; the files before it stay stored. */
CHECKED bool client_upload(struct client *client, const struct tool_word *word,
                           const char *const *paths, size_t count, const json_t *arguments,
                           struct error *error);
