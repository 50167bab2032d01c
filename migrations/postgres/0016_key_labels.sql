-- What a key is for: a principal may have several.
ALTER TABLE api_keys ADD COLUMN label TEXT COLLATE "C" NOT NULL DEFAULT '';
