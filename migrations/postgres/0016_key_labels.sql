-- What a key is for, because a principal can have several keys.
ALTER TABLE api_keys ADD COLUMN label TEXT COLLATE "C" NOT NULL DEFAULT '';
