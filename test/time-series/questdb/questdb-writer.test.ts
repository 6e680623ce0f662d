import { copyFileSync, existsSync, rmSync } from 'node:fs'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { QuestDbAway, type QuestDbServer } from '../../../src/time-series/questdb/connection.ts'
import {
  createTable,
  digestOf,
  isAliveAt,
  quoted,
  tableOf,
} from '../../../src/time-series/questdb/layout.ts'
import { QuestDbWriter } from '../../../src/time-series/questdb/questdb-writer.ts'
import { shapeOf } from '../../../src/time-series/shape.ts'
import type { StoredReading } from '../../../src/time-series/time-series-store.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import {
  marchUs,
  type ReadingNotes,
  shipmentOf,
  storedReading,
} from '../../support/stored-readings.ts'
import { TemporaryFolder } from '../../support/temporary-folder.ts'

const shape = shapeOf({ temperature: { type: 'number' } })

describe.skipIf(isQuestDbMissing)('the writer', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  test('stores each reading once, whatever comes twice, and counts exactly through crashes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
        await using written = new Written(questDb)
        const model = new Model()
        for (const one of steps) {
          if (one.kind === 'ship') await written.ship(one, model)
          else await written.remove(one, model)
          expect(written.writer.counts('boiler')).toMatchObject(model.counts)
        }
        expect(await written.identities()).toEqual(model.identities)
      }),
      { numRuns: 20 },
    )
  }, 120_000)

  test('does not write over what another data folder has stored', async () => {
    const server = questDb.newServer()
    await using first = new Written(questDb, server)
    await first.writer.write(shipmentOf([storedReading()], 0))
    await using second = new Written(questDb, server)

    await expect(second.writer.write(shipmentOf([storedReading()], 0))).rejects.toThrow(
      'another data folder',
    )
  })

  test('does not go on with a server that has nothing of what it has stored', async () => {
    await using written = new Written(questDb)
    await written.writer.write(shipmentOf([storedReading()], 0))
    await written.reopen({ server: questDb.newServer() })

    await expect(written.writer.write(shipmentOf([storedReading()], 1))).rejects.toThrow(
      'another server, or was emptied',
    )
  })

  test('refuses a table that somebody has changed', async () => {
    await using written = new Written(questDb)
    await written.writer.write(shipmentOf([storedReading()], 0))
    await written.run(`ALTER TABLE ${quoted(written.table)} ADD COLUMN mine INT`)
    await expect
      .poll(() =>
        written.run(`SELECT mine FROM ${quoted(written.table)}`).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    await written.reopen()

    await expect(written.writer.write(shipmentOf([storedReading()], 1))).rejects.toThrow(
      'other columns',
    )
  })

  test('goes on after QuestDB was stopped and started, and says meanwhile that it is away', async () => {
    await using written = new Written(questDb)
    await written.writer.write(shipmentOf([storedReading({ digest: 1n })], 0))
    await questDb.kill()
    const next = shipmentOf([storedReading({ digest: 1n }), storedReading({ digest: 2n })], 1)

    await expect(written.writer.write(next)).rejects.toThrow(QuestDbAway)
    await expect(written.writer.write(next)).rejects.toThrow(QuestDbAway)
    await questDb.start()
    await written.writer.write(next)

    expect(written.writer.counts('boiler')).toMatchObject({ stored: 2, duplicates: 1 })
    expect(await written.identities()).toHaveLength(2)
  })

  test('marks all readings of a stream as removed, and says how many there were', async () => {
    await using written = new Written(questDb)
    const readings = [storedReading(), storedReading(), storedReading({ streamId: 'pump' })]
    await written.writer.write(shipmentOf(readings, 0))

    expect(await written.writer.removeStream('boiler')).toBe(2)
    expect(await written.writer.removeStream('boiler')).toBe(2)

    expect(await written.identities()).toEqual([])
    expect(await written.identities('pump')).toHaveLength(1)
  })
})

/** A writer, its file, and its tables on a server that others use, too. */
class Written implements AsyncDisposable {
  readonly #folder = new TemporaryFolder()
  readonly #path = this.#folder.file('positions.db')
  readonly #questDb: QuestDb
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

  async ship({ readings, crash, again }: Ship, model: Model): Promise<void> {
    const all = readings.map((notes) => storedReading(notes))
    const from = this.writer.position()
    const write = async (count: number) =>
      await this.writer.write(shipmentOf(all.slice(0, count), from))
    if (crash !== 'none') await this.#losing(() => write(all.length), crash)
    if (again < all.length) {
      await write(again)
      await this.writer.write(shipmentOf(all.slice(again), from + again))
    } else await write(all.length)
    for (const reading of all) model.take(reading)
  }

  async remove({ startUs, endUs, crash }: Remove, model: Model): Promise<void> {
    const from = this.writer.position()
    const removal = { streamId: 'boiler', startUs, endUs, from, nextOffset: from + 1 }
    if (crash !== 'none') await this.#losing(() => this.writer.remove(removal), crash)
    await this.writer.remove(removal)
    model.remove(startUs, endUs)
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
    return new QuestDbWriter({ server: this.#server, path: this.#path, clock: systemClock })
  }

  /** Does work whose rows reach QuestDB, and whose position does not reach the disk. */
  async #losing(work: () => Promise<void>, crash: Exclude<Crash, 'none'>): Promise<void> {
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

/** Whether the process dies before it has written its position, and how far QuestDB is by then. */
type Crash = 'none' | 'sent' | 'applied'
const crash = fc.constantFrom<Crash>('none', 'none', 'sent', 'applied')

/** A time among few, over two months, so that much comes twice and much is removed. */
const timeUs = fc.nat(12).map((hour) => marchUs + (hour - 6) * 3_600_000_000)

interface Ship {
  readonly readings: readonly ReadingNotes[]
  readonly crash: Crash
  /** After a crash the same entries come in other portions. */
  readonly again: number
}

interface Remove {
  readonly startUs: number
  readonly endUs: number
  readonly crash: Crash
}

const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('ship' as const),
      readings: fc.array(fc.record({ timestampUs: timeUs, digest: fc.bigInt(0n, 2n) }), {
        minLength: 1,
        maxLength: 12,
      }),
      crash,
      again: fc.integer({ min: 1, max: 14 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('remove' as const),
      startUs: timeUs,
      endUs: timeUs,
      crash,
    }),
  },
)

/** What has to be there, and to be counted. */
class Model {
  readonly #there = new Map<string, number>()
  counts = { received: 0, stored: 0, duplicates: 0, deleted: 0 }

  get identities(): string[] {
    return [...this.#there.keys()].sort()
  }

  take({ timestampUs, digest }: StoredReading): void {
    const identity = `${timestampUs} ${digest}`
    this.counts.received++
    if (this.#there.has(identity)) this.counts.duplicates++
    else this.counts.stored++
    this.#there.set(identity, timestampUs)
  }

  remove(startUs: number, endUs: number): void {
    for (const [identity, timestampUs] of this.#there) {
      if (timestampUs < startUs || timestampUs >= endUs) continue
      this.#there.delete(identity)
      this.counts.deleted++
    }
  }
}
