-- Recipes that admins imported. Every revision is kept unchanged. The newest revision of a name is used, unless a
-- recipe of that name is built into the program or is in the team's folder.
CREATE TABLE recipe_imports (
    name       TEXT    NOT NULL,
    revision   INTEGER NOT NULL,
    document   TEXT    NOT NULL, -- JSON, checked when it was imported
    principal  TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    PRIMARY KEY (name, revision)
) STRICT;
