import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Offset } from '../../journal/journal.ts'

export const unprovenTables = `
  CREATE TABLE IF NOT EXISTS proven (
    is_any INTEGER NOT NULL, transactions TEXT NOT NULL, server TEXT, checkpoint_asked TEXT
  ) STRICT;
  CREATE TABLE IF NOT EXISTS unproven_stretches (
    first_offset INTEGER PRIMARY KEY, next_offset INTEGER NOT NULL, bytes INTEGER NOT NULL, sent BLOB
  ) STRICT;
  CREATE TABLE IF NOT EXISTS unproven_statements (
    id INTEGER PRIMARY KEY, position INTEGER NOT NULL, statement TEXT NOT NULL
  ) STRICT;
`

/** What was known to be on QuestDB's disk at a moment. */
export interface Proof {
  /** All entries before it are there. */
  readonly position: Offset
  /** Id of the last statement that is proven, too. */
  readonly statement: number
  /** By table, the newest transaction: one that ends before it has lost something. */
  readonly transactions: ReadonlyMap<string, number>
}

/** A stretch of the journal that QuestDB has taken. */
export interface UnprovenStretch {
  readonly from: Offset
  readonly nextOffset: Offset
  /** Bytes of its entries in the journal, about. */
  readonly bytes: number
  /** A bit for each entry that became a row; undefined when each did. */
  readonly sent: Uint8Array | undefined
}

/** What changed rows between two entries of the journal. */
export interface UnprovenStatement {
  readonly id: number
  /** The first entry after it. */
  readonly position: Offset
  readonly text: string
}

/**
 * What QuestDB has taken since it was last proven to have everything on its disk: which entries of the
 * journal became rows, and which statements changed rows in between. Told again in the same order, it
 * leads to the same rows, whatever part of it was lost: rows replace those of the same identity, and
 * statements touch only rows of entries before them.
 *
 * It lies in the file of positions, and is written in its transactions.
 */
export class UnprovenLog {
  readonly #database: DatabaseSync
  readonly #addStretch: StatementSync
  readonly #addStatement: StatementSync
  #hasProof: boolean
  #transactions: ReadonlyMap<string, number>
  #server: string | undefined
  #checkpointAsked: string | undefined
  #from: Offset | undefined
  #bytes = 0
  #statements = 0
  #lastStatement = 0

  constructor(database: DatabaseSync) {
    this.#database = database
    const proven = database.prepare('SELECT * FROM proven').get()
    this.#hasProof = Number(proven?.['is_any']) === 1
    const transactions = JSON.parse(String(proven?.['transactions'])) as Record<string, number>
    this.#transactions = new Map(Object.entries(transactions))
    this.#server = textOf(proven?.['server'])
    this.#checkpointAsked = textOf(proven?.['checkpoint_asked'])
    this.#addStretch = database.prepare('INSERT INTO unproven_stretches VALUES (?, ?, ?, ?)')
    this.#addStatement = database.prepare('INSERT INTO unproven_statements VALUES (?, ?, ?)')
    this.recount()
  }

  /** Whether anything is known to be on a disk: without that, the journal has all that there is. */
  get hasProof(): boolean {
    return this.#hasProof
  }

  get transactions(): ReadonlyMap<string, number> {
    return this.#transactions
  }

  /** Which process of QuestDB has taken all that is not proven. */
  get server(): string | undefined {
    return this.#server
  }

  /** When a checkpoint was asked for whose end is not known, by the server's clock. */
  get checkpointAsked(): string | undefined {
    return this.#checkpointAsked
  }

  /** The first entry of the journal that is still needed, or nothing. */
  get from(): Offset | undefined {
    return this.#from
  }

  /** Bytes of the entries that the journal has to keep. */
  get bytes(): number {
    return this.#bytes
  }

  /** Whether there is nothing that QuestDB could lose. */
  get isEmpty(): boolean {
    return this.#from === undefined && this.#statements === 0
  }

  get lastStatement(): number {
    return this.#lastStatement
  }

  /** Looks into the file: after a change that failed, memory may say something else. */
  recount(): void {
    const stretches = this.#database
      .prepare('SELECT min(first_offset) AS first, sum(bytes) AS bytes FROM unproven_stretches')
      .get()
    const first = stretches?.['first'] ?? undefined
    this.#from = first === undefined ? undefined : Number(first)
    this.#bytes = Number(stretches?.['bytes'] ?? 0)
    const statements = this.#database
      .prepare('SELECT count(*) AS count, max(id) AS last FROM unproven_statements')
      .get()
    this.#statements = Number(statements?.['count'])
    this.#lastStatement = Math.max(this.#lastStatement, Number(statements?.['last'] ?? 0))
  }

