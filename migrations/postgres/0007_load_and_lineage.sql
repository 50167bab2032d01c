-- The load of a cell can be a rate of arriving requests (open loop) instead of a number of users, and a cell can be
-- inferred from its neighbours instead of being measured. A run measures one of the deployments of its sweep, and can correct
-- an earlier run.
ALTER TABLE runs ADD COLUMN deployment_id BIGINT NOT NULL REFERENCES deployments (id);
ALTER TABLE runs ADD COLUMN revision BIGINT NOT NULL;
ALTER TABLE runs ADD COLUMN corrects TEXT COLLATE "C" REFERENCES runs (id); -- the earlier run that this one corrects
ALTER TABLE runs DROP CONSTRAINT runs_sweep_id_repetition_key;
ALTER TABLE runs ADD UNIQUE (sweep_id, deployment_id, repetition);
CREATE INDEX runs_by_deployment ON runs (deployment_id, created_ms);

ALTER TABLE cells ADD COLUMN request_rate DOUBLE PRECISION NOT NULL DEFAULT 0; -- arriving requests per second; 0: a closed loop
ALTER TABLE cells DROP CONSTRAINT cells_run_id_concurrency_input_tokens_output_tokens_key;
ALTER TABLE cells ADD UNIQUE (run_id, concurrency, request_rate, input_tokens, output_tokens);
ALTER TABLE cells DROP CONSTRAINT cells_state_check;
ALTER TABLE cells ADD CHECK (state IN ('pending', 'measured', 'infeasible', 'failed', 'skipped', 'inferred'));
