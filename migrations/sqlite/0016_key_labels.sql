-- A note that says what a key is for. A principal can have several keys.
ALTER TABLE api_keys ADD COLUMN label TEXT NOT NULL DEFAULT '';
