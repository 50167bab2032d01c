-- Keys of the server's own, made at first need.
CREATE TABLE server_keys (
    name       TEXT COLLATE "C" PRIMARY KEY,
    key        BYTEA    NOT NULL,
    created_ms BIGINT NOT NULL
);

-- What was done at the last round of a request that asked its client: so that it is done once,
-- however often that round is sent.
CREATE TABLE settled_requests (
    nonce      TEXT COLLATE "C" PRIMARY KEY, -- of the sealed state
    request_id TEXT COLLATE "C" NOT NULL,    -- in the audit
    created_ms BIGINT NOT NULL,
    result     TEXT COLLATE "C"                 -- as it was answered; NULL: not known (yet)
);
CREATE INDEX settled_requests_by_time ON settled_requests (created_ms);