  addStretch({ from, nextOffset, bytes, sent }: UnprovenStretch): void {
    if (nextOffset === from) return
    this.#addStretch.run(from, nextOffset, bytes, sent ?? null)
    this.#from ??= from
    this.#bytes += bytes
  }

  addStatement(position: Offset, statement: string): void {
    this.#addStatement.run(++this.#lastStatement, position, statement)
    this.#statements++
  }

  /** The first entry of a stretch that ends behind an offset, or nothing. */
  firstFrom(offset: Offset): Offset | undefined {
    const row = this.#database
      .prepare(
        `SELECT first_offset FROM unproven_stretches
         WHERE first_offset >= ${stretchAt} AND next_offset > :from ORDER BY first_offset LIMIT 1`,
      )
      .get({ from: offset })
    return row && Number(row['first_offset'])
  }

  /** Picks, in the order of their entries, the readings that became rows. */
  sentOf<Reading extends { readonly offset: Offset }>(
    readings: readonly Reading[],
    { from, nextOffset }: { readonly from: Offset; readonly nextOffset: Offset },
  ): Reading[] {
    const stretches = this.#database
      .prepare(
        `SELECT * FROM unproven_stretches
         WHERE first_offset >= ${stretchAt} AND first_offset < :to ORDER BY first_offset`,
      )
      .all({ from, to: nextOffset })
      .values()
    let stretch: SentStretch | undefined
    return readings.filter(({ offset }) => {
      while (stretch === undefined || stretch.nextOffset <= offset) {
        const row = stretches.next()
        if (row.done === true) return false
        stretch = sentStretch(row.value)
      }
      return wasSent(stretch, offset)
    })
  }

  /** The first statement after another, by id. */
  statementAfter(id: number): UnprovenStatement | undefined {
    const row = this.#database
      .prepare('SELECT * FROM unproven_statements WHERE id > ? ORDER BY id LIMIT 1')
      .get(id)
    if (!row) return undefined
    const { position, statement } = row
    return { id: Number(row['id']), position: Number(position), text: String(statement) }
  }

  /** Forgets what is proven. To be called in a transaction. */
  prove({ position, statement, transactions }: Proof): void {
    this.#database
      .prepare('UPDATE proven SET is_any = 1, transactions = ?')
      .run(JSON.stringify(Object.fromEntries(transactions)))
    this.#database.prepare('DELETE FROM unproven_stretches WHERE next_offset <= ?').run(position)
    this.#database.prepare('DELETE FROM unproven_statements WHERE id <= ?').run(statement)
    this.#hasProof = true
    this.#transactions = transactions
    this.recount()
  }

  setServer(server: string): void {
    this.#database.prepare('UPDATE proven SET server = ?').run(server)
    this.#server = server
  }

  setCheckpointAsked(askedAt: string | undefined): void {
    this.#database.prepare('UPDATE proven SET checkpoint_asked = ?').run(askedAt ?? null)
    this.#checkpointAsked = askedAt
  }
}

/** In SQL, where the stretch begins that may hold the offset `:from`. */
const stretchAt = `coalesce((SELECT first_offset FROM unproven_stretches
  WHERE first_offset <= :from ORDER BY first_offset DESC LIMIT 1), 0)`

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The bits of `UnprovenStretch`. */
export function bitsOf(
  { from, nextOffset }: { readonly from: Offset; readonly nextOffset: Offset },
  sent: readonly { readonly offset: Offset }[],
): Uint8Array | undefined {
  const entries = nextOffset - from
  if (sent.length === entries) return undefined
  const bits = new Uint8Array(Math.ceil(entries / 8))
  for (const { offset } of sent) {
    const index = offset - from
    bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7))
  }
  return bits
}

type SentStretch = Pick<UnprovenStretch, 'from' | 'nextOffset' | 'sent'>

function sentStretch(row: Readonly<Record<string, unknown>>): SentStretch {
  return {
    from: Number(row['first_offset']),
    nextOffset: Number(row['next_offset']),
    sent: (row['sent'] as Uint8Array | null) ?? undefined,
  }
}

function wasSent({ from, sent }: SentStretch, offset: Offset): boolean {
  if (offset < from) return false
  if (sent === undefined) return true
  const index = offset - from
  return ((sent[index >> 3] ?? 0) & (1 << (index & 7))) !== 0
}
