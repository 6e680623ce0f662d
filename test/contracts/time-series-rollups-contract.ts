import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AggregateFunction } from '../../src/storage/time-series/aggregate-query.ts'
import type { ShippedReading } from '../../src/storage/time-series/shipment.ts'
import { fieldsOf } from '../support/aggregation-samples.ts'
import {
  answerOfReadings,
  eagerRollups,
  longAfter,
  type OpenRolledUpStore,
  type Question,
  type RolledUpStore,
  RollupHistory,
  type Step,
} from '../support/rollup-history.ts'
import { question, step } from '../support/rollup-steps.ts'
import {
  allAggregates,
  hourUs,
  marchUs,
  remove,
  ship,
  storedReading,
} from '../support/stored-readings.ts'

const minuteUs = 60_000_000

/** How often something arrives while rows are being computed. */
const rounds = 20

/** A reading a minute, for so many hours. */
export function minutes(
  hours: number,
  valueOf: (index: number) => number,
  streamId = 'boiler',
): ShippedReading[] {
  return Array.from({ length: hours * 60 }, (_, index) => {
    const values = { temperature: valueOf(index) }
    return storedReading({ streamId, timestampUs: marchUs + index * minuteUs, values })
  })
}

/** A reading every so many hours, for twenty days. */
function lateReadings(everyHours: number, offsetUs: number): ShippedReading[] {
  return Array.from({ length: (24 * 20) / everyHours - 1 }, (_, index) =>
    storedReading({ timestampUs: marchUs + index * everyHours * hourUs + offsetUs }),
  )
}

/** Rolls up all that is due. */
export async function rolledUp(store: Pick<RolledUpStore, 'rollUp'>): Promise<void> {
  while (await store.rollUp());
}

export function temperatures(...functions: AggregateFunction[]) {
  return { fields: fieldsOf('temperature', 'double', functions) }
}

export const allRolledUp = temperatures('avg', 'sum', 'min', 'max', 'count', 'first', 'latest')

