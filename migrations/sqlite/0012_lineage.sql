-- Measurements stay as they are. A run can be changed only until it has finished, and an attempt only until it has
-- ended, with one exception: if a user asks for a failed or skipped cell of an unfinished run to be measured again, its
-- accepted attempt becomes rejected. Of all that was measured, only the records of single requests are deleted, when
-- they are old.
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
