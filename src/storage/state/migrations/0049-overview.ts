import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

/** What tells an owner about everything at once: the quarantines of all streams, and what fires and fails. */
export const overview: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(db)
  },
}

/** A stream that is gone has no counts any more, though its entries may be there for a while. */
const counted = `INSERT INTO quarantine_counts
    SELECT NEW.stream_id, NEW.reason, NEW.owner_id, 1 FROM data_streams WHERE id = NEW.stream_id
    ON CONFLICT DO UPDATE SET entries = entries + 1`
const uncounted = `UPDATE quarantine_counts SET entries = entries - 1
    WHERE stream_id = OLD.stream_id AND reason = OLD.reason;
  DELETE FROM quarantine_counts
    WHERE stream_id = OLD.stream_id AND reason = OLD.reason AND entries <= 0`

const statements = [
  `ALTER TABLE quarantine ADD COLUMN owner_id TEXT NOT NULL DEFAULT ''`,
  `UPDATE quarantine SET owner_id = coalesce(
     (SELECT owner_id FROM data_streams WHERE data_streams.id = quarantine.stream_id), '')`,
  `CREATE INDEX quarantine_of_owner
     ON quarantine (owner_id, reason, received_at, journal_offset, stream_id)`,
  // Counted while they change, because counting a million rows would take too long.
  `CREATE TABLE quarantine_counts (
     stream_id TEXT NOT NULL, reason TEXT NOT NULL, owner_id TEXT NOT NULL, entries BIGINT NOT NULL,
     PRIMARY KEY (stream_id, reason)) WITHOUT ROWID`,
  `CREATE INDEX quarantine_counts_of_owner ON quarantine_counts (owner_id, reason, entries)`,
  // By an index that has both: owners are in the rows, which are large.
  `INSERT INTO quarantine_counts SELECT stream_id, reason, owner_id, entries
     FROM (SELECT stream_id, reason, count(*) AS entries FROM quarantine GROUP BY stream_id, reason)
     JOIN data_streams ON data_streams.id = stream_id`,
  `CREATE TRIGGER quarantine_counted_insert AFTER INSERT ON quarantine BEGIN
     ${counted}; END`,
  `CREATE TRIGGER quarantine_counted_update AFTER UPDATE OF reason ON quarantine
     WHEN OLD.reason <> NEW.reason BEGIN ${uncounted}; ${counted}; END`,
  `CREATE TRIGGER quarantine_counted_delete AFTER DELETE ON quarantine BEGIN
     ${uncounted}; END`,
  `CREATE TRIGGER data_streams_delete_quarantine_counts AFTER DELETE ON data_streams BEGIN
     DELETE FROM quarantine_counts WHERE stream_id = OLD.id; END`,
  `CREATE INDEX alerts_firing_of_owner ON alerts (owner_id, severity, created_at, id)
     WHERE state = 'firing'`,
  `CREATE INDEX deliveries_failed_of_owner ON deliveries (owner_id, channel, created_at)
     WHERE state = 'failed'`,
]
