-- What calls ask of a person at the server's own page, since their client shows no forms, and the answer.
CREATE TABLE page_questions (
    id          TEXT    PRIMARY KEY, -- ask_..., of the page
    principal   TEXT    NOT NULL,    -- whose call asks: nobody else may answer
    tool        TEXT    NOT NULL,
    client      TEXT    NOT NULL,
    params      TEXT    NOT NULL,    -- JSON: of elicitation/create, the message and the form
    answer      TEXT,                -- JSON: action and content; NULL: none
    asked_ms    INTEGER NOT NULL,
    expires_ms  INTEGER NOT NULL,    -- later answers are refused
    answered_ms INTEGER
) STRICT;
CREATE INDEX page_questions_by_principal ON page_questions (principal, expires_ms);
CREATE INDEX page_questions_by_age ON page_questions (asked_ms);
