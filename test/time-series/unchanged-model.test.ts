import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { DuckDbStore } from '../../src/storage/time-series/duckdb/duckdb-store.ts'
import type { Shipment, ShippedReading } from '../../src/storage/time-series/shipment.ts'
import { allPoints, marchUs, shipmentOf, storedReading } from '../support/stored-readings.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const windowUs = 10

/** Readings of one stream in the order of the journal; most are newer than those before. */
const sent = fc.record({
  move: fc.oneof(
    { weight: 6, arbitrary: fc.integer({ min: 1, max: 7 }) },
    { weight: 2, arbitrary: fc.integer({ min: -30, max: 0 }) },
  ),
  temperature: fc.nat(1),
  /** Some of the stream's versions had a filter with a wildcard. */
  sender: fc.constantFrom(undefined, undefined, 'one', 'two'),
  /** The stream may have had a version that keeps everything. */
  isDeduplicated: fc.constantFrom(true, true, true, true, false),
})

type Sent = typeof sent extends fc.Arbitrary<infer One> ? One : never

interface Journalled {
  readonly reading: ShippedReading
  readonly temperature: number
  readonly sender: string | undefined
  readonly isDeduplicated: boolean
}

function journalled(all: readonly Sent[]): Journalled[] {
  let newestUs = marchUs
  return all.map(({ move, temperature, sender, isDeduplicated }) => {
    const timestampUs = newestUs + move
    newestUs = Math.max(newestUs, timestampUs)
    // Identity is of what was sent, which is the temperature here, and of who sent it.
    const digest = digestOf({ temperature, sender })
    const values = { temperature }
    const reading = { ...storedReading({ timestampUs, digest, values }), sender }
    return { reading, temperature, sender, isDeduplicated }
  })
}

function digestOf({ temperature, sender }: Pick<Journalled, 'temperature' | 'sender'>): bigint {
  return BigInt(temperature + 10 * ['one', 'two'].indexOf(sender ?? '') + 10)
}

/** The rule, taken literally, over the whole sequence at once. */
function expected(all: readonly Journalled[]) {
  const stored: Journalled[] = []
  let duplicates = 0
  let unchanged = 0
  for (const one of all) {
    const { timestampUs } = one.reading
    const newest = stored.reduce<Journalled | undefined>(
      (best, each) =>
        best === undefined || each.reading.timestampUs > best.reading.timestampUs ? each : best,
      undefined,
    )
    const isNewer = newest === undefined || timestampUs > newest.reading.timestampUs
    const saysTheSame =
      newest?.isDeduplicated === true && one.isDeduplicated && digestOf(newest) === digestOf(one)
    const windowOf = (us: number) => Math.floor(us / windowUs)
    if (isNewer && saysTheSame && windowOf(newest.reading.timestampUs) === windowOf(timestampUs)) {
      unchanged++
    } else if (
      stored.some(
        ({ reading }) =>
          reading.timestampUs === timestampUs && reading.digest === one.reading.digest,
      )
    ) {
      duplicates++
    } else stored.push(one)
  }
  const rows = stored.map(({ reading, temperature }) => `${reading.timestampUs} ${temperature}`)
  return { counts: { received: all.length, stored: rows.length, duplicates, unchanged }, rows }
}

function portion(all: readonly Journalled[], from: number, count: number): Shipment {
  const part = all.slice(from, from + count)
  const shipment = shipmentOf(
    part.map(({ reading }) => reading),
    from,
  )
  const deduplicated = new Map<ShippedReading, number>()
  for (const [index, { isDeduplicated }] of part.entries()) {
    if (isDeduplicated) deduplicated.set(shipment.readings[index] as ShippedReading, windowUs)
  }
  return { ...shipment, deduplicated }
}

const portions = fc.array(
  fc.record({
    count: fc.integer({ min: 1, max: 12 }),
    /** Fails within its transaction, and is shipped again in other portions. */
    isBroken: fc.constantFrom(false, false, true),
    isReopened: fc.constantFrom(false, false, false, true),
  }),
  { minLength: 1, maxLength: 8 },
)

test('drops what is unchanged by the rule, however it is shipped and whatever fails', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(sent, { maxLength: 60 }), portions, async (all, plan) => {
      using folder = new TemporaryFolder()
      const path = folder.file('time-series.duckdb')
      const readings = journalled(all)
      let store = await DuckDbStore.open(path, systemClock)
      for (let turn = 0; store.position() < readings.length; turn++) {
        const { count, isBroken, isReopened } = plan[turn % plan.length] as (typeof plan)[number]
        const shipment = portion(readings, store.position(), count)
        if (isBroken) {
          await expect(store.write({ ...shipment, received: new Map() })).rejects.toThrow()
        }
        await store.write(shipment)
        if (isReopened) {
          await store.close()
          store = await DuckDbStore.open(path, systemClock)
        }
      }

      const { counts, rows } = expected(readings)
      if (readings.length > 0) expect(store.counts('boiler')).toMatchObject(counts)
      const points = await allPoints(store)
      const found = points.map(
        ({ timestampUs, values }) => `${timestampUs} ${String(values['temperature'])}`,
      )
      expect(found.sort()).toEqual(rows.sort())
      await store.close()
    }),
    { numRuns: 40 },
  )
})
