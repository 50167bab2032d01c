-- The load of a cell can be a rate of arriving requests (open loop) instead of a number of users, and a cell can be
-- inferred from its neighbours instead of measured. A run measures one of the deployments of its sweep, and can correct
-- an earlier run.
CREATE TABLE new_runs (
    id            TEXT    PRIMARY KEY,
    sweep_id      TEXT    NOT NULL REFERENCES sweeps (id),
    deployment_id INTEGER NOT NULL REFERENCES deployments (id),
    revision      INTEGER NOT NULL,
    repetition    INTEGER NOT NULL,
    fingerprint   TEXT    REFERENCES fingerprints (digest), -- NULL until the first cell is measured
    provenance    TEXT    NOT NULL, -- JSON: who started it, client, host, version
    corrects      TEXT    REFERENCES runs (id), -- the earlier run that this one corrects
    created_ms    INTEGER NOT NULL,
    finished_ms   INTEGER,
    UNIQUE (sweep_id, deployment_id, repetition)
) STRICT;
INSERT INTO new_runs (id, sweep_id, deployment_id, revision, repetition, fingerprint, provenance, created_ms, finished_ms)
    SELECT r.id, r.sweep_id, s.deployment_id, s.revision, r.repetition, r.fingerprint, r.provenance, r.created_ms, r.finished_ms
    FROM runs r JOIN sweeps s ON s.id = r.sweep_id;
DROP TABLE runs;
ALTER TABLE new_runs RENAME TO runs;
CREATE INDEX runs_by_time ON runs (created_ms);
CREATE INDEX runs_by_deployment ON runs (deployment_id, created_ms);

CREATE TABLE new_cells (
    id            INTEGER PRIMARY KEY,
    sweep_id      TEXT    NOT NULL REFERENCES sweeps (id),
    run_id        TEXT    NOT NULL REFERENCES runs (id),
    position      INTEGER NOT NULL, -- in the order of measurement
    concurrency   INTEGER NOT NULL, -- users; in an open loop, the maximum number of requests in flight
    request_rate  REAL    NOT NULL DEFAULT 0, -- arriving requests per second; 0: a closed loop
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    state         TEXT    NOT NULL
                  CHECK (state IN ('pending', 'measured', 'infeasible', 'failed', 'skipped', 'inferred')),
    reason        TEXT    NOT NULL DEFAULT '',
    attempt_id    INTEGER REFERENCES attempts (id), -- the accepted attempt
    UNIQUE (sweep_id, position),
    UNIQUE (run_id, concurrency, request_rate, input_tokens, output_tokens)
) STRICT;
INSERT INTO new_cells (id, sweep_id, run_id, position, concurrency, input_tokens, output_tokens, state, reason, attempt_id)
    SELECT id, sweep_id, run_id, position, concurrency, input_tokens, output_tokens, state, reason, attempt_id FROM cells;
DROP TABLE cells;
ALTER TABLE new_cells RENAME TO cells;