/** What every store keeps of its promise that rollups change nothing but the time that a query takes. */
export function timeSeriesRollupsContract(open: OpenRolledUpStore, { runs = 10 } = {}): void {
  test('queries answer the same with rollups as without', async () => {
    await rollupsAnswerAsReadings(await open(longAfter, { rollups: eagerRollups }), runs)
  }, 120_000)

  test('sums of any doubles differ in their last digits at most, and those of whole numbers in none', async () => {
    await using opened = await open(longAfter, { rollups: eagerRollups })
    const { store } = opened
    await ship(
      store,
      minutes(24, (index) => Math.sin(index) * 10 ** (index % 9)),
    )
    await rolledUp(store)
    const [inRows] = await allAggregates(store, allRolledUp)
    const [exact] = await answerOfReadings(store, allRolledUp)
    const magnitude = 24 * 60 * 10 ** 8
    for (const key of ['temperature:sum', 'temperature:avg']) {
      const difference = Math.abs(Number(inRows?.values[key]) - Number(exact?.values[key]))
      expect(difference).toBeLessThan(magnitude * Number.EPSILON * 4)
    }
  })

  test('sums beyond what a double can hold are left to the readings', async () => {
    await using opened = await open(longAfter, { rollups: eagerRollups })
    const { store } = opened
    const max = Number.MAX_VALUE
    await ship(
      store,
      minutes(4, (index) => (index % 2 === 0 ? max : max / 2)),
    )
    await rolledUp(store)
    const answer = await allAggregates(store, allRolledUp)
    expect(answer).toEqual(await answerOfReadings(store, allRolledUp))
    expect(Number(answer[0]?.values['temperature:avg'])).toBeCloseTo((max / 4) * 3, -300)
    expect(answer[0]?.values).not.toHaveProperty('temperature:sum')
  })

  test('streams with few readings, or few in half an hour, are not rolled up', async () => {
    const rollups = { readingsMin: 100, perRowMin: 20, quietMs: 0 }
    await using opened = await open(longAfter, { rollups })
    const { store } = opened
    await ship(store, minutes(1, Number, 'few'))
    const rare = minutes(4, Number, 'rare').map((reading, index) => ({
      ...reading,
      timestampUs: marchUs + index * 2 * minuteUs,
    }))
    await ship(store, rare)
    await rolledUp(store)
    expect(store.totals().rollups?.streams).toBe(0)

    await ship(store, minutes(2, Number, 'dense'))
    await rolledUp(store)
    expect(store.totals().rollups).toMatchObject({ streams: 1, marks: 0, computed: 4 })
  })

  test('what was touched a moment ago, or has not ended, is left alone', async () => {
    await using opened = await open(longAfter, {
      rollups: { ...eagerRollups, quietMs: 60_000 },
    })
    await ship(opened.store, minutes(2, Number))
    await rolledUp(opened.store)
    expect(opened.store.totals().rollups).toMatchObject({ streams: 1, marks: 1, computed: 0 })

    const clock = { nowUs: () => marchUs + hourUs + minuteUs }
    await using early = await open(clock, { rollups: eagerRollups })
    await ship(early.store, minutes(2, Number))
    await rolledUp(early.store)
    expect(early.store.totals().rollups).toMatchObject({ marks: 1, computed: 2 })
  })

  test('rows that were computed before their readings have changed are not kept', async () => {
    await using opened = await open(longAfter, { rollups: eagerRollups })
    const { store } = opened
    const [first, ...all] = minutes(24, (index) => index)
    if (!first) throw new Error('there are readings')
    await ship(store, [first])
    await rolledUp(store)
    const ofReadings: unknown[] = []
    const answered: unknown[] = []
    for (const reading of all.slice(0, rounds)) {
      await ship(store, [reading])
      const arrived = { ...reading, timestampUs: reading.timestampUs + 1 }
      const rolling = store.rollUp()
      await Promise.all([rolling, ship(store, [arrived])])
      answered.push(await allAggregates(store, allRolledUp))
      ofReadings.push(await answerOfReadings(store, allRolledUp))
    }
    expect(answered).toEqual(ofReadings)
  })

  test('rows that several roll up at once are those of one', async () => {
    await using opened = await open(longAfter, { rollups: eagerRollups })
    const { store } = opened
    const hourly = { ...allRolledUp, buckets: { kind: 'fixed', widthUs: hourUs } as const }
    const streamIds = ['boiler', 'pump', 'valve']
    for (const id of streamIds) await ship(store, minutes(24, Number, id))
    for (let round = 0; round < rounds; round++) {
      for (const id of streamIds) {
        await ship(store, [storedReading({ streamId: id, timestampUs: marchUs + round + 1 })])
      }
      const first = { isOver: false }
      const rolling = [store.rollUp().finally(() => (first.isOver = true))]
      // At any moment of the first one.
      while (!first.isOver) {
        await allAggregates(store, { ...allRolledUp, endUs: marchUs + hourUs })
        rolling.push(store.rollUp())
      }
      await Promise.all(rolling)
    }
    await rolledUp(store)
    const series = streamIds.map((id) => ({ key: id, streamIds: [id] }))
    const answer = await allAggregates(store, { ...hourly, series })
    expect(answer.map(({ count }) => count)).toContain(60 + rounds)
    expect(answer).toEqual(await answerOfReadings(store, { ...hourly, series }))
  })

  test('what was removed, or has come late, is in no answer any more, or in each', async () => {
    await using opened = await open(longAfter, { rollups: eagerRollups })
    const { store } = opened
    const hourly = { ...allRolledUp, buckets: { kind: 'fixed', widthUs: hourUs } as const }
    await ship(store, minutes(4, Number))
    await rolledUp(store)
    await remove(store, { startUs: marchUs + hourUs, endUs: marchUs + 2 * hourUs })
    const removed = await allAggregates(store, hourly)
    await rolledUp(store)
    const removedInRows = await allAggregates(store, hourly)
    await ship(store, [storedReading({ timestampUs: marchUs + hourUs })])
    const late = await allAggregates(store, hourly)
    await rolledUp(store)

    expect(removed.map(({ count }) => count)).toEqual([60, 60, 60])
    expect(removedInRows).toEqual(removed)
    expect(late.map(({ count }) => count)).toEqual([60, 1, 60, 60])
    expect(await allAggregates(store, hourly)).toEqual(late)
    expect(await answerOfReadings(store, hourly)).toEqual(late)
  })

  test('a shipment that touches hundreds of rows is right after a crash, too', async () => {
    await using opened = await open(longAfter, { rollups: eagerRollups })
    const all = minutes(24 * 20, (index) => index)
    await ship(opened.store, all)
    await rolledUp(opened.store)
    const hour = { ...allRolledUp, buckets: { kind: 'fixed', widthUs: hourUs } as const }
    // Marks of so many places are brought together; what falls in between afterwards is not to be forgotten.
    await ship(opened.store, lateReadings(8, 1))
    await ship(opened.store, lateReadings(3, 2))
    await remove(opened.store, { startUs: marchUs + 7 * hourUs, endUs: marchUs + 9 * hourUs })
    await opened.reopen()
    await rolledUp(opened.store)

    expect(await allAggregates(opened.store, hour)).toEqual(
      await answerOfReadings(opened.store, hour),
    )
  })
}

/**
 * Readings of two streams, in a row each: whatever else happens by chance, there is something to
 * roll up.
 */
const sixHours: Step = {
  kind: 'ship',
  readings: Array.from({ length: 12 }, (_, index) => ({
    stream: index % 2,
    timestampUs: marchUs + index * 30 * minuteUs,
    digest: index % 6,
    shape: index % 2,
  })),
}

const byTheHour: Question = {
  buckets: { kind: 'fixed', widthUs: hourUs },
  startUs: 0,
  endUs: Number.MAX_SAFE_INTEGER,
  level: 'double',
  isUnited: false,
  limit: 100,
  fill: 'none',
}

/** Queries after any steps, and when nothing is left to be computed. Takes a new store, and closes it. */
export async function rollupsAnswerAsReadings(
  store: Awaited<ReturnType<OpenRolledUpStore>>,
  runs = 10,
): Promise<void> {
  await using opened = store
  let streams = 0
  let computed = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(step, question), { minLength: 3, maxLength: 14 }),
      fc.array(question, { minLength: 4, maxLength: 4 }),
      async (steps, inTheEnd) => {
        const history = new RollupHistory(opened, [`stream-${++streams}`, `stream-${++streams}`])
        for (const [one, asked] of steps) {
          await history.take(one)
          await history.check(asked)
        }
        await history.settle()
        for (const asked of inTheEnd) await history.check(asked)
        computed += opened.store.totals().rollups?.computed ?? 0
      },
    ),
    {
      numRuns: runs + 1,
      endOnFailure: true,
      examples: [[[[sixHours, byTheHour]], [byTheHour]]],
    },
  )
  expect(computed).toBeGreaterThanOrEqual(12)
}
