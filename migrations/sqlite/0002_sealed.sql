-- Keys of the server's own, made at first need.
CREATE TABLE server_keys (
    name       TEXT    PRIMARY KEY,
    key        BLOB    NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What was done at the last round of a request that asked its client: so that it is done once,
-- however often that round is sent.
CREATE TABLE settled_requests (
    nonce      TEXT    PRIMARY KEY, -- of the sealed state
    request_id TEXT    NOT NULL,    -- in the audit
    created_ms INTEGER NOT NULL,
    result     TEXT                 -- as it was answered; NULL: not known (yet)
) STRICT, WITHOUT ROWID;
CREATE INDEX settled_requests_by_time ON settled_requests (created_ms);
