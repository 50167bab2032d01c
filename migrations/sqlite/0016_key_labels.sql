-- What a key is for: a principal may have several.
ALTER TABLE api_keys ADD COLUMN label TEXT NOT NULL DEFAULT '';
