/* SPDX-License-Identifier: Apache-2.0 */
/* A fake of the part of Ollama's API that pulls, loads, lists and unloads models. */
#pragma once

#include "tests/clouds/fake_server.h"

struct fake_ollama {
    struct fake_server *server;
    json_t *library;   /* the models that can be pulled, by name */
    json_t *models;    /* the models on the disk, by name */
    json_t *loaded;    /* the `keep_alive` of each loaded model, by name */
    json_t *calls;     /* "METHOD path", in order */
    char problem[256]; /* what was wrong with a request to /api/generate; "": nothing */
};

void fake_ollama_start(struct fake_ollama *ollama, int port); /* 0: any free port */
void fake_ollama_stop(struct fake_ollama *ollama);
