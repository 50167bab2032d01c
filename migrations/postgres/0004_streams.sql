-- What a session's client may come back to: the newest event of its standing stream that a connection took, its calls
-- that are answered by a stream, and the resources it follows.
ALTER TABLE sessions ADD COLUMN heard BIGINT NOT NULL DEFAULT 0;

CREATE TABLE event_calls (
    stream     TEXT COLLATE "C" PRIMARY KEY, -- as in events
    session    TEXT COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    message_id TEXT COLLATE "C" NOT NULL, -- JSON: the id its answer must have
    request_id TEXT COLLATE "C" NOT NULL, -- of the log line and the audit
    created_ms BIGINT NOT NULL,
    ended_ms   BIGINT           -- NULL: it runs, or the server was lost while it did
);
CREATE INDEX event_calls_by_session ON event_calls (session);

CREATE TABLE subscriptions (
    session TEXT COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    uri     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session, uri)
);
