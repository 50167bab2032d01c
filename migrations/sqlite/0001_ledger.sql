-- Times are in milliseconds since 1970 (UTC). JSON columns hold objects unless a comment says otherwise. If a column's
-- values have a unit, its name ends in that unit.

-- Who is allowed to call the server, and with which keys.
CREATE TABLE principals (
    id         INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,
    role       TEXT    NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
    created_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE api_keys (
    id           TEXT    PRIMARY KEY, -- key_..., shown to users; of the key itself, only the digest is stored
    principal_id INTEGER NOT NULL REFERENCES principals (id),
    digest       BLOB    NOT NULL UNIQUE,
    created_ms   INTEGER NOT NULL,
    expires_ms   INTEGER,
    revoked_ms   INTEGER,
    last_used_ms INTEGER
) STRICT;

-- Sessions, which exist only in those protocol versions in which a client begins with `initialize`.
CREATE TABLE sessions (
    id               TEXT    PRIMARY KEY,
    principal        TEXT    NOT NULL,
    protocol_version TEXT    NOT NULL,
    client           TEXT    NOT NULL, -- "name/version"
    capabilities     TEXT    NOT NULL, -- JSON
    created_ms       INTEGER NOT NULL,
    last_seen_ms     INTEGER NOT NULL
) STRICT;

-- Model servers. A deployment is never deleted, only retired; every change adds a new revision.
CREATE TABLE deployments (
    id         INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,
    revision   INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    retired_ms INTEGER
) STRICT;

CREATE TABLE deployment_revisions (
    deployment_id INTEGER NOT NULL REFERENCES deployments (id),
    revision      INTEGER NOT NULL,
    url           TEXT    NOT NULL, -- without a trailing '/' or '/v1'
    provider      TEXT    NOT NULL, -- 'endpoint' unless another was given
    model         TEXT    NOT NULL, -- '': the first model that the server lists
    engine        TEXT    NOT NULL, -- '': not stated, to be discovered
    hardware      TEXT    NOT NULL,
    region        TEXT    NOT NULL,
    secret        TEXT    NOT NULL, -- the secret's name, never its value
    labels        TEXT    NOT NULL, -- JSON
    limits        TEXT    NOT NULL, -- JSON: max_instances, container_concurrency, ...
    created_ms    INTEGER NOT NULL,
    created_by    TEXT    NOT NULL,
    PRIMARY KEY (deployment_id, revision)
) STRICT;

-- Facts that model servers reported about themselves. A row is added only when they change.
CREATE TABLE model_facts (
    id             INTEGER PRIMARY KEY,
    deployment_id  INTEGER NOT NULL REFERENCES deployments (id),
    revision       INTEGER NOT NULL,
    observed_ms    INTEGER NOT NULL,
    model          TEXT    NOT NULL,
    engine         TEXT    NOT NULL,
    engine_version TEXT    NOT NULL,
    context_tokens INTEGER, -- NULL: not reported
    details        TEXT    NOT NULL -- JSON: flags and other facts that the server reported
) STRICT;
CREATE INDEX model_facts_by_deployment ON model_facts (deployment_id, observed_ms);

-- Which deployments' metrics are scraped, and how the last scrape went. The samples are in scrapes.db.
CREATE TABLE scrape_targets (
    deployment_id INTEGER PRIMARY KEY REFERENCES deployments (id),
    interval_ms   INTEGER NOT NULL, -- 0: not scraped
    last_ms       INTEGER,
    last_error    TEXT    NOT NULL DEFAULT ''
) STRICT;

-- Durable work. Before a process works on a job, it claims the job for a limited time (a lease). Each claim increments
-- the job's fence. Whoever writes for the job presents the fence of its own claim; if the job has been claimed again since,
-- the write is refused.
CREATE TABLE jobs (
    id                  TEXT    PRIMARY KEY,
    kind                TEXT    NOT NULL,
    subject             TEXT    NOT NULL, -- what it works on, such as a sweep's id
    state               TEXT    NOT NULL CHECK (state IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
    principal           TEXT    NOT NULL,
    created_ms          INTEGER NOT NULL,
    started_ms          INTEGER,
    finished_ms         INTEGER,
    owner               TEXT    NOT NULL DEFAULT '', -- the process that holds the lease
    lease_until_ms      INTEGER NOT NULL DEFAULT 0,
    fence               INTEGER NOT NULL DEFAULT 0,  -- how often it was claimed
    cancel_requested_ms INTEGER,
    progress            REAL    NOT NULL DEFAULT 0,
    progress_total      REAL    NOT NULL DEFAULT 0,
    message             TEXT    NOT NULL DEFAULT '',
    outcome             TEXT    NOT NULL DEFAULT '{}' -- JSON
) STRICT;
CREATE INDEX jobs_by_state ON jobs (state, created_ms);
CREATE INDEX jobs_by_time ON jobs (created_ms);

-- Only one job at a time measures an endpoint. The other jobs wait in line, in the order of their ids in this table.
CREATE TABLE endpoint_leases (
    id             INTEGER PRIMARY KEY,
    endpoint       TEXT    NOT NULL, -- host:port
    job_id         TEXT    NOT NULL UNIQUE REFERENCES jobs (id),
    principal      TEXT    NOT NULL,
    purpose        TEXT    NOT NULL,
    asked_ms       INTEGER NOT NULL,
    granted_ms     INTEGER, -- NULL: waiting in line
    lease_until_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX endpoint_leases_one_holder ON endpoint_leases (endpoint) WHERE granted_ms IS NOT NULL;

-- What was measured, but not who measured it or when. The digest is computed from the canonical JSON.
CREATE TABLE fingerprints (
    digest   TEXT PRIMARY KEY,
    document TEXT NOT NULL
) STRICT;

-- A sweep carries out a plan. Each repetition of the plan is a run, with one fingerprint. A run consists of cells, one
-- for each load and prompt size. A cell can have several attempts, of which at most one is accepted.
CREATE TABLE sweeps (
    id            TEXT    PRIMARY KEY,
    deployment_id INTEGER NOT NULL REFERENCES deployments (id),
    revision      INTEGER NOT NULL,
    job_id        TEXT    NOT NULL REFERENCES jobs (id), -- its newest job
    plan          TEXT    NOT NULL, -- JSON
    plan_digest   TEXT    NOT NULL,
    state         TEXT    NOT NULL CHECK (state IN ('planned', 'running', 'completed', 'stopped', 'cancelled', 'failed')),
    reason        TEXT    NOT NULL DEFAULT '', -- why it is not 'completed'
    workload      TEXT    NOT NULL DEFAULT '{}', -- JSON: how to make prompts for this server, determined once
    principal     TEXT    NOT NULL,
    created_ms    INTEGER NOT NULL,
    started_ms    INTEGER,
    finished_ms   INTEGER
) STRICT;
CREATE INDEX sweeps_by_time ON sweeps (created_ms);
CREATE INDEX sweeps_by_job ON sweeps (job_id);
CREATE INDEX sweeps_by_deployment ON sweeps (deployment_id, created_ms);

CREATE TABLE runs (
    id          TEXT    PRIMARY KEY,
    sweep_id    TEXT    NOT NULL REFERENCES sweeps (id),
    repetition  INTEGER NOT NULL,
    fingerprint TEXT    REFERENCES fingerprints (digest), -- NULL until the first cell is measured
    provenance  TEXT    NOT NULL, -- JSON: who started it, client, host, version
    created_ms  INTEGER NOT NULL,
    finished_ms INTEGER,
    UNIQUE (sweep_id, repetition)
) STRICT;
CREATE INDEX runs_by_time ON runs (created_ms);

CREATE TABLE cells (
    id            INTEGER PRIMARY KEY,
    sweep_id      TEXT    NOT NULL REFERENCES sweeps (id),
    run_id        TEXT    NOT NULL REFERENCES runs (id),
    position      INTEGER NOT NULL, -- in the order of measurement
    concurrency   INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    state         TEXT    NOT NULL CHECK (state IN ('pending', 'measured', 'infeasible', 'failed', 'skipped')),
    reason        TEXT    NOT NULL DEFAULT '',
    attempt_id    INTEGER REFERENCES attempts (id), -- the accepted attempt
    UNIQUE (sweep_id, position),
    UNIQUE (run_id, concurrency, input_tokens, output_tokens)
) STRICT;

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
    workload_digest TEXT    NOT NULL DEFAULT '', -- SHA-256 of what its prompts were made from
    measurement     TEXT    NOT NULL DEFAULT '{}', -- JSON, members as in base/measure/measurement.c
    witness         TEXT    NOT NULL DEFAULT '{}', -- JSON: the server's own metrics for the measurement window
    UNIQUE (cell_id, number)
) STRICT;
CREATE INDEX attempts_by_job ON attempts (job_id);

CREATE TABLE histograms (
    attempt_id INTEGER NOT NULL REFERENCES attempts (id),
    metric     TEXT    NOT NULL, -- ttft, itl, tpot, e2e, lag, ...
    data       BLOB    NOT NULL, -- in nanoseconds, see base/stats/histogram.h
    PRIMARY KEY (attempt_id, metric)
) STRICT, WITHOUT ROWID;

-- All requests of an attempt, compressed. The setting records_days says how long they are kept.
CREATE TABLE request_records (
    attempt_id INTEGER PRIMARY KEY REFERENCES attempts (id),
    created_ms INTEGER NOT NULL,
    requests   INTEGER NOT NULL,
    data       BLOB    NOT NULL -- compressed columns, packed by bench/
) STRICT;
CREATE INDEX request_records_by_time ON request_records (created_ms);

-- The events of streams, numbered per stream, so that a client can resume a stream.
CREATE TABLE events (
    stream     TEXT    NOT NULL,
    sequence   INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    frame      TEXT    NOT NULL,
    PRIMARY KEY (stream, sequence)
) STRICT, WITHOUT ROWID;
CREATE INDEX events_by_time ON events (created_ms);

-- The audit log. Each change and each refusal has a row with its outcome. If a call has effects outside opsbrain, a row
-- with its intent is added first.
CREATE TABLE audit (
    id         INTEGER PRIMARY KEY,
    at_ms      INTEGER NOT NULL,
    request_id TEXT    NOT NULL,
    principal  TEXT    NOT NULL,
    role       TEXT    NOT NULL,
    client     TEXT    NOT NULL,
    tool       TEXT    NOT NULL,
    arguments  TEXT    NOT NULL, -- JSON, limited in size, without secrets
    phase      TEXT    NOT NULL CHECK (phase IN ('intent', 'outcome')),
    outcome    TEXT    NOT NULL, -- 'ok', or the error's kind
    detail     TEXT    NOT NULL,
    subject    TEXT    NOT NULL  -- what it changed: deployment name, sweep id, ...
) STRICT;
CREATE INDEX audit_by_time ON audit (at_ms);

-- Idempotency keys: a call with the key and arguments of an earlier call starts nothing new, and is told what that call
-- started.
CREATE TABLE idempotency (
    principal        TEXT    NOT NULL,
    tool             TEXT    NOT NULL,
    key              TEXT    NOT NULL,
    arguments_digest TEXT    NOT NULL,
    subject          TEXT    NOT NULL, -- the id of what the first call started
    created_ms       INTEGER NOT NULL,
    PRIMARY KEY (principal, tool, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_time ON idempotency (created_ms);
