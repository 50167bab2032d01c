/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the importers: of each, one recognizes a file and one reads it. Private to
 * analysis/import/. */
#pragma once

#include "analysis/import/import.h"

#define IMPORTER(name)                                                                             \
    bool import_sniff_##name(const char *bytes, size_t length);                                    \
    bool import_read_##name(const struct import_file *file, struct evidence *out,                  \
                            struct error *error);
IMPORTER(vllm)
IMPORTER(sglang)
IMPORTER(inferencex)
IMPORTER(llama_bench)
IMPORTER(guidellm)
IMPORTER(genai_perf)
IMPORTER(aiperf)
IMPORTER(aiperf_records)
IMPORTER(inference_perf)
IMPORTER(serving_report)
IMPORTER(aiperf_csv)
IMPORTER(llmperf)
IMPORTER(trtllm_bench)
IMPORTER(llm_d)
IMPORTER(console)
IMPORTER(summary)
IMPORTER(rows)
IMPORTER(csv)
#undef IMPORTER
