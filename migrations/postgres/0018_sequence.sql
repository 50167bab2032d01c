-- Numbers rows in the order in which they were added, because several rows can have the same created_ms. A copy of the
-- database keeps the numbers.
ALTER TABLE jobs ADD COLUMN sequence BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sweeps ADD COLUMN sequence BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN sequence BIGINT NOT NULL DEFAULT 0;
ALTER TABLE imports ADD COLUMN sequence BIGINT NOT NULL DEFAULT 0;
ALTER TABLE api_keys ADD COLUMN sequence BIGINT NOT NULL DEFAULT 0;

DROP INDEX jobs_by_time;
DROP INDEX sweeps_by_time;
DROP INDEX runs_by_time;
DROP INDEX imports_by_time;
CREATE INDEX jobs_by_time ON jobs (created_ms, sequence);
CREATE INDEX sweeps_by_time ON sweeps (created_ms, sequence);
CREATE INDEX runs_by_time ON runs (created_ms, sequence);
CREATE INDEX imports_by_time ON imports (created_ms, sequence);
CREATE INDEX jobs_by_sequence ON jobs (sequence);
CREATE INDEX sweeps_by_sequence ON sweeps (sequence);
CREATE INDEX runs_by_sequence ON runs (sequence);
CREATE INDEX imports_by_sequence ON imports (sequence);
