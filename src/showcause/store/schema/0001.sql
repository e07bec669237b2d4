-- The store of showcause, schema 1.
--
-- Migrations are numbered and only ever appended; each is applied once, in one transaction, and
-- PRAGMA user_version says which was the last. Times are RFC 3339 text in UTC, digests are
-- hexadecimal SHA-256, durations are seconds. Text columns that hold JSON say so.
--
-- History
--   1  receipts, reviews_started, base_outcomes, durations, outcomes

PRAGMA application_id = 0x73686f77;  -- "show": any other SQLite file is refused

-- One row per receipt, in the order of the chain. Rows are appended and never changed.
-- The generated columns are drawn from the body, so that a listing can neither disagree with the
-- receipt nor has to parse it. `body` comes last: a listing does not read its overflow pages.
CREATE TABLE receipts (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,   -- 12 hexadecimal digits, given out when the work started
    kind        TEXT NOT NULL,          -- "review"
    version     TEXT NOT NULL,          -- of the receipt's shape
    created     TEXT NOT NULL,
    settled     TEXT NOT NULL,          -- key under which it answers for an equal review; '' = none
    previous    TEXT NOT NULL,          -- digest of the receipt before it
    digest      TEXT NOT NULL,
    signature   TEXT NOT NULL,          -- HMAC-SHA256, '' = not signed
    verdict     TEXT    GENERATED ALWAYS AS (json_extract(body, '$.verdict')) STORED,
    ended       TEXT    GENERATED ALWAYS AS (json_extract(body, '$.ended')) STORED,
    exit_status INTEGER GENERATED ALWAYS AS (json_extract(body, '$.exit_status')) STORED,
    base_tree   TEXT    GENERATED ALWAYS AS (json_extract(body, '$.bound_to.base_tree')) STORED,
    head_tree   TEXT    GENERATED ALWAYS AS (json_extract(body, '$.bound_to.head_tree')) STORED,
    causes      INTEGER GENERATED ALWAYS AS (json_array_length(body, '$.causes')) STORED,
    why         TEXT    GENERATED ALWAYS AS (substr(json_extract(body, '$.why'), 1, 300)) STORED,
    body        TEXT NOT NULL           -- canonical JSON; the digest is taken over this very text
);
CREATE INDEX receipts_by_seq ON receipts (seq);
CREATE INDEX receipts_by_settled ON receipts (settled) WHERE settled <> '';
CREATE INDEX receipts_by_head ON receipts (head_tree);

-- One row per review, written before its work and closed by its receipt. A row that is still open
-- while its process is gone was interrupted; it then gets a receipt that says so.
CREATE TABLE reviews_started (
    id            TEXT PRIMARY KEY,     -- the id that the receipt will have
    started       TEXT NOT NULL,
    pid           INTEGER NOT NULL,
    process_start TEXT NOT NULL,        -- tells a process from a later one with the same pid
    boot          TEXT NOT NULL,        -- id of this boot of the machine
    pid_namespace TEXT NOT NULL,        -- a pid means nothing outside of it
    host          TEXT NOT NULL,
    about         TEXT NOT NULL,        -- JSON: what is reviewed
    closed        TEXT                  -- when the receipt was appended
);
CREATE INDEX reviews_open ON reviews_started (started) WHERE closed IS NULL;

-- Outcomes of base, kept so that the next review of the same base runs head only. Derived data:
-- old rows are dropped.
CREATE TABLE base_outcomes (
    key          TEXT PRIMARY KEY,      -- digest of the next four
    tree         TEXT NOT NULL,
    check_id     TEXT NOT NULL,
    version      TEXT NOT NULL,         -- of the check
    environment  TEXT NOT NULL,
    created      TEXT NOT NULL,
    reports      TEXT NOT NULL          -- JSON: a list of run reports
);
CREATE INDEX base_outcomes_by_age ON base_outcomes (created);

-- How long each test file took last time. Derived data.
CREATE TABLE durations (
    path      TEXT PRIMARY KEY,         -- JSON text, for paths that are not UTF-8
    seconds   REAL NOT NULL
);

-- What turned out about a verdict. Rows are appended; the last one for a receipt holds.
CREATE TABLE outcomes (
    seq       INTEGER PRIMARY KEY AUTOINCREMENT,
    receipt   TEXT NOT NULL REFERENCES receipts (id),
    judged    TEXT NOT NULL,            -- "right" or "wrong"
    note      TEXT NOT NULL,
    recorded  TEXT NOT NULL
);
CREATE INDEX outcomes_by_receipt ON outcomes (receipt);
