-- Browsers that signed in with a key. A browser's cookie contains random bytes, of which only the digest is stored
-- here.
CREATE TABLE browser_sessions (
    id           TEXT COLLATE "C" PRIMARY KEY, -- brs_..., as in the audit log
    digest       BYTEA    NOT NULL UNIQUE,
    key_digest   BYTEA    NOT NULL REFERENCES api_keys (digest),
    role         TEXT COLLATE "C" NOT NULL, -- the key's role at sign-in; if the key gets a lower role, the session ends
    created_ms   BIGINT NOT NULL,
    last_seen_ms BIGINT NOT NULL
);
