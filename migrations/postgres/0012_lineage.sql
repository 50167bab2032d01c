-- Measurements stay as they are. A run can be changed only until it has finished, and an attempt only until it has
-- ended, with one exception: if a user asks for a failed or skipped cell of an unfinished run to be measured again, its
-- accepted attempt becomes rejected. Of all that was measured, only the records of single requests are deleted, when
-- they are old.
CREATE INDEX runs_by_correction ON runs (corrects) WHERE corrects IS NOT NULL;

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '%', TG_ARGV[0];
END $$;

CREATE TRIGGER finished_runs_stay BEFORE UPDATE ON runs FOR EACH ROW
WHEN (OLD.finished_ms IS NOT NULL)
EXECUTE FUNCTION refuse_change('a finished run is never changed');
CREATE TRIGGER runs_stay_what_they_are BEFORE UPDATE ON runs FOR EACH ROW
WHEN (NEW.id IS DISTINCT FROM OLD.id OR NEW.sweep_id IS DISTINCT FROM OLD.sweep_id OR NEW.deployment_id IS DISTINCT FROM OLD.deployment_id
  OR NEW.revision IS DISTINCT FROM OLD.revision OR NEW.repetition IS DISTINCT FROM OLD.repetition OR NEW.provenance IS DISTINCT FROM OLD.provenance
  OR NEW.corrects IS DISTINCT FROM OLD.corrects OR NEW.created_ms IS DISTINCT FROM OLD.created_ms
  OR (OLD.fingerprint IS NOT NULL AND NEW.fingerprint IS DISTINCT FROM OLD.fingerprint))
EXECUTE FUNCTION refuse_change('what a run is of is never changed');
CREATE TRIGGER runs_are_kept BEFORE DELETE ON runs FOR EACH ROW
EXECUTE FUNCTION refuse_change('runs are never deleted');

CREATE FUNCTION measured_cells_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state IN ('measured', 'infeasible')
      OR (SELECT finished_ms FROM runs WHERE id = OLD.run_id) IS NOT NULL
      OR NEW.id IS DISTINCT FROM OLD.id OR NEW.sweep_id IS DISTINCT FROM OLD.sweep_id OR NEW.run_id IS DISTINCT FROM OLD.run_id
      OR NEW.position IS DISTINCT FROM OLD.position OR NEW.concurrency IS DISTINCT FROM OLD.concurrency
      OR NEW.request_rate IS DISTINCT FROM OLD.request_rate OR NEW.input_tokens IS DISTINCT FROM OLD.input_tokens
      OR NEW.output_tokens IS DISTINCT FROM OLD.output_tokens THEN
        RAISE EXCEPTION 'a measured cell, or one of a finished run, is never changed';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER measured_cells_stay BEFORE UPDATE ON cells FOR EACH ROW EXECUTE FUNCTION measured_cells_stay();
CREATE TRIGGER cells_are_kept BEFORE DELETE ON cells FOR EACH ROW
EXECUTE FUNCTION refuse_change('cells are never deleted');

CREATE FUNCTION ended_attempts_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state <> 'running' AND NOT (
        OLD.state = 'accepted' AND NEW.state = 'rejected' AND NEW.id IS NOT DISTINCT FROM OLD.id AND NEW.cell_id IS NOT DISTINCT FROM OLD.cell_id
        AND NEW.number IS NOT DISTINCT FROM OLD.number AND NEW.job_id IS NOT DISTINCT FROM OLD.job_id AND NEW.fence IS NOT DISTINCT FROM OLD.fence
        AND NEW.started_ms IS NOT DISTINCT FROM OLD.started_ms AND NEW.finished_ms IS NOT DISTINCT FROM OLD.finished_ms
        AND NEW.workload_digest IS NOT DISTINCT FROM OLD.workload_digest AND NEW.measurement IS NOT DISTINCT FROM OLD.measurement AND NEW.witness IS NOT DISTINCT FROM OLD.witness
        AND EXISTS (SELECT 1 FROM cells c JOIN runs r ON r.id = c.run_id
                    WHERE c.id = OLD.cell_id AND c.state IN ('failed', 'skipped') AND r.finished_ms IS NULL)) THEN
        RAISE EXCEPTION 'an attempt that ended is never changed';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER ended_attempts_stay BEFORE UPDATE ON attempts FOR EACH ROW EXECUTE FUNCTION ended_attempts_stay();
CREATE TRIGGER attempts_are_kept BEFORE DELETE ON attempts FOR EACH ROW
EXECUTE FUNCTION refuse_change('attempts are never deleted');

CREATE TRIGGER histograms_stay BEFORE UPDATE ON histograms FOR EACH ROW
EXECUTE FUNCTION refuse_change('histograms are never changed');
CREATE TRIGGER histograms_are_kept BEFORE DELETE ON histograms FOR EACH ROW
EXECUTE FUNCTION refuse_change('histograms are never deleted');
CREATE TRIGGER request_records_stay BEFORE UPDATE ON request_records FOR EACH ROW
EXECUTE FUNCTION refuse_change('request records are never changed');
CREATE TRIGGER attempt_series_stay BEFORE UPDATE ON attempt_series FOR EACH ROW
EXECUTE FUNCTION refuse_change('series of attempts are never changed');

CREATE TRIGGER fingerprints_stay BEFORE UPDATE ON fingerprints FOR EACH ROW
EXECUTE FUNCTION refuse_change('fingerprints are never changed');
CREATE TRIGGER fingerprints_are_kept BEFORE DELETE ON fingerprints FOR EACH ROW
EXECUTE FUNCTION refuse_change('fingerprints are never deleted');
CREATE TRIGGER plans_stay BEFORE UPDATE ON sweeps FOR EACH ROW
WHEN (NEW.id IS DISTINCT FROM OLD.id OR NEW.deployment_id IS DISTINCT FROM OLD.deployment_id OR NEW.revision IS DISTINCT FROM OLD.revision
  OR NEW.plan IS DISTINCT FROM OLD.plan OR NEW.plan_digest IS DISTINCT FROM OLD.plan_digest OR NEW.principal IS DISTINCT FROM OLD.principal
  OR NEW.created_ms IS DISTINCT FROM OLD.created_ms)
EXECUTE FUNCTION refuse_change('the plan of a sweep is never changed');
