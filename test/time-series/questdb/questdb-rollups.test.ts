import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quoted } from '../../../src/storage/time-series/questdb/layout.ts'
import { QuestDbReader } from '../../../src/storage/time-series/questdb/read/reader.ts'
import { inSession } from '../../../src/storage/time-series/questdb/read/session.ts'
import {
  allRolledUp,
  minutes,
  rolledUp,
  rollupsAnswerAsReadings,
  temperatures,
  timeSeriesRollupsContract,
} from '../../contracts/time-series-rollups-contract.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { openQuestDbStore } from '../../support/questdb-store.ts'
import { eagerRollups, longAfter } from '../../support/rollup-history.ts'
import { aggregateQuery, hourUs, marchUs, storedReading } from '../../support/stored-readings.ts'
import { Written } from '../../support/written-to-questdb.ts'

const hourly = aggregateQuery({
  ...allRolledUp,
  buckets: { kind: 'fixed', widthUs: hourUs },
  startUs: marchUs,
  endUs: marchUs + 24 * hourUs,
})

/** All but values that are looked up at their times. */
const withoutEdges = { ...hourly, ...temperatures('avg', 'sum', 'min', 'max', 'count') }

describe.skipIf(isQuestDbMissing)('QuestDB', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  timeSeriesRollupsContract((clock, options) => openQuestDbStore(questDb, clock, options), {
    runs: 4,
  })

  test('queries answer the same of streams whose readings are in tables of a class, too', async () => {
    const opened = await openQuestDbStore(questDb, longAfter, { rollups: eagerRollups })
    const ids = Array.from({ length: 40 }, (_, index) => `stream-${2 * index + 1}`)
    await opened.store.arrange(new Map(ids.map((id) => [id, 20 * 24 * hourUs])))
    await rollupsAnswerAsReadings(opened, 3)
  })

  test('what is rolled up is answered without its readings', async () => {
    await using rolled = new RolledUp(questDb)
    await rolled.written.ship(minutes(4, (index) => index / 8))
    const answer = await rolled.reader.aggregate(withoutEdges)
    await rolled.settle()
    await rolled.written.run(`UPDATE ${quoted(rolled.written.table)} SET "$removedBy" = 0`)
    const percentile = { ...hourly, ...temperatures('p50') }
    const readingsLeft = async () => (await rolled.reader.aggregate(percentile)).points
    await expect.poll(readingsLeft).toEqual([])

    expect(await rolled.reader.aggregate(withoutEdges)).toEqual(answer)
    expect(answer.points.map(({ count }) => count)).toEqual([60, 60, 60, 60])
  })

  test('an answer is what was stored when it was asked for, though rows are written meanwhile', async () => {
    await using rolled = new RolledUp(questDb)
    const { written } = rolled
    await written.ship(minutes(4, Number))
    await rolled.settle()
    const before = await rolled.reader.aggregate(hourly)

    const asked = rolled.readerThatWaitsFor(async () => {
      await written.ship([storedReading({ timestampUs: marchUs + 1 })])
      await written.remove({
        streamId: 'boiler',
        startUs: marchUs + 2 * hourUs,
        endUs: marchUs + 3 * hourUs,
      })
      await rolled.settle()
    })
    expect(await asked.aggregate(hourly)).toEqual(before)
    const after = await rolled.reader.aggregate(hourly)
    expect(after.points.map(({ count }) => count)).toEqual([61, 60, 60])
  })

  test('nothing is computed of what a power cut has left', async () => {
    await using rolled = new RolledUp(questDb)
    const { written } = rolled
    await written.ship(minutes(4, Number))
    await written.remove({ streamId: 'boiler', startUs: marchUs, endUs: marchUs + hourUs })
    await rolled.settle()
    await written.writer.durability.prove()
    await written.settled()
    await questDb.keepDisk()
    await written.ship([storedReading({ timestampUs: marchUs + 1 })])
    await written.remove({
      streamId: 'boiler',
      startUs: marchUs + 2 * hourUs,
      endUs: marchUs + 3 * hourUs,
    })
    const answer = await rolled.reader.aggregate(hourly)

    await questDb.losePower()
    // What is left is nothing to compute from, and nobody has to know of it beforehand.
    await expect(rolled.settle()).rejects.toThrow('is being sent again')
    await written.repeat()
    const again = await rolled.reader.aggregate(hourly)
    await rolled.settle()

    expect(answer.points.map(({ count }) => count)).toEqual([1, 60, 60])
    expect(again).toEqual(answer)
    expect(await rolled.reader.aggregate(hourly)).toEqual(answer)
  })

  test('rows go with the readings that are not kept any longer, and with their stream', async () => {
    await using rolled = new RolledUp(questDb)
    const { written } = rolled
    await written.ship([...minutes(72, Number), ...minutes(2, Number, 'pump')])
    await rolled.settle()
    expect(rolled.days()).toEqual([4])

    const expiries = [{ streamId: 'boiler', beforeUs: marchUs + 49 * hourUs }]
    await written.writer.expire(expiries, new AbortController().signal)
    await rolled.settle()
    expect(rolled.days()).toEqual([2])
    await written.writer.removeStreams(['pump'])
    expect(rolled.days()).toEqual([1])
    expect(rolled.rollups.totals()).toMatchObject({ streams: 1, marks: 0 })
  })
})

/** What a writer has stored, rolled up when a test says so. */
class RolledUp implements AsyncDisposable {
  readonly written: Written
  readonly #connection
  readonly reader: QuestDbReader
  readonly rollups

  constructor(questDb: QuestDb) {
    this.written = new Written(questDb)
    this.#connection = questDb.connectionTo(this.written.server)
    const [connection, stored] = [this.#connection, this.written.writer]
    this.reader = new QuestDbReader({ connection, stored })
    const signal = new AbortController().signal
    this.rollups = stored.newRollups({
      look: (work) => inSession({ connection, stored, signal }, () => undefined, work),
      clock: longAfter,
      options: eagerRollups,
      onFailure: () => undefined,
    })
  }

  async settle(): Promise<void> {
    await rolledUp({ rollUp: () => this.rollups.step() })
  }

  /** Its queries know what is stored, and then wait for this before they read it. */
  readerThatWaitsFor(work: () => Promise<void>): QuestDbReader {
    const { writer } = this.written
    const stored = {
      position: () => writer.position(),
      stream: (id: string) => writer.stream(id),
      shapesOf: (id: string) => writer.shapesOf(id),
      rollupOf: writer.rollupOf,
      rollupDays: writer.rollupDays.bind(writer),
      completeness: writer.completeness,
      applied: work,
    }
    return new QuestDbReader({ connection: this.#connection, stored })
  }

  /** How many days there are in the file. */
  days(): readonly unknown[] {
    using file = new DatabaseSync(this.written.path, { readOnly: true })
    return Object.values(file.prepare('SELECT count(*) FROM rollup_days').get() ?? {})
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connection.close()
    await this.written[Symbol.asyncDispose]()
  }
}
