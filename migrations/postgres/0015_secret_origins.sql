-- Where each secret is allowed to be sent: only to the origins (scheme, host and port) of these URLs.
CREATE TABLE secret_origins (
    secret     TEXT COLLATE "C" NOT NULL, -- the secret's name
    url        TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL,
    created_by TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (secret, url)
);

-- The owner of a deployment: the principal who first registered it, until an admin makes another principal the owner.
ALTER TABLE deployments ADD COLUMN owner TEXT COLLATE "C" NOT NULL DEFAULT '';
