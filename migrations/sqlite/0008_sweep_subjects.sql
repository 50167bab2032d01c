-- A sweep can measure two deployments alternately. How to make prompts is determined separately for each of them, and a
-- job can wait in line for more than one endpoint.
CREATE TABLE sweep_subjects (
    sweep_id      TEXT    NOT NULL REFERENCES sweeps (id),
    position      INTEGER NOT NULL, -- 0: the sweep's own deployment; 1: the candidate
    deployment_id INTEGER NOT NULL REFERENCES deployments (id),
    revision      INTEGER NOT NULL,
    workload      TEXT    NOT NULL DEFAULT '{}', -- JSON: how to make prompts for this server, determined once
    PRIMARY KEY (sweep_id, position),
    UNIQUE (sweep_id, deployment_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sweep_subjects_by_deployment ON sweep_subjects (deployment_id);
INSERT INTO sweep_subjects (sweep_id, position, deployment_id, revision, workload)
    SELECT id, 0, deployment_id, revision, workload FROM sweeps;
ALTER TABLE sweeps DROP COLUMN workload;

CREATE TABLE new_endpoint_leases (
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
INSERT INTO new_endpoint_leases SELECT * FROM endpoint_leases;
DROP TABLE endpoint_leases;
ALTER TABLE new_endpoint_leases RENAME TO endpoint_leases;
CREATE UNIQUE INDEX endpoint_leases_one_holder ON endpoint_leases (endpoint) WHERE granted_ms IS NOT NULL;
