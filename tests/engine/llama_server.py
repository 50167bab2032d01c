# SPDX-License-Identifier: Apache-2.0
"""Runs llama-server, as the package xllamacpp embeds it, until it is terminated.

python llama_server.py MODEL.gguf PORT
"""

import signal
import sys

import xllamacpp

SLOTS = 8
CONTEXT_PER_SLOT = 4096


def main():
    parameters = xllamacpp.CommonParams()
    parameters.model.path = sys.argv[1]
    parameters.port = int(sys.argv[2])
    parameters.n_ctx = SLOTS * CONTEXT_PER_SLOT
    parameters.n_parallel = SLOTS
    parameters.endpoint_metrics = True
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


if __name__ == "__main__":
    main()
