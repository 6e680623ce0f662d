import { expect } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import { formatUs } from '../../src/core/time.ts'
import type { AggregateQuery } from '../../src/storage/time-series/aggregate-query.ts'
import type { ExpiringStore } from '../../src/storage/time-series/expiry.ts'
import type { RollupOptions } from '../../src/storage/time-series/rollups/candidates.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import type { OpenStore } from '../contracts/open-store.ts'
import { fieldsOf } from './aggregation-samples.ts'
import {
  allAggregates,
  expire,
  hourUs,
  marchUs,
  remove,
  shipmentOf,
  storedReading,
} from './stored-readings.ts'

/** A store that keeps what half hours amount to. */
export interface RolledUpStore extends TimeSeriesStore, ExpiringStore {
  rollUp(): Promise<boolean>
  /** Where late readings wait until they are looked up. */
  readonly late?: number
  placeLate?(): Promise<void>
}

/** Opens a new, empty store with rollups such as a test wants them. */
export type OpenRolledUpStore = (
  clock: Clock,
  options: { readonly rollups: RollupOptions },
) => Promise<OpenStore<RolledUpStore>>

/** Everything is rolled up as soon as it can be. */
export const eagerRollups = { readingsMin: 1, perRowMin: 0, quietMs: 0 }

/** All that tests store has ended by then. */
export const longAfter: Clock = { nowUs: () => marchUs + 10_000 * hourUs }

const shapes = [
  shapeOf({
    at: { type: 'datetime' },
    isOpen: { type: 'boolean' },
    level: { type: 'integer' },
    mode: { type: 'string' },
    temperature: { type: 'number' },
  }),
  // What was a whole number is a number now, and what was a text is one, too.
  shapeOf({ level: { type: 'number' }, mode: { type: 'number' }, temperature: { type: 'number' } }),
]

/** A reading of one of the streams. */
export interface Notes {
  readonly stream: number
  readonly timestampUs: number
  readonly digest: number
  readonly shape: number
}

export type Step =
  | { readonly kind: 'ship' | 'fail'; readonly readings: readonly Notes[] }
  | {
      readonly kind: 'remove'
      readonly stream: number
      readonly startUs: number
      readonly endUs: number
    }
  | { readonly kind: 'expire'; readonly stream: number; readonly beforeUs: number }
  | { readonly kind: 'placeLate' | 'reopen' | 'rollUp' }
  | { readonly kind: 'rollUpBeside'; readonly beside: Step }

const rolledUpFunctions = ['avg', 'sum', 'min', 'max', 'count', 'first', 'latest'] as const
const ofAnything = ['count', 'first', 'latest'] as const

const fields = [
  ...fieldsOf('temperature', 'double', rolledUpFunctions),
  ...fieldsOf('at', 'timestamp', ['min', 'max', ...ofAnything]),
  ...fieldsOf('isOpen', 'boolean', ofAnything),
  ...fieldsOf('mode', 'varchar', ofAnything),
]

/** A question about both streams, for every function of every field that rollups may answer. */
export interface Question
  extends Pick<AggregateQuery, 'buckets' | 'startUs' | 'endUs' | 'fill' | 'limit'> {
  /** The whole number as it was, or as it is now. */
  readonly level: 'bigint' | 'double'
  /** Whether the streams are one series. */
  readonly isUnited: boolean
}

/** What happens to two streams that are rolled up. */
export class RollupHistory {
  readonly #opened: OpenStore<RolledUpStore>
  readonly #ids: readonly string[]

  constructor(opened: OpenStore<RolledUpStore>, ids: readonly string[]) {
    this.#opened = opened
    this.#ids = ids
  }

