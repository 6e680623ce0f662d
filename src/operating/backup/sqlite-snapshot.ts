import { backup, DatabaseSync } from 'node:sqlite'

/** Pages that are copied at once by a thread of the pool, which others need, too. */
const pagesPerStep = 256

/**
 * A SQLite file as it is at one moment, while others go on writing to it: they use a log, and this reads what was
 * in it and in the file at that moment. Has to be closed soon, because the log grows until then.
 */
export class SqliteSnapshot {
  readonly #connection: DatabaseSync

  constructor(path: string) {
    this.#connection = new DatabaseSync(path, { readOnly: true })
    this.#connection.exec('BEGIN')
    // The moment is that of the first look.
    this.#connection.prepare('SELECT count(*) FROM sqlite_schema').get()
  }

  rows(sql: string): Iterable<Readonly<Record<string, unknown>>> {
    return this.#connection.prepare(sql).iterate()
  }

  /** Rows of each table. */
  counts(): Record<string, number> {
    const tables = [...this.rows(`SELECT name FROM sqlite_schema WHERE type = 'table'`)]
    return Object.fromEntries(
      tables.map(({ name }) => {
        const [row] = this.rows(`SELECT count(*) AS rows FROM "${String(name)}"`)
        return [String(name), Number(row?.['rows'])]
      }),
    )
  }

  /** Copies all of it into a new file; `onStep` may end that by throwing. */
  async copyTo(path: string, onStep: () => void): Promise<void> {
    await backup(this.#connection, path, { rate: pagesPerStep, progress: onStep })
  }

  close(): void {
    this.#connection.close()
  }
}
