-- Questions that jobs ask people or a client's model, and the answers. A job never uses the same key for two different
-- questions. A queued job is not claimed until all its questions are answered.
CREATE TABLE job_questions (
    job_id      TEXT    NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    key         TEXT    NOT NULL,
    request     TEXT    NOT NULL, -- JSON: method and params
    answer      TEXT,             -- JSON; NULL: not answered
    asked_ms    INTEGER NOT NULL,
    answered_ms INTEGER,
    PRIMARY KEY (job_id, key)
) STRICT, WITHOUT ROWID;

-- When something that clients are told about the job last changed; 0: not since the job was created.
ALTER TABLE jobs ADD COLUMN updated_ms INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET updated_ms = max(created_ms, coalesce(started_ms, 0), coalesce(finished_ms, 0));
