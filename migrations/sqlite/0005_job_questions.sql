-- What jobs ask of people, or of a client's model, and what they were told. A key means one question for the whole of a
-- job's life. A queued job with an open question waits: nobody claims it until all are answered.
CREATE TABLE job_questions (
    job_id      TEXT    NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    key         TEXT    NOT NULL,
    request     TEXT    NOT NULL, -- JSON: method and params
    answer      TEXT,             -- JSON; NULL: open
    asked_ms    INTEGER NOT NULL,
    answered_ms INTEGER,
    PRIMARY KEY (job_id, key)
) STRICT, WITHOUT ROWID;

-- When something a client is told of the job changed last; 0: not since it was created.
ALTER TABLE jobs ADD COLUMN updated_ms INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET updated_ms = max(created_ms, coalesce(started_ms, 0), coalesce(finished_ms, 0));
