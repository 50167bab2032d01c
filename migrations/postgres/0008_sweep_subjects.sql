-- A sweep can measure two deployments alternately. How to make prompts is determined separately for each of them, and a
-- job can wait in line for more than one endpoint.
CREATE TABLE sweep_subjects (
    sweep_id      TEXT COLLATE "C" NOT NULL REFERENCES sweeps (id),
    position      BIGINT NOT NULL, -- 0: the sweep's own deployment; 1: the candidate
    deployment_id BIGINT NOT NULL REFERENCES deployments (id),
    revision      BIGINT NOT NULL,
    workload      TEXT COLLATE "C" NOT NULL DEFAULT '{}', -- JSON: how to make prompts for this server, determined once
    PRIMARY KEY (sweep_id, position),
    UNIQUE (sweep_id, deployment_id)
);
CREATE INDEX sweep_subjects_by_deployment ON sweep_subjects (deployment_id);
ALTER TABLE sweeps DROP COLUMN workload;

ALTER TABLE endpoint_leases DROP CONSTRAINT endpoint_leases_job_id_key;
ALTER TABLE endpoint_leases ADD UNIQUE (job_id, endpoint);
