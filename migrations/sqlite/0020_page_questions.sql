-- If a call has a question for a person, but its client shows no forms, the server shows the question on a web page of
-- its own. These are such questions and their answers.
CREATE TABLE page_questions (
    id          TEXT    PRIMARY KEY, -- ask_..., as in the page's address
    principal   TEXT    NOT NULL,    -- the caller; nobody else is allowed to answer
    tool        TEXT    NOT NULL,
    client      TEXT    NOT NULL,
    params      TEXT    NOT NULL,    -- JSON: the params of elicitation/create: the message and the form
    answer      TEXT,                -- JSON: action and content; NULL: not answered
    asked_ms    INTEGER NOT NULL,
    expires_ms  INTEGER NOT NULL,    -- later answers are refused
    answered_ms INTEGER
) STRICT;
CREATE INDEX page_questions_by_principal ON page_questions (principal, expires_ms);
CREATE INDEX page_questions_by_age ON page_questions (asked_ms);
