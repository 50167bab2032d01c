-- `sequence` numbers the rows in the order in which they were added, because several rows can have the same created_ms.
-- Unlike SQLite's rowid, it exists in every database engine, and a copy of the database keeps it.
ALTER TABLE jobs ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sweeps ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;
ALTER TABLE imports ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;
ALTER TABLE api_keys ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;

DROP TRIGGER finished_runs_stay;
UPDATE jobs SET sequence = rowid;
UPDATE sweeps SET sequence = rowid;
UPDATE runs SET sequence = rowid;
UPDATE imports SET sequence = rowid;
UPDATE api_keys SET sequence = rowid;
CREATE TRIGGER finished_runs_stay BEFORE UPDATE ON runs WHEN OLD.finished_ms IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'a finished run is never changed');
END;

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
