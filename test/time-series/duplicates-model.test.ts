import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { DuckDbStore } from '../../src/storage/time-series/duckdb/duckdb-store.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { ShippedReading } from '../../src/storage/time-series/shipment.ts'
import {
  allPoints,
  hourUs,
  marchUs,
  shipmentOf,
  storedReading,
} from '../support/stored-readings.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const streams = ['boiler', 'pump', 'fan'] as const

/**
 * Two versions of a schema: what is sent again may come under the other one
 * (decisions.md#identity-of-a-reading).
 */
const shapes = [
  shapeOf({ temperature: { type: 'number' } }),
  shapeOf({ temperature: { type: 'number' }, humidity: { type: 'number' } }),
] as const

/** How a reading's time stands to the newest of its stream so far. */
type Move = 'rise' | 'stay' | 'late' | 'repeat'

interface Sent {
  readonly stream: (typeof streams)[number]
  readonly shape: 0 | 1
  readonly move: Move
  readonly distance: number
  readonly digest: number
}

const sent: fc.Arbitrary<Sent> = fc.record({
  stream: fc.constantFrom(...streams),
  shape: fc.constantFrom(0, 1),
  move: fc.constantFrom<Move[]>('rise', 'rise', 'rise', 'stay', 'late', 'repeat'),
  distance: fc.nat(30),
  digest: fc.nat(3),
})

type Step =
  | { readonly kind: 'ship'; readonly sent: readonly Sent[] }
  | { readonly kind: 'reopen' }
  | { readonly kind: 'settle' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('ship' as const),
      sent: fc.array(sent, { maxLength: 25 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reopen' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
)

/** Whether late readings are looked up with their shipment, or wait for each other. */
const lookUps = [
  ['at once', {}],
  ['together, later', { lookUpRowsMax: 0 }],
  ['later, and storing them in portions', { lookUpRowsMax: 0, rowsPerLateTable: 2 }],
] as const

/** Turns what is sent into readings: times move on, stand still, go back, or are an old reading's. */
class Sender {
  readonly #history: ShippedReading[] = []
  readonly #newestUs = new Map<string, number>()

  reading({ stream, shape, move, distance, digest }: Sent): ShippedReading {
    const old = this.#history.filter(({ streamId }) => streamId === stream)
    // Half a day: a stream begins in one month and ends in the next.
    const newestUs = this.#newestUs.get(stream) ?? marchUs - 12 * hourUs
    const repeated = move === 'repeat' ? old[old.length - 1 - (distance % old.length)] : undefined
    const timesUs: Record<Move, number> = {
      rise: newestUs + 1 + distance * hourUs,
      stay: newestUs,
      late: newestUs - distance * hourUs,
      repeat: repeated?.timestampUs ?? newestUs,
    }
    const timestampUs = timesUs[move]
    this.#newestUs.set(stream, Math.max(newestUs, timestampUs))
    const reading = storedReading({
      streamId: stream,
      shape: shapes[shape],
      timestampUs,
      digest: repeated?.digest ?? BigInt(digest),
      values: { temperature: Number(repeated?.digest ?? digest) },
    })
    this.#history.push(reading)
    return reading
  }
}

/** What the store has to hold: the distinct readings, and how many there were in all. */
class Model {
  readonly #identities = new Map<string, Set<string>>()
  readonly #accepted = new Map<string, number>()

  take({ streamId, timestampUs, digest }: ShippedReading): void {
    const known = this.#identities.get(streamId) ?? new Set()
    this.#identities.set(streamId, known.add(`${timestampUs} ${digest}`))
    this.#accepted.set(streamId, (this.#accepted.get(streamId) ?? 0) + 1)
  }

  counts(streamId: string) {
    const received = this.#accepted.get(streamId) ?? 0
    const stored = this.#identities.get(streamId)?.size ?? 0
    return { received, stored, duplicates: received - stored }
  }

  identities(streamId: string): string[] {
    return [...(this.#identities.get(streamId) ?? [])].sort()
  }
}

test.each(lookUps)(
  'looking for them %s, stores the distinct readings and counts the duplicates',
  async (_, options) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        using folder = new TemporaryFolder()
        const path = folder.file('time-series.duckdb')
        const sender = new Sender()
        const model = new Model()
        let store = await DuckDbStore.open(path, systemClock, options)
        const checkCounts = () => {
          for (const id of streams) expect(store.counts(id)).toMatchObject(model.counts(id))
        }
        const checkTotals = () => {
          let open = 0
          for (const id of streams) {
            const { received, stored, duplicates } = store.counts(id)
            open += received - stored - duplicates
          }
          expect(open).toBe(store.late)
        }

        for (const one of steps) {
          if (one.kind === 'reopen') {
            await store.close()
            store = await DuckDbStore.open(path, systemClock, options)
          } else if (one.kind === 'settle') {
            // Beside what comes next.
            store.placeLate().catch(() => undefined)
          } else {
            const readings = one.sent.map((each) => sender.reading(each))
            for (const reading of readings) model.take(reading)
            await store.write(shipmentOf(readings, store.position()))
          }
          checkTotals()
        }

        await store.placeLate()
        expect(store.late).toBe(0)
        checkCounts()
        for (const id of streams) {
          const points = await allPoints(store, { streamId: id })
          // The temperature is the digest, so a point tells which reading it is.
          const stored = points.map(
            ({ timestampUs, values }) => `${timestampUs} ${String(values['temperature'])}`,
          )
          expect(stored.sort()).toEqual(model.identities(id))
        }
        await store.close()
      }),
      { numRuns: 20 },
    )
  },
)
