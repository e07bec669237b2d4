-- The store of showcause, schema 2: attempts of reviewers are receipts of the same chain.
--
-- The body of an attempt has `ended`, `exit_status` and `why` under the same names as a review's; its
-- `ended` is one of the typed ends of an attempt.

-- One row per attempt, written before anything is spawned and closed by its receipt. A row that is still
-- open while its process is gone was interrupted; it then gets a receipt that says so.
CREATE TABLE attempts_started (
    id            TEXT PRIMARY KEY,     -- the id that the receipt will have
    started       TEXT NOT NULL,
    pid           INTEGER NOT NULL,
    process_start TEXT NOT NULL,
    boot          TEXT NOT NULL,
    pid_namespace TEXT NOT NULL,
    host          TEXT NOT NULL,
    pool          TEXT NOT NULL,        -- "PROVIDER/ACCOUNT" that the attempt draws on
    turn          TEXT NOT NULL,        -- id of the turn it is about
    about         TEXT NOT NULL,        -- JSON: what is attempted
    closed        TEXT,                 -- when the receipt was appended
    ended         TEXT,                 -- its typed end
    spawned       INTEGER,              -- whether anything was started: what was not, cost nothing
    limited_until TEXT                  -- until when its provider wants to be left alone
);
CREATE INDEX attempts_open ON attempts_started (started) WHERE closed IS NULL;
CREATE INDEX attempts_by_pool ON attempts_started (pool, started);
CREATE INDEX attempts_by_turn ON attempts_started (turn);

-- Listings of reviews walk these.
CREATE INDEX receipts_reviews ON receipts (seq) WHERE kind = 'review';
CREATE INDEX receipts_attempts ON receipts (seq) WHERE kind = 'attempt';
