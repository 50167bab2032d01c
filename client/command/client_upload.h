/* SPDX-License-Identifier: Apache-2.0 */
/* opsbrain import FILE..., and other commands that upload files (tool_words.h). */
#pragma once

#include "client/command/client.h"
#include "client/command/tool_words.h"

/* Sends each file with the arguments until one is refused, and shows what the server stored. */
CHECKED bool client_upload(struct client *client, const struct tool_word *word,
                           const char *const *paths, size_t count, const json_t *arguments,
                           struct error *error);
