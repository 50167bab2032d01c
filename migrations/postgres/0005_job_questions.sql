-- What jobs ask of people, or of a client's model, and what they were told. A key means one question for the whole of a
-- job's life. A queued job with an open question waits: nobody claims it until all are answered.
CREATE TABLE job_questions (
    job_id      TEXT COLLATE "C" NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    key         TEXT COLLATE "C" NOT NULL,
    request     TEXT COLLATE "C" NOT NULL, -- JSON: method and params
    answer      TEXT COLLATE "C",             -- JSON; NULL: open
    asked_ms    BIGINT NOT NULL,
    answered_ms BIGINT,
    PRIMARY KEY (job_id, key)
);

-- When something a client is told of the job changed last; 0: not since it was created.
ALTER TABLE jobs ADD COLUMN updated_ms BIGINT NOT NULL DEFAULT 0;
