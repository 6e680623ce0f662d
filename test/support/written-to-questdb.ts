import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { systemClock } from '../../src/core/clock.ts'
import type { QuestDbServer } from '../../src/time-series/questdb/connection.ts'
import {
  createTable,
  digestOf,
  isAliveAt,
  quoted,
  tableOf,
} from '../../src/time-series/questdb/layout.ts'
import { QuestDbWriter } from '../../src/time-series/questdb/questdb-writer.ts'
import { shapeOf } from '../../src/time-series/shape.ts'
import type { QuestDb } from './questdb.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** That of `storedReading`. */
const shape = shapeOf({ temperature: { type: 'number' } })

/** A writer, its file, and its tables on a server that others use, too. */
export class Written implements AsyncDisposable {
  readonly #folder = new TemporaryFolder()
  readonly #path = this.#folder.file('positions.db')
  readonly #questDb: QuestDb
  readonly log: string[] = []
  #server: QuestDbServer
  writer: QuestDbWriter

  constructor(questDb: QuestDb, server = questDb.newServer()) {
    this.#questDb = questDb
    this.#server = server
    this.writer = this.#open()
  }

  get table(): string {
    return tableOf(this.#server.prefix, shape.id)
  }

  async reopen({ server = this.#server } = {}): Promise<void> {
    await this.writer.close()
    this.#server = server
    this.writer = this.#open()
  }

  /** Times and digests of what is stored of a stream, as QuestDB shows it. */
  async identities(streamId = 'boiler'): Promise<string[]> {
    const connection = this.#questDb.connection()
    await connection.run(createTable(this.table, shape))
    await this.writer.applied(connection)
    const { rows } = await connection.run(
      `SELECT "timestamp"::LONG, "$digest" FROM ${quoted(this.table)}
       WHERE "streamId" = '${streamId}' AND ${isAliveAt(this.writer.position())}`,
    )
    connection.close()
    return rows.map(([time, digest]) => `${String(time)} ${digestOf(String(digest))}`).sort()
  }

  refused(): object[] {
    const file = new DatabaseSync(this.#path, { readOnly: true })
    const rows = file.prepare('SELECT entry, reading FROM refused_readings').all()
    file.close()
    return rows.map((row) => ({ ...row }))
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
    return new QuestDbWriter({ server: this.#server, path: this.#path, clock: systemClock, logger })
  }

  /** Does work whose rows reach QuestDB, and whose position does not reach the disk. */
  async losing(work: () => Promise<void>, crash: 'sent' | 'applied'): Promise<void> {
    await this.reopen()
    const kept = this.#folder.file('kept.db')
    copyFileSync(this.#path, kept)
    await work()
    if (crash === 'applied') await this.identities()
    await this.writer.close()
    for (const suffix of ['-wal', '-shm']) {
      if (existsSync(this.#path + suffix)) rmSync(this.#path + suffix)
    }
    copyFileSync(kept, this.#path)
    this.writer = this.#open()
  }
}
