-- Recipes that admins imported. Every revision is kept unchanged, and the newest revision of a name is used, unless a
-- recipe of that name is built into the program or in the team's folder.
CREATE TABLE recipe_imports (
    name       TEXT COLLATE "C" NOT NULL,
    revision   BIGINT NOT NULL,
    document   TEXT COLLATE "C" NOT NULL, -- JSON, checked when it was imported
    principal  TEXT COLLATE "C" NOT NULL,
    created_ms BIGINT NOT NULL,
    PRIMARY KEY (name, revision)
);
