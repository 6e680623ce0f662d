import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import type { Offset } from '../../src/storage/journal/journal.ts'
import {
  createTable,
  digestOf,
  isAliveAt,
  quoted,
  tableOf,
} from '../../src/storage/time-series/questdb/layout.ts'
import { QuestDbWriter } from '../../src/storage/time-series/questdb/questdb-writer.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { Removal, Shipment, ShippedReading } from '../../src/storage/time-series/shipment.ts'
import type { StoreServer } from '../../src/storage/time-series/store-copy.ts'
import type { QuestDb } from './questdb.ts'
import { shipmentOf } from './stored-readings.ts'
import { TemporaryFolder } from './temporary-folder.ts'

export const heldBytesMax = 1024 ** 3

/** That of `storedReading`. */
const shape = shapeOf({ temperature: { type: 'number' } })

/** A writer, its file, and its tables on a server that others use, too. */
export class Written implements AsyncDisposable {
  readonly #folder = new TemporaryFolder()
  readonly path = this.#folder.file('positions.db')
  readonly #questDb: QuestDb
  /** What was written, by where it begins: there is no journal to read it from. */
  readonly #journal = new Map<Offset, Shipment | Removal>()
  readonly log: string[] = []
  server: StoreServer
  writer: QuestDbWriter

  constructor(questDb: QuestDb, server = questDb.newServer()) {
    this.#questDb = questDb
    this.server = server
    this.writer = this.#open()
  }

  get table(): string {
    return tableOf(this.server.prefix, shape.id)
  }

  async reopen({ server = this.server } = {}): Promise<void> {
    await this.writer.close()
    this.server = server
    this.writer = this.#open()
  }

  async ship(readings: readonly ShippedReading[]): Promise<void> {
    const shipment = shipmentOf(readings, this.writer.position())
    await this.writer.write(shipment)
    this.#journal.set(shipment.from, shipment)
  }

  async remove(range: Pick<Removal, 'streamId' | 'startUs' | 'endUs'>): Promise<void> {
    const from = this.writer.position()
    const removal = { ...range, from, nextOffset: from + 1 }
    await this.writer.remove(removal)
    this.#journal.set(from, removal)
  }

  /**
   * Sends again what the writer asks for; how many entries these were.
   *
   * @param between what is done after each part
   */
  async repeat(between: () => Promise<void> = async () => undefined): Promise<number> {
    const { durability } = this.writer
    await durability.look()
    let repeated = 0
    for (;;) {
      const repetition = await durability.nextRepetition()
      if (!repetition) return repeated
      const written = this.#journal.get(repetition.from)
      if (!written) throw new Error(`nothing was written at ${repetition.from}`)
      expect(written.nextOffset).toBeLessThanOrEqual(repetition.until)
      if ('readings' in written) await durability.repeat(written)
      else await durability.repeatRemoval(written)
      repeated += written.nextOffset - written.from
      await between()
    }
  }

  /** Times and digests of what is stored of a stream, as QuestDB shows it. */
  async identities(streamId = 'boiler'): Promise<string[]> {
    const connection = this.#questDb.connection()
    await connection.run(createTable(this.table, shape))
    await this.writer.applied(connection)
    // Tables of classes have longer names.
    const { rows: tables } = await connection.run(
      `SELECT table_name FROM tables() WHERE starts_with(table_name, '${this.table}')`,
    )
    const rows: (readonly unknown[])[] = []
    for (const [table] of tables) {
      const found = await connection.run(
        `SELECT "timestamp"::LONG, "$digest" FROM ${quoted(String(table))}
         WHERE "streamId" = '${streamId}' AND ${isAliveAt(this.writer.position())}`,
      )
      rows.push(...found.rows)
    }
    connection.close()
    return rows.map(([time, digest]) => `${String(time)} ${digestOf(String(digest))}`).sort()
  }

  /** Resolves when QuestDB shows all that it has taken. */
  async settled(): Promise<void> {
    const connection = this.#questDb.connection()
    await this.writer.applied(connection)
    connection.close()
  }

  /** Ends as if it had asked for a checkpoint and died before it could release it. */
  async dyingInCheckpoint(): Promise<void> {
    await this.writer.close()
    const connection = this.#questDb.connection()
    const { rows } = await connection.run('SELECT now()')
    await connection.run('CHECKPOINT CREATE')
    connection.close()
    const file = new DatabaseSync(this.path)
    file.prepare('UPDATE proven SET checkpoint_asked = ?').run(String(rows[0]?.[0]))
    file.close()
    this.writer = this.#open()
  }

  async run(sql: string): Promise<void> {
    const connection = this.#questDb.connection()
    await connection.run(sql)
    connection.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.writer.close()
    this.#folder[Symbol.dispose]()
  }

  #open(): QuestDbWriter {
    const logger = {
      warn: (_: object, message: string) => void this.log.push(message),
      error: (_: object, message: string) => void this.log.push(message),
    }
    const server = this.server
    return new QuestDbWriter({ server, path: this.path, clock: systemClock, logger, heldBytesMax })
  }

  /** Does work whose rows reach QuestDB, and whose position does not reach the disk. */
  async losing(work: () => Promise<void>, crash: 'sent' | 'applied'): Promise<void> {
    await this.reopen()
    const kept = this.#folder.file('kept.db')
    copyFileSync(this.path, kept)
    await work()
    if (crash === 'applied') await this.identities()
    await this.writer.close()
    for (const suffix of ['-wal', '-shm']) {
      if (existsSync(this.path + suffix)) rmSync(this.path + suffix)
    }
    copyFileSync(kept, this.path)
    this.writer = this.#open()
  }
}
