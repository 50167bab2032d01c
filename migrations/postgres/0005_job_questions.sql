-- Questions that jobs ask people or a client's model, and the answers. A job never uses the same key for two different
-- questions. A queued job is not claimed until all its questions are answered.
CREATE TABLE job_questions (
    job_id      TEXT COLLATE "C" NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    key         TEXT COLLATE "C" NOT NULL,
    request     TEXT COLLATE "C" NOT NULL, -- JSON: method and params
    answer      TEXT COLLATE "C",             -- JSON; NULL: not answered
    asked_ms    BIGINT NOT NULL,
    answered_ms BIGINT,
    PRIMARY KEY (job_id, key)
);

-- When something that clients are told about the job last changed; 0: not since the job was created.
ALTER TABLE jobs ADD COLUMN updated_ms BIGINT NOT NULL DEFAULT 0;
