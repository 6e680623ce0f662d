import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { QuestDbConnection } from '../../../src/storage/time-series/questdb/connection.ts'
import { QuestDbReader } from '../../../src/storage/time-series/questdb/read/reader.ts'
import { isQuestDbMissing, QuestDb } from '../../support/questdb.ts'
import { hourUs, marchUs, readingsQuery, storedReading } from '../../support/stored-readings.ts'
import { Written } from '../../support/written-to-questdb.ts'

describe.skipIf(isQuestDbMissing)('answers after QuestDB was started anew', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  test('show nothing that was removed, while it is sent again with all the rest', async () => {
    await using asked = new Asked(questDb)
    const { written } = asked
    await written.ship([storedReading(), storedReading({ timestampUs: marchUs + hourUs })])
    await written.remove({ streamId: 'boiler', startUs: marchUs, endUs: marchUs + 1 })
    expect(await asked.times()).toEqual([marchUs + hourUs])
    await questDb.kill()
    await questDb.start()

    const answers: Promise<unknown>[] = []
    const parts = await written.repeat(async () => {
      answers.push(asked.times().catch(() => asked.times()))
      // Long enough for an answer that does not wait.
      await Promise.race([answers.at(-1), written.settled()])
    })

    expect([parts, answers.length]).toEqual([3, 2])
    for (const times of await Promise.all(answers)) expect(times).toEqual([marchUs + hourUs])
  })

  test('wait for what was lost, even when nobody knows yet that it was', async () => {
    await using asked = new Asked(questDb)
    const { written } = asked
    await written.ship([storedReading()])
    await written.settled()
    await questDb.keepDisk()
    await written.ship([storedReading({ timestampUs: marchUs + hourUs })])
    await questDb.losePower()

    const answer = asked.times()
    await written.repeat()

    expect(await answer).toEqual([marchUs, marchUs + hourUs])
  })

  test('are none when it happened in their midst', async () => {
    await using asked = new Asked(questDb)
    await asked.written.ship([storedReading()])
    await questDb.keepDisk()

    const answer = asked.times(() => questDb.losePower())

    await expect(answer).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining('restarted'),
      retryAfter: 5,
    })
  })
})

/** What a writer has stored, and answers about it. */
class Asked implements AsyncDisposable {
  readonly written: Written
  readonly #questDb: QuestDb
  readonly #connections: QuestDbConnection[] = []

  constructor(questDb: QuestDb) {
    this.#questDb = questDb
    this.written = new Written(questDb)
  }

  /** When the readings were that a new connection shows. What happens once it is known what is stored can be said. */
  async times(meanwhile: () => Promise<void> = async () => undefined): Promise<number[]> {
    const { writer, server } = this.written
    const connection = this.#questDb.connectionTo(server)
    this.#connections.push(connection)
    const stored = {
      position: () => writer.position(),
      stream: (id: string) => writer.stream(id),
      shapesOf: (id: string) => writer.shapesOf(id),
      rollupOf: writer.rollupOf,
      rollupDays: () => undefined,
      completeness: writer.completeness,
      async applied(...place: Parameters<typeof writer.applied>) {
        await writer.applied(...place)
        await meanwhile()
      },
    }
    const { points } = await new QuestDbReader({ connection, stored }).query(readingsQuery())
    return points.map(({ timestampUs }) => timestampUs)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const connection of this.#connections) connection.close()
    await this.written[Symbol.asyncDispose]()
  }
}
