/* SPDX-License-Identifier: Apache-2.0 */
/* The part of Ollama's API that pulls, loads, lists and unloads models. */
#pragma once

#include "tests/clouds/fake_server.h"

struct fake_ollama {
    struct fake_server *server;
    json_t *library; /* by model: those that can be pulled */
    json_t *models;  /* by model: those on the disk */
    json_t *loaded;  /* by model: its keep_alive */
    json_t *calls;   /* "METHOD path", in order */
    char problem[256];
};

void fake_ollama_start(struct fake_ollama *ollama, int port); /* 0: any */
void fake_ollama_stop(struct fake_ollama *ollama);
