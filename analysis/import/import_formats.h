/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the importers. Each importer has a function that reads a file. If the `keys` in
 * struct importer are not enough to identify its format, it also has a function that recognizes the
 * format. Private to analysis/import/. */
#pragma once

#include "analysis/import/import.h"

#define BY_KEYS(name)                                                                              \
    CHECKED bool import_read_##name(const struct import_file *file, struct evidence *out,          \
                                    struct error *error);
#define BY_SNIFFING(name)                                                                          \
    bool import_sniff_##name(const char *bytes, size_t length);                                    \
    BY_KEYS(name)
BY_SNIFFING(vllm)
BY_KEYS(sglang)
BY_SNIFFING(inferencex)
BY_SNIFFING(llama_bench)
BY_KEYS(guidellm)
BY_SNIFFING(genai_perf)
BY_SNIFFING(aiperf)
BY_KEYS(aiperf_records)
BY_KEYS(inference_perf)
BY_KEYS(serving_report)
BY_SNIFFING(aiperf_csv)
BY_KEYS(llmperf)
BY_KEYS(trtllm_bench)
BY_SNIFFING(llm_d)
BY_SNIFFING(console)
BY_SNIFFING(summary)
BY_SNIFFING(rows)
BY_SNIFFING(csv)
#undef BY_SNIFFING
#undef BY_KEYS
