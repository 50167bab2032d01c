// SPDX-License-Identifier: Apache-2.0
// Made-up results of a study with 12 context lengths and 13 numbers of users, in which some cells failed.
const USERS = [1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256, 512, 1024];
const CONTEXTS = [128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 49152, 65536, 131072];

export function gridFile() {
    const cells = {};
    for (const [row, input] of CONTEXTS.entries())
        for (const [column, users] of USERS.entries()) {
            const rate = (4000 * users) / (users + 40) / (1 + row);
            const ttft = 20 * (1 + row) * (1 + users / 60);
            cells[`c${input}-u${users}`] =
                row * column > 110
                    ? { concurrency: users, input_len: input, status: 'failed', error: 'timed out' }
                    : {
                          ...{ concurrency: users, input_len: input, status: 'ok', completed: 8 * users },
                          ...{ output_tok_per_s: rate, ttft_ms: { mean: ttft, p50: ttft, p99: 3 * ttft } },
                      };
        }
    return JSON.stringify({ 'study/model-70b': { boot: { max_model_len: 131072 }, cells } });
}