  get #store(): RolledUpStore {
    return this.#opened.store
  }

  async take(one: Step): Promise<void> {
    const idOf = (stream: number) => this.#ids[stream] as string
    switch (one.kind) {
      case 'ship':
        await this.#store.write(this.#shipment(one.readings))
        break
      case 'fail':
        await this.#fail(one.readings)
        break
      case 'remove':
        await remove(this.#store, { ...one, streamId: idOf(one.stream) })
        break
      case 'expire':
        await expire(this.#store, { [idOf(one.stream)]: one.beforeUs })
        break
      case 'placeLate':
        await this.#store.placeLate?.()
        break
      case 'reopen':
        await this.#opened.reopen()
        break
      case 'rollUp':
        await this.#store.rollUp()
        break
      case 'rollUpBeside': {
        const rolling = this.#store.rollUp()
        await this.take(one.beside)
        // What it was to read may be gone, as the months of expired readings are.
        await rolling.catch(() => undefined)
        break
      }
      default:
        one satisfies never
    }
  }

  /** Where a server has what was sent, the process dies before it knows, and sends it again. */
  async #fail(readings: readonly Notes[]): Promise<void> {
    if (readings.length === 0) return
    const shipment = this.#shipment(readings)
    if (this.#opened.losing) {
      await this.#opened.losing(() => this.#store.write(shipment))
      await this.#store.write(shipment)
      return
    }
    await expect(this.#store.write({ ...shipment, received: new Map() })).rejects.toThrow()
  }

  async settle(): Promise<void> {
    await this.#store.placeLate?.()
    for (let steps = 0; await this.#store.rollUp(); steps++) {
      if (steps > 1_000) throw new Error('there is no end to what is due')
    }
    expect(this.#store.totals().rollups?.marks).toBe(0)
  }

  /** What is answered out of rollups is what is answered out of readings. */
  async check({ level, isUnited, ...query }: Question): Promise<void> {
    const series = isUnited
      ? [{ key: 'both', streamIds: this.#ids }]
      : this.#ids.map((id) => ({ key: id, streamIds: [id] }))
    const asked = {
      ...query,
      series,
      fields: [...fields, ...fieldsOf('level', level, rolledUpFunctions)],
    }
    // Late readings may come to their places between the two answers: then they are asked for once more.
    for (let late: number | undefined = -1; late !== this.#store.late; ) {
      late = this.#store.late
      const rolledUp = await allAggregates(this.#store, asked)
      const ofReadings = await answerOfReadings(this.#store, asked)
      if (late === this.#store.late) expect(rolledUp).toEqual(ofReadings)
    }
  }

  #shipment(notes: readonly Notes[]) {
    const readings = notes.map(({ stream, timestampUs, digest, shape }) =>
      storedReading({
        streamId: this.#ids[stream] as string,
        shape: shapes[shape] as (typeof shapes)[number],
        timestampUs,
        digest: BigInt(digest),
        // Sums of these are exact, in whichever order.
        values: {
          ...(digest > 0 && { temperature: digest / 4 - 7 }),
          level: digest * 3 - 5,
          ...(shape === 1 && { mode: digest }),
          ...(shape === 0 && {
            mode: `mode ${digest}`,
            isOpen: digest % 2 === 0,
            at: instantOf(digest),
          }),
        },
      }),
    )
    return shipmentOf(readings, this.#store.position())
  }
}

/** Some of them of years whose microseconds no double counts. */
function instantOf(digest: number): string {
  if (digest % 5 === 0) return formatUs(253_402_300_799_999_999n - BigInt(digest))
  if (digest % 5 === 1) return formatUs(-62_135_596_800_000_000n + BigInt(digest))
  return formatUs(digest * 1_000_000)
}

/** No percentile can be had from rollups: a query with one is answered out of readings. */
export async function answerOfReadings(store: RolledUpStore, query: Partial<AggregateQuery>) {
  const [any] = query.fields ?? []
  const percentile = { key: 'p', name: any?.name ?? '', type: 'double', function: 'p50' } as const
  const points = await allAggregates(store, {
    ...query,
    fields: [...(query.fields ?? []), percentile],
  })
  return points.map((point) => {
    const values = Object.entries(point.values).filter(([key]) => key !== percentile.key)
    return { ...point, values: Object.fromEntries(values) }
  })
}
