-- Data that version 0.1.0 wrote before migration 0013 of opsbrain.db existed: tests/e2e/upgrade.test.mjs starts a newer server on it.
PRAGMA auto_vacuum=INCREMENTAL;
PRAGMA application_id=1869640546;
PRAGMA user_version=12;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE principals (
    id         INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,
    role       TEXT    NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
    created_ms INTEGER NOT NULL
) STRICT;
INSERT INTO principals VALUES(1,'ada','admin',1795352016140);
INSERT INTO principals VALUES(2,'otto','operator',1795352016190);
INSERT INTO principals VALUES(3,'vera','viewer',1795352016229);
INSERT INTO principals VALUES(4,'gone','admin',1795352016271);
CREATE TABLE api_keys (
    id           TEXT    PRIMARY KEY, -- key_..., shown; the key itself is only kept as a digest
    principal_id INTEGER NOT NULL REFERENCES principals (id),
    digest       BLOB    NOT NULL UNIQUE,
    created_ms   INTEGER NOT NULL,
    expires_ms   INTEGER,
    revoked_ms   INTEGER,
    last_used_ms INTEGER
) STRICT;
INSERT INTO api_keys VALUES('key_6wy6esk7wehfzw7wnjfgwhjqe2',1,X'e522cbe1b1fa2c66b01c5db81e06964f980b958663f90ef26d13189c8dfebc89',1795352016140,NULL,NULL,1795352020260);
INSERT INTO api_keys VALUES('key_7ctr9tsspdk2hd4n7atzwn001g',2,X'7ccaac354ac103bb35cf6c634788645d03e1f7b0266a4d3a36bc2bc3a69893a7',1795352016190,NULL,NULL,1795352027434);
INSERT INTO api_keys VALUES('key_3rfk0b2wg2b10ccyqgd2wd8n6c',3,X'd5dde4c15b92c26b9f933d53b87782fe9fdaeda45f0a5aa8774477f36119e4b8',1795352016229,NULL,NULL,1795352027441);
INSERT INTO api_keys VALUES('key_7pmm2phsgp46wx9mq7maxhnd9d',4,X'dde84c012ad10b37a10dcf0614a745ad82710529e7abc0cb8610801c69be4dfb',1795352016271,NULL,1795352016322,NULL);
CREATE TABLE sessions (
    id               TEXT    PRIMARY KEY,
    principal        TEXT    NOT NULL,
    protocol_version TEXT    NOT NULL,
    client           TEXT    NOT NULL, -- "name/version"
    capabilities     TEXT    NOT NULL, -- JSON
    created_ms       INTEGER NOT NULL,
    last_seen_ms     INTEGER NOT NULL
, heard INTEGER NOT NULL DEFAULT 0, log_level INTEGER) STRICT;
INSERT INTO sessions VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2','otto','2025-11-25','end-to-end/1.0.0','{}',1795352020465,1795352027434,1795352020469,NULL);
INSERT INTO sessions VALUES('ses_556jmtgnmm29aa6xcekyxm43we','vera','2025-11-25','end-to-end/1.0.0','{}',1795352020513,1795352027441,1795352020517,NULL);
CREATE TABLE deployments (
    id         INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,
    revision   INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    retired_ms INTEGER
) STRICT;
INSERT INTO deployments VALUES(1,'by-admin',2,1795352020609,NULL);
INSERT INTO deployments VALUES(2,'by-operator',2,1795352020699,NULL);
INSERT INTO deployments VALUES(3,'operator-secret',1,1795352020734,NULL);
INSERT INTO deployments VALUES(4,'removed',1,1795352021069,NULL);
INSERT INTO deployments VALUES(5,'admin-kept',1,1795352021157,NULL);
CREATE TABLE deployment_revisions (
    deployment_id INTEGER NOT NULL REFERENCES deployments (id),
    revision      INTEGER NOT NULL,
    url           TEXT    NOT NULL, -- without a trailing '/' or '/v1'
    provider      TEXT    NOT NULL, -- 'endpoint' until providers deploy
    model         TEXT    NOT NULL, -- '' where the server's first model is meant
    engine        TEXT    NOT NULL, -- '' where it is to be discovered
    hardware      TEXT    NOT NULL,
    region        TEXT    NOT NULL,
    secret        TEXT    NOT NULL, -- the secret's name, never its value
    labels        TEXT    NOT NULL, -- JSON
    limits        TEXT    NOT NULL, -- JSON: max_instances, container_concurrency, ...
    created_ms    INTEGER NOT NULL,
    created_by    TEXT    NOT NULL, model_revision TEXT NOT NULL DEFAULT '', quantization TEXT NOT NULL DEFAULT '', chips INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (deployment_id, revision)
) STRICT;
INSERT INTO deployment_revisions VALUES(1,1,'http://127.0.0.1:21801','endpoint','','','','','ALPHA','{"team":"a"}','{}',1795352020609,'ada','','',0);
INSERT INTO deployment_revisions VALUES(2,1,'http://127.0.0.1:21801','endpoint','','','1x NVIDIA L4','','','{}','{}',1795352020699,'otto','','',0);
INSERT INTO deployment_revisions VALUES(3,1,'http://127.0.0.1:21801','endpoint','','','','','BETA','{}','{}',1795352020734,'otto','','',0);
INSERT INTO deployment_revisions VALUES(2,2,'http://127.0.0.1:21801','endpoint','','','1x NVIDIA L4','here','','{}','{}',1795352020775,'ada','','',0);
INSERT INTO deployment_revisions VALUES(1,2,'http://127.0.0.1:21801','endpoint','','','by otto','','ALPHA','{"team":"a"}','{}',1795352020981,'otto','','',0);
INSERT INTO deployment_revisions VALUES(4,1,'http://127.0.0.1:21801','endpoint','','','','','','{}','{}',1795352021069,'ada','','',0);
INSERT INTO deployment_revisions VALUES(5,1,'http://127.0.0.1:21801','endpoint','','','','','GAMMA','{}','{}',1795352021157,'ada','','',0);
CREATE TABLE model_facts (
    id             INTEGER PRIMARY KEY,
    deployment_id  INTEGER NOT NULL REFERENCES deployments (id),
    revision       INTEGER NOT NULL,
    observed_ms    INTEGER NOT NULL,
    model          TEXT    NOT NULL,
    engine         TEXT    NOT NULL,
    engine_version TEXT    NOT NULL,
    context_tokens INTEGER, -- NULL: not told
    details        TEXT    NOT NULL -- JSON: flags and the rest, as far as the server tells
) STRICT;
INSERT INTO model_facts VALUES(1,1,1,1795352020614,'simserve/toy','vllm','0.26.0',32768,'{"root":"simserve/toy","block_size":"16","num_gpu_blocks":"1000000","cache_dtype":"auto","enable_prefix_caching":"True","gpu_memory_utilization":"0.9","kv_cache_tokens":16000000,"metrics":true,"tokenize":true}');
INSERT INTO model_facts VALUES(2,2,1,1795352020708,'simserve/toy','vllm','0.26.0',32768,'{"root":"simserve/toy","block_size":"16","num_gpu_blocks":"1000000","cache_dtype":"auto","enable_prefix_caching":"True","gpu_memory_utilization":"0.9","kv_cache_tokens":16000000,"metrics":true,"tokenize":true}');
INSERT INTO model_facts VALUES(3,3,1,1795352020735,'simserve/toy','vllm','0.26.0',32768,'{"root":"simserve/toy","block_size":"16","num_gpu_blocks":"1000000","cache_dtype":"auto","enable_prefix_caching":"True","gpu_memory_utilization":"0.9","kv_cache_tokens":16000000,"metrics":true,"tokenize":true}');
INSERT INTO model_facts VALUES(4,2,2,1795352020793,'simserve/toy','vllm','0.26.0',32768,'{"root":"simserve/toy","block_size":"16","num_gpu_blocks":"1000000","cache_dtype":"auto","enable_prefix_caching":"True","gpu_memory_utilization":"0.9","kv_cache_tokens":16000000,"metrics":true,"tokenize":true}');
INSERT INTO model_facts VALUES(5,1,2,1795352021010,'simserve/toy','vllm','0.26.0',32768,'{"root":"simserve/toy","block_size":"16","num_gpu_blocks":"1000000","cache_dtype":"auto","enable_prefix_caching":"True","gpu_memory_utilization":"0.9","kv_cache_tokens":16000000,"metrics":true,"tokenize":true}');
INSERT INTO model_facts VALUES(6,4,1,1795352021072,'simserve/toy','vllm','0.26.0',32768,'{"root":"simserve/toy","block_size":"16","num_gpu_blocks":"1000000","cache_dtype":"auto","enable_prefix_caching":"True","gpu_memory_utilization":"0.9","kv_cache_tokens":16000000,"metrics":true,"tokenize":true}');
INSERT INTO model_facts VALUES(7,5,1,1795352021178,'simserve/toy','vllm','0.26.0',32768,'{"root":"simserve/toy","block_size":"16","num_gpu_blocks":"1000000","cache_dtype":"auto","enable_prefix_caching":"True","gpu_memory_utilization":"0.9","kv_cache_tokens":16000000,"metrics":true,"tokenize":true}');
CREATE TABLE scrape_targets (
    deployment_id INTEGER PRIMARY KEY REFERENCES deployments (id),
    interval_ms   INTEGER NOT NULL, -- 0: not watched
    last_ms       INTEGER,
    last_error    TEXT    NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE jobs (
    id                  TEXT    PRIMARY KEY,
    kind                TEXT    NOT NULL,
    subject             TEXT    NOT NULL, -- what it works on: the sweep's id
    state               TEXT    NOT NULL CHECK (state IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
    principal           TEXT    NOT NULL,
    created_ms          INTEGER NOT NULL,
    started_ms          INTEGER,
    finished_ms         INTEGER,
    owner               TEXT    NOT NULL DEFAULT '', -- the process that holds the lease
    lease_until_ms      INTEGER NOT NULL DEFAULT 0,
    fence               INTEGER NOT NULL DEFAULT 0,  -- counts claims
    cancel_requested_ms INTEGER,
    progress            REAL    NOT NULL DEFAULT 0,
    progress_total      REAL    NOT NULL DEFAULT 0,
    message             TEXT    NOT NULL DEFAULT '',
    outcome             TEXT    NOT NULL DEFAULT '{}' -- JSON
, updated_ms INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO jobs VALUES('job_6d4zav03qtz8x7shv7e8p7mfp8','sweep','swp_07vhjnq61kshtwgr9vkwewr9mx','completed','otto',1795352021118,1795352021120,1795352027427,'own_2zkx8bq3k6tmr38g1anm3emcja',0,1,NULL,2.0,2.0,'2 of 2 cells done','{"sweep":"swp_07vhjnq61kshtwgr9vkwewr9mx","state":"completed","pending":0,"measured":2,"infeasible":0,"failed":0,"skipped":0,"inferred":0,"seconds":6.0}',1795352027427);
CREATE TABLE fingerprints (
    digest   TEXT PRIMARY KEY,
    document TEXT NOT NULL
) STRICT;
INSERT INTO fingerprints VALUES('c3862dd8a1eccf2888211cda2635f28e14e3751609cb6984fd4c4f794aafe041','{"chips":null,"context_tokens":32768,"engine":"vllm","engine_details":{"block_size":"16","cache_dtype":"auto","enable_prefix_caching":"True","gpu_memory_utilization":"0.9","kv_cache_tokens":16000000,"metrics":true,"num_gpu_blocks":"1000000","root":"simserve/toy","tokenize":true},"engine_version":"0.26.0","hardware":"1x NVIDIA L4","limits":{},"model":"simserve/toy","model_revision":null,"provider":"endpoint","quantization":null,"region":"here","request_form":{"api":"completions","fields":["max_tokens","stream_options","ignore_eos","min_tokens"],"form":"ids","overhead_tokens":0,"piece_count":383,"pieces_sha256":"98180d59e68b941a366129734b3c0d8f6b1eca18ac021f930dbbcf9055cec588","source":"tokenize (vLLM, SGLang)","tells_usage":true,"tokens_per_piece":1.0},"workload":{"api":"completions","dataset_digest":"","frequency_penalty":0.0,"input_distribution":"fixed","input_spread":0.0,"natural_output":false,"output_distribution":"fixed","output_spread":0.0,"prefix_pools":1,"presence_penalty":0.0,"seed":1,"shared_prefix_tokens":0,"stop":[],"temperature":0.0,"top_k":0,"top_p":0.0,"unique_prompts":false}}');
CREATE TABLE sweeps (
    id            TEXT    PRIMARY KEY,
    deployment_id INTEGER NOT NULL REFERENCES deployments (id),
    revision      INTEGER NOT NULL,
    job_id        TEXT    NOT NULL REFERENCES jobs (id), -- the latest job that works on it
    plan          TEXT    NOT NULL, -- JSON
    plan_digest   TEXT    NOT NULL,
    state         TEXT    NOT NULL CHECK (state IN ('planned', 'running', 'completed', 'stopped', 'cancelled', 'failed')),
    reason        TEXT    NOT NULL DEFAULT '', -- why it is not 'completed'
    principal     TEXT    NOT NULL,
    created_ms    INTEGER NOT NULL,
    started_ms    INTEGER,
    finished_ms   INTEGER
) STRICT;
INSERT INTO sweeps VALUES('swp_07vhjnq61kshtwgr9vkwewr9mx',2,2,'job_6d4zav03qtz8x7shv7e8p7mfp8','{"concurrency":[1,2],"input_tokens":[16],"output_tokens":[4],"repetitions":1,"requests":0,"http2_streams":0,"shared_prefix_tokens":0,"prefix_pools":1,"top_k":0,"api":"completions","input_distribution":"fixed","output_distribution":"fixed","natural_output":false,"unique_prompts":false,"arrival":"closed","request_rate":[],"think_time":"fixed","seed":1,"search":"full","limit_percentile":"p99","stop":[],"dataset":"","dataset_digest":"","window_s":1.0,"window_limit_s":0.0,"ci_width":0.0,"burstiness":1.0,"think_time_s":0.0,"ramp_s":0.0,"warmup_limit_s":1.0,"time_limit_s":21600.0,"ttft_timeout_s":120.0,"idle_timeout_s":60.0,"request_timeout_s":600.0,"goodput_ttft_ms":0.0,"goodput_tpot_ms":0.0,"limit_ttft_ms":0.0,"limit_itl_ms":0.0,"limit_tpot_ms":0.0,"limit_e2e_ms":0.0,"limit_error_rate":0.0,"input_spread":0.0,"output_spread":0.0,"temperature":0.0,"top_p":0.0,"presence_penalty":0.0,"frequency_penalty":0.0}','6e4f528daa0a6dffa69088008863deb7726c2dac066997ec92bee5434423d6b9','completed','','otto',1795352021118,1795352022721,1795352027425);
CREATE TABLE attempts (
    id              INTEGER PRIMARY KEY,
    cell_id         INTEGER NOT NULL REFERENCES cells (id),
    number          INTEGER NOT NULL, -- 1, 2, ... within the cell
    job_id          TEXT    NOT NULL REFERENCES jobs (id),
    fence           INTEGER NOT NULL,
    state           TEXT    NOT NULL CHECK (state IN ('running', 'accepted', 'interrupted', 'rejected')),
    reason          TEXT    NOT NULL DEFAULT '',
    started_ms      INTEGER NOT NULL,
    finished_ms     INTEGER,
    workload_digest TEXT    NOT NULL DEFAULT '', -- of every prompt the window's requests were made from
    measurement     TEXT    NOT NULL DEFAULT '{}', -- JSON, by the table in store/measurement.c
    witness         TEXT    NOT NULL DEFAULT '{}', -- JSON: what the server's own metrics said of the window
    UNIQUE (cell_id, number)
) STRICT;
INSERT INTO attempts VALUES(1,1,1,'job_6d4zav03qtz8x7shv7e8p7mfp8',1,'accepted','',1795352022721,1795352025114,'0f44f396bf6223b2fbc19344193dc8d94210673f638d2a17c2e53ba168ed49ec','{"window":{"warmup_s":1.130450513,"window_s":1.049888016,"drain_s":0.000640431,"window_start_ms":1795352023957,"unsettled":true,"throughput_ci":null},"requests":{"attempted":13,"succeeded":13,"success_rate":1.0,"finish_wrong":0,"finish_missing":0,"done_missing":0,"unanswered":0,"unsent":0,"waited_for_room":0,"held":0,"stale_connections":0,"left_open":0},"load":{"concurrency_actual":0.999610430832844,"concurrency_min":0,"concurrency_max":1,"concurrency_expected":1.0,"request_rate_asked":0.0,"request_rate_scheduled":0.0,"request_rate_sent":0.0,"queue_growth":null,"overloaded":false,"little_ratio":0.999415973075219,"contaminated":false},"connections":{"new_connections":1,"connect_p50_ms":0.123165,"connect_p99_ms":0.123165,"tls_p50_ms":null,"tls_p99_ms":null},"tokens":{"input_tokens_requested":16,"input_tokens_requested_mean":16.0,"input_tokens_requested_min":16,"input_tokens_requested_max":16,"input_tokens_differing":0,"input_tokens_difference_max":0,"input_tokens_min":16,"input_tokens_max":16,"input_tokens_mean":16.0,"output_tokens_requested":4,"output_tokens_requested_mean":4.0,"output_tokens_requested_min":4,"output_tokens_requested_max":4,"output_tokens_differing":0,"output_tokens_difference_max":0,"lengths_cut":0,"prompts_repeated":0,"prompts_left_out":0,"shared_tokens":0,"cached_told":0,"output_tokens_min":4,"output_tokens_max":4,"output_tokens_mean":4.0,"input_tokens":208,"cached_tokens":0,"output_tokens":52,"chunks":52,"tokens_per_chunk":1.0,"reasoning_tokens_mean":null,"tokens_estimated":false},"rates":{"request_throughput":12.3822729680534,"input_throughput":198.116367488854,"output_throughput":49.5290918722135,"goodput":12.3822729680534,"output_throughput_deviation":null,"cold_ttft_ms":27.878825},"client":{"lag_p50_ms":0.021568,"lag_p99_ms":1.650688,"start_lag_p99_ms":0.027305,"cpu_percent":0.768267611284455,"ceiling_chunks_s":106498.550689821,"ceiling_share":0.000465068224416199,"client_limited":false},"failures":{},"latency":{"ttft":{"count":13,"censored":0,"mean_ms":20.5282573076923,"min_ms":20.074375,"p50_ms":20.119552,"p90_ms":20.381696,"p95_ms":25.267665,"p99_ms":25.267665,"p999_ms":25.267665,"max_ms":25.267665},"ttst":{"count":13,"censored":0,"mean_ms":19.5742373846154,"min_ms":14.82526,"p50_ms":19.98848,"p90_ms":19.98848,"p95_ms":20.034165,"p99_ms":20.034165,"p999_ms":20.034165,"max_ms":20.034165},"icl":{"count":39,"censored":0,"mean_ms":20.0396374358974,"min_ms":14.82526,"p50_ms":19.98848,"p90_ms":20.119552,"p95_ms":22.60992,"p99_ms":23.458379,"p999_ms":23.458379,"max_ms":23.458379},"itl":{"count":39,"censored":0,"mean_ms":20.0396374358974,"min_ms":14.82526,"p50_ms":19.98848,"p90_ms":20.119552,"p95_ms":22.60992,"p99_ms":23.458379,"p999_ms":23.458379,"max_ms":23.458379},"tpot":{"count":13,"censored":0,"mean_ms":20.039637,"min_ms":18.295798,"p50_ms":19.98848,"p90_ms":20.905984,"p95_ms":21.151806,"p99_ms":21.151806,"p999_ms":21.151806,"max_ms":21.151806},"e2e":{"count":13,"censored":0,"mean_ms":80.6820067692308,"min_ms":80.097028,"p50_ms":80.097028,"p90_ms":82.57536,"p95_ms":83.637474,"p99_ms":83.637474,"p999_ms":83.637474,"max_ms":83.637474}}}','{"state":"full","contaminated":false,"seconds":0.49985773,"restarted":false,"requests":6.0,"input_tokens":96.0,"output_tokens":25.0,"preemptions":0.0,"requests_per_s":12.0034154518327,"input_tokens_per_s":192.054647229323,"output_tokens_per_s":50.0142310493028,"mean_ttft_ms":20.0825778333333,"mean_itl_ms":19.9868524210526,"mean_e2e_ms":80.105368,"mean_queue_ms":0.0,"prefix_hit_rate":0.0,"of":"window","scrapes":2,"requests_running_mean":1.0,"requests_running_max":1.0,"requests_waiting_mean":0.0,"requests_waiting_max":0.0,"kv_cache_use_mean":2e-6,"kv_cache_use_max":2e-6,"client_more_ttft_ms":0.445679474358968,"client_more_itl_ms":0.0527850148448152,"client_more_e2e_ms":0.576638769230797,"model":"simserve/toy (context 32768)","counts":{"requests":{"server":27.0,"ours":27.0,"uncertain":0.0,"ratio":1.0,"foreign":0.0},"input_tokens":{"server":432.0,"ours":432.0,"uncertain":0.0,"ratio":1.0,"foreign":0.0},"output_tokens":{"server":108.0,"ours":108.0,"uncertain":0.0,"ratio":1.0,"foreign":0.0}}}');
INSERT INTO attempts VALUES(2,2,1,'job_6d4zav03qtz8x7shv7e8p7mfp8',1,'accepted','',1795352025120,1795352027423,'0f44f396bf6223b2fbc19344193dc8d94210673f638d2a17c2e53ba168ed49ec','{"window":{"warmup_s":1.043223341,"window_s":1.004607756,"drain_s":0.044375395,"window_start_ms":1795352026270,"unsettled":true,"throughput_ci":null},"requests":{"attempted":25,"succeeded":25,"success_rate":1.0,"finish_wrong":0,"finish_missing":0,"done_missing":0,"unanswered":0,"unsent":0,"waited_for_room":0,"held":0,"stale_connections":0,"left_open":0},"load":{"concurrency_actual":1.99949854757044,"concurrency_min":1,"concurrency_max":2,"concurrency_expected":2.0,"request_rate_asked":0.0,"request_rate_scheduled":0.0,"request_rate_sent":0.0,"queue_growth":null,"overloaded":false,"little_ratio":1.00097849878211,"contaminated":false},"connections":{"new_connections":2,"connect_p50_ms":0.067298,"connect_p99_ms":0.124841,"tls_p50_ms":null,"tls_p99_ms":null},"tokens":{"input_tokens_requested":16,"input_tokens_requested_mean":16.0,"input_tokens_requested_min":16,"input_tokens_requested_max":16,"input_tokens_differing":0,"input_tokens_difference_max":0,"input_tokens_min":16,"input_tokens_max":16,"input_tokens_mean":16.0,"output_tokens_requested":4,"output_tokens_requested_mean":4.0,"output_tokens_requested_min":4,"output_tokens_requested_max":4,"output_tokens_differing":0,"output_tokens_difference_max":0,"lengths_cut":0,"prompts_repeated":0,"prompts_left_out":0,"shared_tokens":0,"cached_told":0,"output_tokens_min":4,"output_tokens_max":4,"output_tokens_mean":4.0,"input_tokens":400,"cached_tokens":0,"output_tokens":99,"chunks":99,"tokens_per_chunk":1.0,"reasoning_tokens_mean":null,"tokens_estimated":false},"rates":{"request_throughput":24.885334450872,"input_throughput":398.165351213952,"output_throughput":98.5459244254531,"goodput":24.885334450872,"output_throughput_deviation":null,"cold_ttft_ms":null},"client":{"lag_p50_ms":0.033152,"lag_p99_ms":1.216512,"start_lag_p99_ms":0.023564,"cpu_percent":1.10452467280031,"ceiling_chunks_s":106498.550689821,"ceiling_share":0.000925326436718093,"client_limited":false},"failures":{},"latency":{"ttft":{"count":25,"censored":0,"mean_ms":20.270556,"min_ms":20.04535,"p50_ms":20.119552,"p90_ms":20.905984,"p95_ms":21.430272,"p99_ms":21.732874,"p999_ms":21.732874,"max_ms":21.732874},"ttst":{"count":25,"censored":0,"mean_ms":20.07811528,"min_ms":18.405,"p50_ms":19.98848,"p90_ms":20.250624,"p95_ms":20.774912,"p99_ms":22.84068,"p999_ms":22.84068,"max_ms":22.84068},"icl":{"count":74,"censored":0,"mean_ms":20.0460872567568,"min_ms":17.19499,"p50_ms":19.98848,"p90_ms":20.250624,"p95_ms":21.430272,"p99_ms":22.844056,"p999_ms":22.844056,"max_ms":22.844056},"itl":{"count":74,"censored":0,"mean_ms":20.0460872567568,"min_ms":17.19499,"p50_ms":19.98848,"p90_ms":20.250624,"p95_ms":21.430272,"p99_ms":22.844056,"p999_ms":22.844056,"max_ms":22.844056},"tpot":{"count":25,"censored":0,"mean_ms":20.04681248,"min_ms":19.479451,"p50_ms":19.98848,"p90_ms":20.119552,"p95_ms":20.381696,"p99_ms":20.967766,"p999_ms":20.967766,"max_ms":20.967766},"e2e":{"count":25,"censored":0,"mean_ms":80.42709084,"min_ms":80.07942,"p50_ms":80.07942,"p90_ms":81.526784,"p95_ms":82.051072,"p99_ms":82.955025,"p999_ms":82.955025,"max_ms":82.955025}}}','{"state":"full","contaminated":false,"seconds":0.500015571,"restarted":false,"requests":12.0,"input_tokens":208.0,"output_tokens":50.0,"preemptions":0.0,"requests_per_s":23.9992526152751,"input_tokens_per_s":415.987045331434,"output_tokens_per_s":99.9968858969794,"mean_ttft_ms":20.0600856923077,"mean_itl_ms":20.0804619729729,"mean_e2e_ms":80.3566349999999,"mean_queue_ms":0.0,"prefix_hit_rate":0.0,"of":"window","scrapes":2,"requests_running_mean":2.0,"requests_running_max":2.0,"requests_waiting_mean":0.0,"requests_waiting_max":0.0,"kv_cache_use_mean":3.5e-6,"kv_cache_use_max":4e-6,"client_more_ttft_ms":0.210470307692287,"client_more_itl_ms":-0.0343747162161812,"client_more_e2e_ms":0.0704558400001503,"model":"simserve/toy (context 32768)","counts":{"requests":{"server":51.0,"ours":51.0,"uncertain":0.0,"ratio":1.0,"foreign":0.0},"input_tokens":{"server":816.0,"ours":816.0,"uncertain":0.0,"ratio":1.0,"foreign":0.0},"output_tokens":{"server":204.0,"ours":204.0,"uncertain":0.0,"ratio":1.0,"foreign":0.0}}}');
CREATE TABLE histograms (
    attempt_id INTEGER NOT NULL REFERENCES attempts (id),
    metric     TEXT    NOT NULL, -- ttft, itl, tpot, e2e, lag, ...
    data       BLOB    NOT NULL, -- base/histogram.h, nanoseconds
    PRIMARY KEY (attempt_id, metric)
) STRICT, WITHOUT ROWID;
INSERT INTO histograms VALUES(1,'e2e',X'010d000084de9826e2e9f027a8da91f4030092d8b0b4941cad429814090101010103010201');
INSERT INTO histograms VALUES(1,'e2e_from_send',X'01000000000000000000000000000000');
INSERT INTO histograms VALUES(1,'icl',X'01270000acee8807cbe4970b84e3d5f40200ce7218d8aa26c542e2110134010102011e010205010e010601');
INSERT INTO histograms VALUES(1,'itl',X'01270000acee8807cbe4970b84e3d5f40200ce7218d8aa26c542e2110134010102011e010205010e010601');
INSERT INTO histograms VALUES(1,'queue',X'01000000000000000000000000000000');
INSERT INTO histograms VALUES(1,'tpot',X'010d0000f6d7dc08be808b0ad1cb9c7c000600ae5d167192428b12010c010108020105010201');
INSERT INTO histograms VALUES(1,'ttfo',X'01000000000000000000000000000000');
INSERT INTO histograms VALUES(1,'ttft',X'010d0000879fc909d19b860c91a5a07f00c3c89f321e3cb64299120b02012501');
INSERT INTO histograms VALUES(1,'ttft_from_send',X'01000000000000000000000000000000');
INSERT INTO histograms VALUES(1,'ttst',X'010d0000acee8807f5e4c609bea8ab790014fbf7355851b642e211013401020b');
INSERT INTO histograms VALUES(2,'e2e',X'01190000bcd497269196c7279780e2be0700a5fad5186967a44298141301020101010101010201');
INSERT INTO histograms VALUES(2,'e2e_from_send',X'01000000000000000000000000000000');
INSERT INTO histograms VALUES(2,'icl',X'014a0000eebf990898a5f20a9998acc30500131f3618550ac542831202090107010303010401300106010201010101020105010b03');
INSERT INTO histograms VALUES(2,'itl',X'014a0000eebf990898a5f20a9998acc30500131f3618550ac542831202090107010303010401300106010201010101020105010b03');
INSERT INTO histograms VALUES(2,'queue',X'01000000000000000000000000000000');
INSERT INTO histograms VALUES(2,'tpot',X'011900009bf7a409d6e2ff098881fdee0100cf23acb90b0074429412010414010202010401');
INSERT INTO histograms VALUES(2,'ttfo',X'01000000000000000000000000000000');
INSERT INTO histograms VALUES(2,'ttft',X'01190000a6bcc7098abcae0afcb4d2f10100ff5f0be15bdb8f42981204010f01020101040104010201');
INSERT INTO histograms VALUES(2,'ttft_from_send',X'01000000000000000000000000000000');
INSERT INTO histograms VALUES(2,'ttst',X'0119000088ade308e88af20af2e2acef01001476abe17899a4428c12010b0301100101010204011001');
CREATE TABLE request_records (
    attempt_id INTEGER PRIMARY KEY REFERENCES attempts (id),
    created_ms INTEGER NOT NULL,
    requests   INTEGER NOT NULL,
    data       BLOB    NOT NULL -- compressed columns, packed by bench/
) STRICT;
INSERT INTO request_records VALUES(1,1795352025114,27,X'28b52ffd6056040d0e0056d85644d0964c1a03422b1c9c8d742af5530575221066c131ee8ab1e9e013470f891953d91d230aeaf45484850e194cf373c53e9ebaec0358e20be5e71eaea9563a80220811c91449004c003700bb19f4509b300c60b3c9cc6a32f1bdcc252c884ce08414f387aa4d252a394e6de002a33e6d9ac0a5072c60d2010e1f2d3a3480417ff6dc99f366cd7acaecc28d063c7ed5020a106201247e51bcccc7c764bf347e47fc8af885f1fbe217f71d5a42219cd18a0ca2851232e94045509f9c8aa7a6eb28c0c1d87a084eb0b83af366941e43e64c8b1d53c6c26bc6a858f3c94acc748223f1b7ca7095a535beac31b8cad41a5956395aa5cb1a41c26bd0f11be363477e6bfccaf875f11be29743ef17c46f89dfdbef865fdbaf89dfff874182157e39912fa7e243c8c80399dd8f19ad13d006cd656a0172c37040a34fd2735eb455b256b9595bb3e8b246246b5c59a50ac65b1df85699608d4956b95a23700d5aa82160d6adfab477a08324190e12a0c2d46a2931ffa9fff3e385155f7cae430df39c019c1908e5a842110f746893feef87f40ffbef7da32a6eea4a413d50254e23e936a9beb5107545552459138520110937df3cd2c92746946cee702437fe2a5c0d');
INSERT INTO request_records VALUES(2,1795352027423,51,X'28b52ffd6006090d1700b62a8d4780d44e1a0327bc0e6067aa126f362308fffe6b1799237c4636bf7bbef9ecea2a6be91fdd4f1e341811ef6ec52700a64f8bebe93bf27a901c2627821280750178471b5f7db5235386007c00650079505aaad07aa8fdeddcf88159d5fdc8120583e30c4bb1ecca8830391e2b4c30fa66e4f901f261f5b9d9d813bad363b2c02b52450961875760decdce4a27ade0042318e9a38d2e9ae8031b7868a18306fae70213d8e701f72c609e77d639679c6f4e1e609b6b0630cd332397f9b8f1e231c34c7cb8f0e02eef2f56752da2c4fe054a540f940157aa0b5fb7be4e7dcdfa1ae1ab0cb057b67d95aa13be92f8aafc5ae3abd5d7ae5f067d3d31f22d67244fcd322e967cb48bfb2875b6316d6be3717991ebeb98387acc52cd30647813fdea265e7d3d749b7b1894f30b33c7c2286e0b956807757838984cb24b97f19dfb7b9fda3e8bb15660d68c900f5b88c800c5a8042f65a2c997125f8af3d21f3af452e14b97ef09649b3abce79197f6bc27dd7be6bda7dd4b85deb3ef3df5be8af82af6caa5afccaf555fd79626be2ebfce7da5f04aafaf16be9e7dd5f035edabd6571f5f557c2df195ef6bf32b38f92ab5af665f397c0521e1ff23df8e43b9b7e60629ae23221338ae21c61b3cc6301041c137656dc5553003b309032c1ac42936a8bbb1668899b0277b50ca90a408d2c027f922e8b207d2bca7949722bd27e04b7fa38c2f057aa9ccdbc4f63ad1bd54e9a534efa9e5a549ef0967e454f2529f97365faaf33a787b69f1a546ef93d34bcd5e5a5f5af4529b80aba82154d6a5a23252a92c07908324c97012a0d2d06e29ffad7fd56dcbcdaf673ad5398ff78bf4df7e66339d49bf9fe94c5772279b76b0491d1d7ff4480e91f520448e0a6008d98b683596ff59a883f4cfc6dfd3a8de16704ea31a8d1e08d45bd36bbfa99652dd95455bb74bd937dd52b55bb300ad5fedc6cb7492dd0d2bb2aefd47ab8adb64f5f2b1ed6b01239649bfb9ccf3ab6fffedf79f7f7ffb6fbffbeb8730070274bc9d4b03');
CREATE TABLE events (
    stream     TEXT    NOT NULL,
    sequence   INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    frame      TEXT    NOT NULL,
    PRIMARY KEY (stream, sequence)
) STRICT, WITHOUT ROWID;
INSERT INTO events VALUES('ses_556jmtgnmm29aa6xcekyxm43we/0',1795352020515,1795352020633,'{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}');
INSERT INTO events VALUES('ses_556jmtgnmm29aa6xcekyxm43we/0',1795352020516,1795352021633,'{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}');
INSERT INTO events VALUES('ses_556jmtgnmm29aa6xcekyxm43we/0',1795352020517,1795352027436,'{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}');
INSERT INTO events VALUES('ses_556jmtgnmm29aa6xcekyxm43we/8461ea06507d2a61',2,1795352027443,'{"jsonrpc":"2.0","id":1,"result":{"_meta":{"opsbrain/errorKind":"forbidden"},"content":[{"type":"text","text":"deployment_register needs the role operator; vera has the role viewer"}],"isError":true}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/0',1795352020467,1795352020633,'{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/0',1795352020468,1795352021633,'{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/0',1795352020469,1795352027436,'{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',2,1795352021189,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":0.001,"total":2,"message":"finding this machine''s own ceiling"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',3,1795352022043,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":0.002,"total":2,"message":"asking the server"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',4,1795352022046,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":0.003,"total":2,"message":"finding out how prompts are made for this server"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',5,1795352022722,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":0.004,"total":2,"message":"cell 1 of 2: 1 user x 16 tokens, waiting for the server to be idle"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',6,1795352022876,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":0.00770676923076923,"total":2,"message":"cell 1 of 2: 1 user x 16 tokens, probing"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',7,1795352022964,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":0.0212260566153846,"total":2,"message":"cell 1 of 2: 1 user x 16 tokens, warming up"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',8,1795352023956,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":0.173925763384615,"total":2,"message":"cell 1 of 2: 1 user x 16 tokens, measuring"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',9,1795352024962,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":0.328603417846154,"total":2,"message":"cell 1 of 2: 1 user x 16 tokens, measuring"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',10,1795352025006,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":0.335463544923077,"total":2,"message":"cell 1 of 2: 1 user x 16 tokens, draining"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',11,1795352025010,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":0.336463544923077,"total":2,"message":"cell 1 of 2: 1 user x 16 tokens, waiting for the server to be idle again"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',12,1795352025114,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":0.337463544923077,"total":2,"message":"cell 1 of 2: 1 user x 16 tokens, asking the server what it serves"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',13,1795352025121,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":1,"total":2,"message":"cell 2 of 2: 2 users x 16 tokens, waiting for the server to be idle; 2 s left"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',14,1795352025276,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":1.02087402673662,"total":2,"message":"cell 2 of 2: 2 users x 16 tokens, warming up; 2 s left"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',15,1795352026269,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":1.43484036012531,"total":2,"message":"cell 2 of 2: 2 users x 16 tokens, measuring; 1 s left"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',16,1795352027274,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":1.8534436194196,"total":2,"message":"cell 2 of 2: 2 users x 16 tokens, measuring; 0 s left"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',17,1795352027317,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":1.87145585175807,"total":2,"message":"cell 2 of 2: 2 users x 16 tokens, draining; 0 s left"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',18,1795352027319,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":1.87245585175807,"total":2,"message":"cell 2 of 2: 2 users x 16 tokens, waiting for the server to be idle again; 2 s left"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',19,1795352027422,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":1.87345585175807,"total":2,"message":"cell 2 of 2: 2 users x 16 tokens, asking the server what it serves; 2 s left"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',20,1795352027425,'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":6,"progress":2,"total":2,"message":"2 of 2 cells done"}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5',21,1795352027428,'{"jsonrpc":"2.0","id":6,"result":{"content":[{"type":"text","text":"job_6d4zav03qtz8x7shv7e8p7mfp8 (sweep swp_07vhjnq61kshtwgr9vkwewr9mx) is completed, 2 of 2\nNext: run_report with this sweep.\n"}],"structuredContent":{"job":{"id":"job_6d4zav03qtz8x7shv7e8p7mfp8","kind":"sweep","subject":"swp_07vhjnq61kshtwgr9vkwewr9mx","state":"completed","principal":"otto","progress":2.0,"progress_total":2.0,"message":"2 of 2 cells done","cancel_requested":false,"created_at":"2026-11-22T12:53:41.118Z","started_at":"2026-11-22T12:53:41.120Z","finished_at":"2026-11-22T12:53:47.427Z","outcome":{"sweep":"swp_07vhjnq61kshtwgr9vkwewr9mx","state":"completed","pending":0,"measured":2,"infeasible":0,"failed":0,"skipped":0,"inferred":0,"seconds":6.0}},"over":true,"next_step":"run_report with this sweep"},"isError":false}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b1c8e48bd20e0d98',2,1795352020736,'{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"operator-secret is stored (revision 1) at http://127.0.0.1:21801\nIt answers: simserve/toy on vllm 0.26.0, context 32768 tokens.\nNext: model_health, then sweep_plan to see what a benchmark would take.\n"}],"structuredContent":{"deployment":{"name":"operator-secret","revision":1,"url":"http://127.0.0.1:21801","provider":"endpoint","model":null,"model_revision":null,"quantization":null,"chips":null,"engine":null,"hardware":null,"region":null,"secret":"BETA","labels":{},"limits":{},"created_by":"otto","created_at":"2026-11-22T12:53:40.734Z","changed_at":"2026-11-22T12:53:40.734Z"},"changed":true,"reachable":true,"problem":null,"next_step":"model_health, then sweep_plan to see what a benchmark would take","model":"simserve/toy","context_tokens":32768,"engine":"vllm","engine_version":"0.26.0"},"isError":false}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b7d563a747b89013',2,1795352021120,'{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"swp_07vhjnq61kshtwgr9vkwewr9mx on by-operator (revision 2) is planned: 0 of 2 cells done; job job_6d4zav03qtz8x7shv7e8p7mfp8, by otto.\nIt takes 9 s at most.\nNext: job_show with this job and wait_s 50, until `over` is true; then run_report.\n"}],"structuredContent":{"sweep":{"id":"swp_07vhjnq61kshtwgr9vkwewr9mx","deployment":"by-operator","revision":2,"candidate":null,"state":"planned","reason":null,"job":"job_6d4zav03qtz8x7shv7e8p7mfp8","principal":"otto","cells_total":2,"cells_done":0,"cells_inferred":0,"repetitions":1,"plan":{"concurrency":[1,2],"input_tokens":[16],"output_tokens":[4],"repetitions":1,"requests":0,"http2_streams":0,"shared_prefix_tokens":0,"prefix_pools":1,"top_k":0,"api":"completions","input_distribution":"fixed","output_distribution":"fixed","natural_output":false,"unique_prompts":false,"arrival":"closed","request_rate":[],"think_time":"fixed","seed":1,"search":"full","limit_percentile":"p99","stop":[],"dataset":"","dataset_digest":"","window_s":1.0,"window_limit_s":0.0,"ci_width":0.0,"burstiness":1.0,"think_time_s":0.0,"ramp_s":0.0,"warmup_limit_s":1.0,"time_limit_s":21600.0,"ttft_timeout_s":120.0,"idle_timeout_s":60.0,"request_timeout_s":600.0,"goodput_ttft_ms":0.0,"goodput_tpot_ms":0.0,"limit_ttft_ms":0.0,"limit_itl_ms":0.0,"limit_tpot_ms":0.0,"limit_e2e_ms":0.0,"limit_error_rate":0.0,"input_spread":0.0,"output_spread":0.0,"temperature":0.0,"top_p":0.0,"presence_penalty":0.0,"frequency_penalty":0.0},"plan_digest":"6e4f528daa0a6dffa69088008863deb7726c2dac066997ec92bee5434423d6b9","created_at":"2026-11-22T12:53:41.118Z","started_at":null,"finished_at":null},"job":"job_6d4zav03qtz8x7shv7e8p7mfp8","started":true,"duration_s":9.10032,"next_step":"job_show with this job and wait_s 50, until `over` is true; then run_report"},"isError":false}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/cb82631fd13ca917',2,1795352021011,'{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"by-admin is stored (revision 2) at http://127.0.0.1:21801\nIt answers: simserve/toy on vllm 0.26.0, context 32768 tokens.\nNext: model_health, then sweep_plan to see what a benchmark would take.\n"}],"structuredContent":{"deployment":{"name":"by-admin","revision":2,"url":"http://127.0.0.1:21801","provider":"endpoint","model":null,"model_revision":null,"quantization":null,"chips":null,"engine":null,"hardware":"by otto","region":null,"secret":"ALPHA","labels":{"team":"a"},"limits":{},"created_by":"otto","created_at":"2026-11-22T12:53:40.609Z","changed_at":"2026-11-22T12:53:40.981Z"},"changed":true,"reachable":true,"problem":null,"next_step":"model_health, then sweep_plan to see what a benchmark would take","model":"simserve/toy","context_tokens":32768,"engine":"vllm","engine_version":"0.26.0"},"isError":false}}');
INSERT INTO events VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/cd38533f9a42239d',2,1795352020709,'{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"by-operator is stored (revision 1) at http://127.0.0.1:21801\nIt answers: simserve/toy on vllm 0.26.0, context 32768 tokens.\nNext: model_health, then sweep_plan to see what a benchmark would take.\n"}],"structuredContent":{"deployment":{"name":"by-operator","revision":1,"url":"http://127.0.0.1:21801","provider":"endpoint","model":null,"model_revision":null,"quantization":null,"chips":null,"engine":null,"hardware":"1x NVIDIA L4","region":null,"secret":null,"labels":{},"limits":{},"created_by":"otto","created_at":"2026-11-22T12:53:40.699Z","changed_at":"2026-11-22T12:53:40.699Z"},"changed":true,"reachable":true,"problem":null,"next_step":"model_health, then sweep_plan to see what a benchmark would take","model":"simserve/toy","context_tokens":32768,"engine":"vllm","engine_version":"0.26.0"},"isError":false}}');
CREATE TABLE audit (
    id         INTEGER PRIMARY KEY,
    at_ms      INTEGER NOT NULL,
    request_id TEXT    NOT NULL,
    principal  TEXT    NOT NULL,
    role       TEXT    NOT NULL,
    client     TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    arguments  TEXT    NOT NULL, -- JSON, bounded, without secrets
    phase      TEXT    NOT NULL CHECK (phase IN ('intent', 'outcome')),
    outcome    TEXT    NOT NULL, -- 'ok', or the error's kind
    detail     TEXT    NOT NULL,
    subject    TEXT    NOT NULL  -- what it changed: deployment name, sweep id, ...
) STRICT;
INSERT INTO audit VALUES(1,1795352016140,'','local','admin','command line','key add','{"name":"ada","role":"admin"}','outcome','ok','ada','key_6wy6esk7wehfzw7wnjfgwhjqe2');
INSERT INTO audit VALUES(2,1795352016190,'','local','admin','command line','key add','{"name":"otto","role":"operator"}','outcome','ok','otto','key_7ctr9tsspdk2hd4n7atzwn001g');
INSERT INTO audit VALUES(3,1795352016229,'','local','admin','command line','key add','{"name":"vera","role":"viewer"}','outcome','ok','vera','key_3rfk0b2wg2b10ccyqgd2wd8n6c');
INSERT INTO audit VALUES(4,1795352016281,'','local','admin','command line','key add','{"name":"gone","role":"admin"}','outcome','ok','gone','key_7pmm2phsgp46wx9mq7maxhnd9d');
INSERT INTO audit VALUES(5,1795352016325,'','local','admin','command line','key revoke','{"name":"gone"}','outcome','ok','','gone');
INSERT INTO audit VALUES(6,1795352020594,'req_13e23a50_7','ada','admin','end-to-end/1.0.0','deployment_register','{"name":"by-admin","url":"http://127.0.0.1:21801","secret":"ALPHA","labels":{"team":"a"}}','intent','','','');
INSERT INTO audit VALUES(7,1795352020609,'req_13e23a50_7','ada','admin','end-to-end/1.0.0','deployment_register','{"name":"by-admin","url":"http://127.0.0.1:21801","secret":"ALPHA","labels":{"team":"a"}}','outcome','ok','','by-admin');
INSERT INTO audit VALUES(8,1795352020694,'req_13e23a50_8','otto','operator','end-to-end/1.0.0','deployment_register','{"name":"by-operator","url":"http://127.0.0.1:21801","hardware":"1x NVIDIA L4"}','intent','','','');
INSERT INTO audit VALUES(9,1795352020700,'req_13e23a50_8','otto','operator','end-to-end/1.0.0','deployment_register','{"name":"by-operator","url":"http://127.0.0.1:21801","hardware":"1x NVIDIA L4"}','outcome','ok','','by-operator');
INSERT INTO audit VALUES(10,1795352020733,'req_13e23a50_9','otto','operator','end-to-end/1.0.0','deployment_register','{"name":"operator-secret","url":"http://127.0.0.1:21801","secret":"BETA"}','intent','','','');
INSERT INTO audit VALUES(11,1795352020734,'req_13e23a50_9','otto','operator','end-to-end/1.0.0','deployment_register','{"name":"operator-secret","url":"http://127.0.0.1:21801","secret":"BETA"}','outcome','ok','','operator-secret');
INSERT INTO audit VALUES(12,1795352020763,'req_13e23a50_a','ada','admin','end-to-end/1.0.0','deployment_update','{"deployment":"by-operator","region":"here"}','intent','','','');
INSERT INTO audit VALUES(13,1795352020775,'req_13e23a50_a','ada','admin','end-to-end/1.0.0','deployment_update','{"deployment":"by-operator","region":"here"}','outcome','ok','','by-operator');
INSERT INTO audit VALUES(14,1795352020980,'req_13e23a50_b','otto','operator','end-to-end/1.0.0','deployment_update','{"deployment":"by-admin","hardware":"by otto"}','intent','','','');
INSERT INTO audit VALUES(15,1795352020981,'req_13e23a50_b','otto','operator','end-to-end/1.0.0','deployment_update','{"deployment":"by-admin","hardware":"by otto"}','outcome','ok','','by-admin');
INSERT INTO audit VALUES(16,1795352021057,'req_13e23a50_c','ada','admin','end-to-end/1.0.0','deployment_register','{"name":"removed","url":"http://127.0.0.1:21801"}','intent','','','');
INSERT INTO audit VALUES(17,1795352021070,'req_13e23a50_c','ada','admin','end-to-end/1.0.0','deployment_register','{"name":"removed","url":"http://127.0.0.1:21801"}','outcome','ok','','removed');
INSERT INTO audit VALUES(18,1795352021099,'req_13e23a50_d','ada','admin','end-to-end/1.0.0','deployment_remove','{"deployment":"removed","confirm":true}','outcome','invalid','"confirm" is true: it must be text','');
INSERT INTO audit VALUES(19,1795352021115,'req_13e23a50_f','otto','operator','end-to-end/1.0.0','sweep_start','{"deployment":"by-operator","concurrency":[1,2],"input_tokens":[16],"output_tokens":[4],"window_s":1,"warmup_limit_s":1,"plan_digest":"6e4f528daa0a6dffa69088008863deb7726c2dac066997ec92bee5434423d6b9","idempotency_key":"once"}','intent','','','');
INSERT INTO audit VALUES(20,1795352021119,'req_13e23a50_f','otto','operator','end-to-end/1.0.0','sweep_start','{"deployment":"by-operator","concurrency":[1,2],"input_tokens":[16],"output_tokens":[4],"window_s":1,"warmup_limit_s":1,"plan_digest":"6e4f528daa0a6dffa69088008863deb7726c2dac066997ec92bee5434423d6b9","idempotency_key":"once"}','outcome','ok','','swp_07vhjnq61kshtwgr9vkwewr9mx');
INSERT INTO audit VALUES(21,1795352021129,'req_13e23a50_10','ada','admin','end-to-end/1.0.0','deployment_register','{"name":"admin-kept","url":"http://127.0.0.1:21801","secret":"GAMMA"}','intent','','','');
INSERT INTO audit VALUES(22,1795352021157,'req_13e23a50_10','ada','admin','end-to-end/1.0.0','deployment_register','{"name":"admin-kept","url":"http://127.0.0.1:21801","secret":"GAMMA"}','outcome','ok','','admin-kept');
INSERT INTO audit VALUES(23,1795352027435,'req_13e23a50_12','otto','operator','end-to-end/1.0.0','run_import','{"text":"concurrency,input_tokens,output_tokens_per_second\n1,16,50\n4,16,190\n","name":"grid.csv","hardware":"L4"}','outcome','ok','csv grid.csv, 2 cells','imp_34b95qvf5pys6q9d2p5jchrsfp');
INSERT INTO audit VALUES(24,1795352027443,'req_13e23a50_13','vera','viewer','end-to-end/1.0.0','deployment_register','{"name":"no","url":"http://127.0.0.1:21801"}','outcome','forbidden','deployment_register needs the role operator; vera has the role viewer','');
CREATE TABLE idempotency (
    principal        TEXT    NOT NULL,
    tool             TEXT    NOT NULL,
    key              TEXT    NOT NULL,
    arguments_digest TEXT    NOT NULL,
    subject          TEXT    NOT NULL, -- the id the first call made
    created_ms       INTEGER NOT NULL,
    PRIMARY KEY (principal, tool, key)
) STRICT, WITHOUT ROWID;
INSERT INTO idempotency VALUES('otto','sweep_start','once','4c464320115e8fc579124d446860a6efb60eaa99480637da86f0950b7723cefc','swp_07vhjnq61kshtwgr9vkwewr9mx',1795352021118);
CREATE TABLE server_keys (
    name       TEXT    PRIMARY KEY,
    key        BLOB    NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO server_keys VALUES('request_state',X'06ea4d79a3c00fb849897f9f5dd3e4df2bc88ab2df7a97b012ac05c93db70957',1795352016406);
CREATE TABLE settled_requests (
    nonce      TEXT    PRIMARY KEY, -- of the sealed state
    request_id TEXT    NOT NULL,    -- in the audit
    created_ms INTEGER NOT NULL,
    result     TEXT                 -- as it was answered; NULL: not known (yet)
) STRICT, WITHOUT ROWID;
CREATE TABLE imports (
    id         TEXT    PRIMARY KEY,
    digest     TEXT    NOT NULL, -- SHA-256 of the file
    format     TEXT    NOT NULL,
    stated     TEXT    NOT NULL, -- JSON, canonical: what was said of it beside the file
    corrects   TEXT    REFERENCES imports (id),
    name       TEXT    NOT NULL, -- of the file
    file_bytes INTEGER NOT NULL,
    deployment TEXT    NOT NULL, -- '' where none was said
    document   TEXT    NOT NULL, -- JSON: facts, units, remarks; written and read by analysis/
    cells      INTEGER NOT NULL,
    principal  TEXT    NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
INSERT INTO imports VALUES('imp_34b95qvf5pys6q9d2p5jchrsfp','19340467cd5c52cfc387bf9163a43e4d1a37e3baa02b0283545362d822ba51a5','csv','{"hardware":"L4"}',NULL,'grid.csv',67,'','{"facts":{"hardware":"L4"},"input_unit":"tokens","remarks":["\"input_tokens\" was read as the tokens of each request: as those of all they would not fit the other figures"]}',2,'otto',1795352027434);
CREATE TABLE import_names (
    import_id  TEXT    NOT NULL REFERENCES imports (id),
    name       TEXT    NOT NULL,
    principal  TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (import_id, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE import_cells (
    import_id TEXT    NOT NULL REFERENCES imports (id),
    position  INTEGER NOT NULL,
    document  TEXT    NOT NULL, -- JSON: figures, and the row as it stands in the file
    PRIMARY KEY (import_id, position)
) STRICT, WITHOUT ROWID;
INSERT INTO import_cells VALUES('imp_34b95qvf5pys6q9d2p5jchrsfp',0,'{"position":0,"row":2,"state":"measured","concurrency":1.0,"input_length":16.0,"output_throughput":50.0,"original":{"concurrency":"1","input_tokens":"16","output_tokens_per_second":"50"}}');
INSERT INTO import_cells VALUES('imp_34b95qvf5pys6q9d2p5jchrsfp',1,'{"position":1,"row":3,"state":"measured","concurrency":4.0,"input_length":16.0,"output_throughput":190.0,"original":{"concurrency":"4","input_tokens":"16","output_tokens_per_second":"190"}}');
CREATE TABLE event_calls (
    stream     TEXT    PRIMARY KEY, -- as in events
    session    TEXT    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    message_id TEXT    NOT NULL, -- JSON: the id its answer must have
    request_id TEXT    NOT NULL, -- of the log line and the audit
    created_ms INTEGER NOT NULL,
    ended_ms   INTEGER           -- NULL: it runs, or the server was lost while it did
) STRICT, WITHOUT ROWID;
INSERT INTO event_calls VALUES('ses_556jmtgnmm29aa6xcekyxm43we/8461ea06507d2a61','ses_556jmtgnmm29aa6xcekyxm43we','1','req_13e23a50_13',1795352027441,1795352027443);
INSERT INTO event_calls VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b12e4b36494610d5','ses_6r9xcdky1btq0thbz3es5w4ph2','6','req_13e23a50_11',1795352021186,1795352027428);
INSERT INTO event_calls VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b1c8e48bd20e0d98','ses_6r9xcdky1btq0thbz3es5w4ph2','2','req_13e23a50_9',1795352020731,1795352020736);
INSERT INTO event_calls VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/b7d563a747b89013','ses_6r9xcdky1btq0thbz3es5w4ph2','5','req_13e23a50_f',1795352021112,1795352021120);
INSERT INTO event_calls VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/cb82631fd13ca917','ses_6r9xcdky1btq0thbz3es5w4ph2','3','req_13e23a50_b',1795352020977,1795352021011);
INSERT INTO event_calls VALUES('ses_6r9xcdky1btq0thbz3es5w4ph2/cd38533f9a42239d','ses_6r9xcdky1btq0thbz3es5w4ph2','1','req_13e23a50_8',1795352020687,1795352020709);
CREATE TABLE subscriptions (
    session TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    uri     TEXT NOT NULL,
    PRIMARY KEY (session, uri)
) STRICT, WITHOUT ROWID;
CREATE TABLE job_questions (
    job_id      TEXT    NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    key         TEXT    NOT NULL,
    request     TEXT    NOT NULL, -- JSON: method and params
    answer      TEXT,             -- JSON; NULL: open
    asked_ms    INTEGER NOT NULL,
    answered_ms INTEGER,
    PRIMARY KEY (job_id, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS "runs" (
    id            TEXT    PRIMARY KEY,
    sweep_id      TEXT    NOT NULL REFERENCES sweeps (id),
    deployment_id INTEGER NOT NULL REFERENCES deployments (id),
    revision      INTEGER NOT NULL,
    repetition    INTEGER NOT NULL,
    fingerprint   TEXT    REFERENCES fingerprints (digest), -- NULL until the first cell is measured
    provenance    TEXT    NOT NULL, -- JSON: who, client, host, version
    corrects      TEXT    REFERENCES runs (id), -- the run that this one stands in for
    created_ms    INTEGER NOT NULL,
    finished_ms   INTEGER,
    UNIQUE (sweep_id, deployment_id, repetition)
) STRICT;
INSERT INTO runs VALUES('run_4w5ae1pyffgavs8zr1041q8vc4','swp_07vhjnq61kshtwgr9vkwewr9mx',2,2,0,'c3862dd8a1eccf2888211cda2635f28e14e3751609cb6984fd4c4f794aafe041','{"principal":"otto","client":"end-to-end/1.0.0","request":"req_13e23a50_f","host":"vm","version":"0.1.0"}',NULL,1795352021118,1795352027423);
CREATE TABLE IF NOT EXISTS "cells" (
    id            INTEGER PRIMARY KEY,
    sweep_id      TEXT    NOT NULL REFERENCES sweeps (id),
    run_id        TEXT    NOT NULL REFERENCES runs (id),
    position      INTEGER NOT NULL, -- order of measuring
    concurrency   INTEGER NOT NULL, -- users; in an open loop the most requests in flight
    request_rate  REAL    NOT NULL DEFAULT 0, -- requests per second that arrive; 0: a closed loop
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    state         TEXT    NOT NULL
                  CHECK (state IN ('pending', 'measured', 'infeasible', 'failed', 'skipped', 'inferred')),
    reason        TEXT    NOT NULL DEFAULT '',
    attempt_id    INTEGER REFERENCES attempts (id), -- the accepted one
    UNIQUE (sweep_id, position),
    UNIQUE (run_id, concurrency, request_rate, input_tokens, output_tokens)
) STRICT;
INSERT INTO cells VALUES(1,'swp_07vhjnq61kshtwgr9vkwewr9mx','run_4w5ae1pyffgavs8zr1041q8vc4',0,1,0.0,16,4,'measured','',1);
INSERT INTO cells VALUES(2,'swp_07vhjnq61kshtwgr9vkwewr9mx','run_4w5ae1pyffgavs8zr1041q8vc4',1,2,0.0,16,4,'measured','',2);
CREATE TABLE sweep_subjects (
    sweep_id      TEXT    NOT NULL REFERENCES sweeps (id),
    position      INTEGER NOT NULL, -- 0: the sweep's own deployment; 1: the candidate beside it
    deployment_id INTEGER NOT NULL REFERENCES deployments (id),
    revision      INTEGER NOT NULL,
    workload      TEXT    NOT NULL DEFAULT '{}', -- JSON: how prompts are made for this server, found once and kept
    PRIMARY KEY (sweep_id, position),
    UNIQUE (sweep_id, deployment_id)
) STRICT, WITHOUT ROWID;
INSERT INTO sweep_subjects VALUES('swp_07vhjnq61kshtwgr9vkwewr9mx',0,2,2,'{"api":"completions","form":"ids","source":"tokenize (vLLM, SGLang)","overhead_tokens":0,"tokens_per_piece":1.0,"fields":["max_tokens","stream_options","ignore_eos","min_tokens"],"tells_usage":true,"pieces":["131125","131281","132852","133037","133224","133289","133419","133722","133956","134329","134422","134726","134899","135255","135257","135306","135386","135504","136658","137317","137511","138907","139210","139628","140012","141815","142060","142350","142504","142571","142667","142986","143082","143158","144127","144822","146180","146244","146626","146888","146936","148075","148556","148793","148999","149176","149454","149501","149535","149614","149927","149985","150036","150301","150474","150959","151077","151308","152195","152254","152520","153162","154031","154139","154386","154503","155874","156142","156580","156623","157854","158147","158184","158627","159756","159931","160020","160371","160827","161026","161094","161328","161553","161618","161792","162720","163063","163411","163893","164397","164425","164865","165124","165163","165451","165653","167116","168908","169358","170616","170621","170961","171355","171563","171627","172060","172252","173074","173345","173841","173905","174434","174451","174535","174608","174816","174935","175053","175190","175276","175551","175793","176901","177046","177101","177661","177717","178648","179168","179255","179768","180369","180817","181423","181664","181667","182223","182834","182870","182973","183847","183944","184049","184126","184289","184437","184460","184660","184981","185023","185034","185526","185553","186072","186537","186601","186833","186892","188019","188200","188610","189013","189057","189499","190170","190190","190751","191090","191545","191663","192551","193725","194077","194080","194957","195580","195594","195777","196286","196815","197660","197788","197913","198751","198983","199371","199658","199739","200620","201135","201238","201270","201592","201814","202100","202213","202283","202504","202864","203093","203529","203807","203876","203987","204273","204278","205435","205460","205813","206061","206776","207311","208129","210031","210206","210248","210552","210588","211587","211875","211883","212143","212288","212999","213153","213203","213234","214492","214697","215263","215785","216171","216885","217529","217732","218103","218263","218439","218452","219047","219081","219652","220012","220168","220538","220589","221097","221200","221363","221420","221445","221563","221719","221984","222166","222266","222369","223195","223989","224310","224355","224443","225283","226176","226191","226293","226669","226751","227237","227419","227668","228088","228389","228441","228450","228488","228663","228703","229011","229659","230312","230815","231073","231260","231318","231532","231875","232399","232438","232879","233390","233685","233918","234088","234328","234393","234441","235223","235552","236138","236869","237303","237739","238121","238142","238700","239049","239691","240066","240109","240143","240351","240417","240512","240804","240975","241127","241180","241215","241901","241902","242331","242474","242487","242767","243549","243974","244029","244678","244723","244940","245493","245729","245753","245908","246211","246214","246768","247282","247567","247622","248424","248525","248707","248941","249105","249113","250344","250794","250846","250927","251173","251745","251794","252048","252281","252604","252966","253214","253438","253903","254294","254744","255299","255572","255667","255923","256219","256692","257216","257334","257628","257949","258793","259154","259205","259824","260143","260353","261135","261197","261368","261467"]}');
CREATE TABLE IF NOT EXISTS "endpoint_leases" (
    id             INTEGER PRIMARY KEY,
    endpoint       TEXT    NOT NULL, -- host:port
    job_id         TEXT    NOT NULL REFERENCES jobs (id),
    principal      TEXT    NOT NULL,
    purpose        TEXT    NOT NULL,
    asked_ms       INTEGER NOT NULL,
    granted_ms     INTEGER, -- NULL: waiting in line
    lease_until_ms INTEGER NOT NULL,
    UNIQUE (job_id, endpoint)
) STRICT;
CREATE TABLE attempt_series (
    attempt_id INTEGER PRIMARY KEY REFERENCES attempts (id),
    scrapes    INTEGER NOT NULL,
    data       BLOB    NOT NULL -- JSON, zstd; see store/testimony.h
) STRICT;
INSERT INTO attempt_series VALUES(1,8,X'28b52ffd607204e50f00761b4c205069db06841b367a9bb08f41db206c1b2333330d24a1955e394fa4b39999c1104a0045003b004a5b4cc20894b6da42a12c8b3c06608c69161b481c897540601ca22107c2f17e7e301802099224cdb298c6b0c6802dc62114f1f86d45cda98ab24f33653e5757253c180c46b1da6128049ae9288f8fcee889e74bd130ab05b4d69001550c595863b0129000b65030b62c548f1aef8711293e7b355190762c2c6102c6211417ddcfb6de8feabc9f94b00f06a3e06801c878f2541e53d2fcc953ede711e283d7ac9293da3ca8b9bfbaf45495475bd0105cd5924649a0c2776254487733f9fcf6f93d3f75946f6c3dbfe6070b88653d8cab2d476316c3b084b22c709536ac31386a44ec6b9fbc7da64abd272f51abcef4e66edccca4acf089f0e06d4aaa10995932e3107dd445b9989e015da831458648484444921414a4c5900231a1b26d12a0c510454228881964a21cfb14da372da2c13c094b79028416a12e5d3da1fa87519a8c06afc425c8d419d8e11f73265489373dd9f92d57216285700391726029be31f497d2c4a5adbf4b03d5ef72d31f449844b45acb4c20f61bb290ab27d2a61503f872f4ae4437a30434039e7180c6b7307ee40831e067b2af21382c78278e87e17e9f73dec413f3cb61fce151591a8dbfe75973bd206c4fa2b68d617a52f475e9c0348b565073d4f0167163760f3e12704105');
INSERT INTO attempt_series VALUES(2,8,X'28b52ffd6090045d100066dc4d1f6069d301509bd8d456fcbe6155536c480b0040fc19d96437392d2883a003034d0047003d00c852acc4288a40b1d25a2414cb6275ad01942aa6496a008120d2018161c74a10844bbb73078321a0248ad22c89598c6a0cd462d881b9979aeed99dce99a6899c97ac8c1c0f068349a485180a01acfb870c11e1bd779f4b8986492b60ad950c60aa64518d414a4802d422a1d4b230ecf86fbbd3bbcaabfa9a76c71f171545b29045294ac0b003a52a2222bbc3e77647910f06a3206ccbf8ddfb77d8b00f51e3ea59fb4666c7e7a3a6cd778afb8618fd121b4f16ac44cfedcef3521a05421911f2a15ff456e4e7877bd0bcfbb2bff1a0f1a20b47eb694c6b41169318462114cbc2bb518dc1363e3fba44b9a87edfa78def91b7d1d1a1ab7a9f353e5ebc443f8af8a7af521976f432a6e7fe21da5befcd3c0162a84131746448020a92a42449639002a999aa6e12c0c524c52196b48c91282856528f7b072da2c140c90f4499b3db35684a32625d599ce09c6217521a4dd6e972caef2bebb894359df91671a7b6c8e8574c68a7f244aaec16387e0aaf9ddb53d6b86c73599d7da1f26f76d57431d2f2971b5bc48aa0acfe492bd518f2358d400167c3c2860de419079fc14b8e6dd04e1180dacd1ef902fc070f9e07b2165041acd2ca1cc38ead89063e55023687b111c830a5db89e376cbf1e1d6d3e9ed0018a6a5b3fa35fb6f1f9862a999a886e8082a');
CREATE TABLE datasets (
    name       TEXT    PRIMARY KEY,
    digest     TEXT    NOT NULL, -- SHA-256 of what would be sent
    kind       TEXT    NOT NULL CHECK (kind IN ('prompts', 'lengths')),
    prompts    INTEGER NOT NULL, -- or lengths: how many
    skipped    INTEGER NOT NULL, -- records of the file that were neither
    file_bytes INTEGER NOT NULL,
    lengths    TEXT    NOT NULL, -- JSON: of prompts and answers, in tokens
    principal  TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    data       BLOB    NOT NULL  -- compressed; written and read by bench/
) STRICT;
CREATE INDEX model_facts_by_deployment ON model_facts (deployment_id, observed_ms);
CREATE INDEX jobs_by_state ON jobs (state, created_ms);
CREATE INDEX jobs_by_time ON jobs (created_ms);
CREATE INDEX sweeps_by_time ON sweeps (created_ms);
CREATE INDEX sweeps_by_job ON sweeps (job_id);
CREATE INDEX sweeps_by_deployment ON sweeps (deployment_id, created_ms);
CREATE INDEX attempts_by_job ON attempts (job_id);
CREATE INDEX request_records_by_time ON request_records (created_ms);
CREATE INDEX events_by_time ON events (created_ms);
CREATE INDEX audit_by_time ON audit (at_ms);
CREATE INDEX idempotency_by_time ON idempotency (created_ms);
CREATE INDEX settled_requests_by_time ON settled_requests (created_ms);
CREATE INDEX imports_by_time ON imports (created_ms);
CREATE INDEX imports_by_file ON imports (digest, format, created_ms);
CREATE INDEX event_calls_by_session ON event_calls (session);
CREATE INDEX runs_by_time ON runs (created_ms);
CREATE INDEX runs_by_deployment ON runs (deployment_id, created_ms);
CREATE INDEX sweep_subjects_by_deployment ON sweep_subjects (deployment_id);
CREATE UNIQUE INDEX endpoint_leases_one_holder ON endpoint_leases (endpoint) WHERE granted_ms IS NOT NULL;
CREATE INDEX runs_by_correction ON runs (corrects) WHERE corrects IS NOT NULL;
CREATE TRIGGER finished_runs_stay BEFORE UPDATE ON runs WHEN OLD.finished_ms IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'a finished run is never changed');
END;
CREATE TRIGGER runs_stay_what_they_are BEFORE UPDATE ON runs
WHEN NEW.id IS NOT OLD.id OR NEW.sweep_id IS NOT OLD.sweep_id OR NEW.deployment_id IS NOT OLD.deployment_id
  OR NEW.revision IS NOT OLD.revision OR NEW.repetition IS NOT OLD.repetition OR NEW.provenance IS NOT OLD.provenance
  OR NEW.corrects IS NOT OLD.corrects OR NEW.created_ms IS NOT OLD.created_ms
  OR (OLD.fingerprint IS NOT NULL AND NEW.fingerprint IS NOT OLD.fingerprint)
BEGIN
    SELECT RAISE(ABORT, 'what a run is of is never changed');
END;
CREATE TRIGGER runs_are_kept BEFORE DELETE ON runs
BEGIN
    SELECT RAISE(ABORT, 'runs are never deleted');
END;
CREATE TRIGGER measured_cells_stay BEFORE UPDATE ON cells
WHEN OLD.state IN ('measured', 'infeasible')
  OR (SELECT finished_ms FROM runs WHERE id = OLD.run_id) IS NOT NULL
  OR NEW.id IS NOT OLD.id OR NEW.sweep_id IS NOT OLD.sweep_id OR NEW.run_id IS NOT OLD.run_id
  OR NEW.position IS NOT OLD.position OR NEW.concurrency IS NOT OLD.concurrency
  OR NEW.request_rate IS NOT OLD.request_rate OR NEW.input_tokens IS NOT OLD.input_tokens
  OR NEW.output_tokens IS NOT OLD.output_tokens
BEGIN
    SELECT RAISE(ABORT, 'a measured cell, or one of a finished run, is never changed');
END;
CREATE TRIGGER cells_are_kept BEFORE DELETE ON cells
BEGIN
    SELECT RAISE(ABORT, 'cells are never deleted');
END;
CREATE TRIGGER ended_attempts_stay BEFORE UPDATE ON attempts
WHEN OLD.state <> 'running' AND NOT (
    OLD.state = 'accepted' AND NEW.state = 'rejected' AND NEW.id IS OLD.id AND NEW.cell_id IS OLD.cell_id
    AND NEW.number IS OLD.number AND NEW.job_id IS OLD.job_id AND NEW.fence IS OLD.fence
    AND NEW.started_ms IS OLD.started_ms AND NEW.finished_ms IS OLD.finished_ms
    AND NEW.workload_digest IS OLD.workload_digest AND NEW.measurement IS OLD.measurement AND NEW.witness IS OLD.witness
    AND EXISTS (SELECT 1 FROM cells c JOIN runs r ON r.id = c.run_id
                WHERE c.id = OLD.cell_id AND c.state IN ('failed', 'skipped') AND r.finished_ms IS NULL))
BEGIN
    SELECT RAISE(ABORT, 'an attempt that ended is never changed');
END;
CREATE TRIGGER attempts_are_kept BEFORE DELETE ON attempts
BEGIN
    SELECT RAISE(ABORT, 'attempts are never deleted');
END;
CREATE TRIGGER histograms_stay BEFORE UPDATE ON histograms
BEGIN
    SELECT RAISE(ABORT, 'histograms are never changed');
END;
CREATE TRIGGER histograms_are_kept BEFORE DELETE ON histograms
BEGIN
    SELECT RAISE(ABORT, 'histograms are never deleted');
END;
CREATE TRIGGER request_records_stay BEFORE UPDATE ON request_records
BEGIN
    SELECT RAISE(ABORT, 'request records are never changed');
END;
CREATE TRIGGER attempt_series_stay BEFORE UPDATE ON attempt_series
BEGIN
    SELECT RAISE(ABORT, 'series of attempts are never changed');
END;
CREATE TRIGGER fingerprints_stay BEFORE UPDATE ON fingerprints
BEGIN
    SELECT RAISE(ABORT, 'fingerprints are never changed');
END;
CREATE TRIGGER fingerprints_are_kept BEFORE DELETE ON fingerprints
BEGIN
    SELECT RAISE(ABORT, 'fingerprints are never deleted');
END;
CREATE TRIGGER plans_stay BEFORE UPDATE ON sweeps
WHEN NEW.id IS NOT OLD.id OR NEW.deployment_id IS NOT OLD.deployment_id OR NEW.revision IS NOT OLD.revision
  OR NEW.plan IS NOT OLD.plan OR NEW.plan_digest IS NOT OLD.plan_digest OR NEW.principal IS NOT OLD.principal
  OR NEW.created_ms IS NOT OLD.created_ms
BEGIN
    SELECT RAISE(ABORT, 'the plan of a sweep is never changed');
END;
COMMIT;
