import { expect } from 'vitest'
import { computeGroup, groupsOf } from '../../src/reading/windows/compute-windows.ts'
import { Materialiser } from '../../src/reading/windows/materialiser.ts'
import { readWindows, type WindowPoint } from '../../src/reading/windows/read-windows.ts'
import type { AggregateFunction } from '../../src/storage/time-series/aggregate-query.ts'
import type { TimeOrder } from '../../src/storage/time-series/readings-query.ts'
import { shapeOf } from '../../src/storage/time-series/shape.ts'
import type { ShippedReading } from '../../src/storage/time-series/shipment.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import type {
  StoredWindowsQuery,
  WindowDefinition,
  WindowStore,
  WindowVersion,
} from '../../src/storage/time-series/windows/window-store.ts'
import type { OpenStore } from '../contracts/open-store.ts'
import { hourUs, marchUs, remove, shipmentOf, storedReading } from './stored-readings.ts'
import { closeValues, WindowModel } from './window-model.ts'

const shape = shapeOf({ mode: { type: 'string' }, temperature: { type: 'number' } })

function definition(widthUs: number, name: AggregateFunction, holdUs?: number): WindowDefinition {
  return {
    widthUs,
    fields: [
      { key: 'mode', name: 'mode', type: 'varchar', function: 'latest' },
      { key: 'temperature', name: 'temperature', type: 'double', function: name },
    ],
    ...(holdUs !== undefined && { holdUs }),
  }
}

export const windowDefinitions: readonly (WindowDefinition | undefined)[] = [
  definition(hourUs, 'avg'),
  definition(hourUs, 'max'),
  definition(2 * hourUs, 'sum'),
  definition(3 * hourUs, 'avg', 6 * hourUs),
  definition(7 * hourUs, 'latest'),
  definition(24 * hourUs, 'count'),
  definition(hourUs, 'min'),
  undefined,
]

/** A reading of one of the streams. */
export interface Notes {
  readonly stream: number
  readonly timestampUs: number
  readonly digest: number
}

interface ShipStep {
  readonly kind: 'ship'
  readonly readings: readonly Notes[]
}

interface RemoveStep {
  readonly kind: 'remove'
  readonly stream: number
  readonly startUs: number
  readonly endUs: number
}

export type Step =
  | ShipStep
  | RemoveStep
  | { readonly kind: 'fail'; readonly readings: readonly Notes[] }
  /** It was done but for its end, and is done again: after a crash in other portions. */
  | { readonly kind: 'lose'; readonly step: ShipStep | RemoveStep; readonly portion: number }
  | { readonly kind: 'reopen' }
  | { readonly kind: 'define'; readonly stream: number; readonly definition: number }
  | ComputeStep

interface ComputeStep {
  readonly kind: 'compute'
  readonly nowUs: number
  readonly windowsMax: number
  /** What comes right before: late readings still wait to be looked up then. */
  readonly before: ShipStep | undefined
  /** What comes between the moment at which windows are computed and that at which they are kept. */
  readonly between: Step | undefined
}

/** What happens to two streams of a store, and what their windows have to be. */
export class WindowHistory {
  readonly #opened: OpenStore
  readonly #ids: readonly string[]
  readonly #models: readonly WindowModel[]
  readonly #versions = [0, 0]
  /** What the next reading of each stream tells. */
  readonly #toTell: (WindowVersion | undefined)[] = [undefined, undefined]
  #nowUs = marchUs
  /** Windows that were kept and looked at in the end. */
  kept = 0

  constructor(opened: OpenStore, ids: readonly string[]) {
    this.#opened = opened
    this.#ids = ids
    this.#models = ids.map((id) => new WindowModel(id))
  }

  get #store(): TimeSeriesStore {
    return this.#opened.store
  }

  get #windows(): WindowStore {
    return this.#store.windows
  }

  async take(one: Step): Promise<void> {
    switch (one.kind) {
      case 'ship':
        await this.#ship(one.readings)
        break
      case 'fail':
        await this.#fail(one.readings)
        break
      case 'remove':
        await this.#remove(one)
        break
      case 'lose':
        await this.#lose(one)
        break
      case 'define':
        this.define(one.stream, windowDefinitions[one.definition])
        break
      case 'reopen':
        await this.#opened.reopen()
        break
      case 'compute':
        this.#nowUs = Math.max(this.#nowUs, one.nowUs)
        if (one.before) await this.take(one.before)
        await this.#compute(this.#nowUs, one)
        break
      default:
        one satisfies never
    }
  }

  define(stream: number, defined: WindowDefinition | undefined): void {
    const version = (this.#versions[stream] ?? 0) + 1
    this.#versions[stream] = version
    this.#toTell[stream] = { version, definition: defined }
  }

  async #ship(notes: readonly Notes[]): Promise<void> {
    const newest = await Promise.all(this.#ids.map((id) => this.#newestResultUs(id)))
    const shipment = this.#shipment(notes)
    for (const reading of shipment.readings) {
      const stream = this.#ids.indexOf(reading.streamId)
      const told = shipment.windows.get(reading)
      if (told) this.#toTell[stream] = undefined
      this.#models[stream]?.take(reading, told, newest[stream] ?? -1)
    }
    await this.#store.write(shipment)
  }

  /** A shipment that fails in its transaction leaves nothing. */
  async #fail(notes: readonly Notes[]): Promise<void> {
    const shipment = this.#shipment(notes)
    if (shipment.readings.length === 0) return
    await expect(this.#store.write({ ...shipment, received: new Map() })).rejects.toThrow()
  }

  async #lose({ step, portion }: Extract<Step, { kind: 'lose' }>): Promise<void> {
    if (step.kind === 'remove') {
      const { stream, startUs, endUs } = step
      const streamId = this.#ids[stream] as string
      await this.#opened.losing?.(() => remove(this.#store, { streamId, startUs, endUs }))
      await this.check(1_000)
      await this.#remove(step)
      return
    }
    const { readings } = step
    const shipment = this.#shipment(readings)
    await this.#opened.losing?.(() => this.#store.write(shipment))
    await this.check(1_000)
    await this.#ship(readings.slice(0, portion))
    if (portion < readings.length) await this.#ship(readings.slice(portion))
  }

  async #remove({ stream, startUs, endUs }: RemoveStep): Promise<void> {
    const streamId = this.#ids[stream] as string
    await remove(this.#store, { streamId, startUs, endUs })
    this.#models[stream]?.remove(startUs, endUs)
  }

  async #compute(nowUs: number, { windowsMax, between }: ComputeStep): Promise<void> {
    const due = this.#windows.due(nowUs, windowsMax)
    const store = this.#store
    const computed = []
    for (const group of groupsOf(due)) {
      computed.push(...(await computeGroup(store, group, windowsMax)))
    }
    if (between) await this.take(between)
    await this.#windows.write(computed)
  }

  async settle(): Promise<void> {
    const clock = { nowUs: () => marchUs + 1_000 * hourUs }
    const materialiser = new Materialiser({
      store: this.#store,
      clock,
      onFailure: fail,
      onTooSlow: fail,
    })
    for (let steps = 0; await materialiser.step(); steps++) {
      if (steps > 1_000) throw new Error('there is no end to what is due')
    }
    this.#nowUs = clock.nowUs()
  }

  /** What is read, page by page, is what the readings amount to. */
  async check(limit: number): Promise<void> {
    await this.#store.placeLate?.()
    const points = await this.#pages(limit, 'asc')
    expect((await this.#pages(limit, 'desc')).toReversed()).toEqual(points)
    for (const [stream, id] of this.#ids.entries()) {
      const own = points.filter(({ streamId }) => streamId === id)
      const times = own.map(({ timestampUs }) => timestampUs)
      expect(times).toEqual([...new Set(times)].sort((left, right) => left - right))
      const full = own.filter(({ count }) => count > 0)
      const expected = this.#models[stream]?.windows(this.#nowUs)
      expect(full.map(contentOf)).toEqual(expected?.map(closeValues))
      this.#models[stream]?.checkRevisions(own)
    }
  }

  async #pages(limit: number, order: TimeOrder): Promise<readonly WindowPoint[]> {
    const clock = { nowUs: () => this.#nowUs }
    const points: WindowPoint[] = []
    let after: StoredWindowsQuery['after']
    do {
      const query = { ...this.#everything, order, limit, after }
      const page = await readWindows(this.#store, query, clock)
      expect(page.points.length).toBeLessThanOrEqual(limit)
      points.push(...page.points)
      const steps = (page.next?.timestampUs ?? 0) - (after?.timestampUs ?? 0)
      if (page.next && after && (order === 'desc' ? steps > 0 : steps < 0)) throw new Error('back')
      after = page.next
    } while (after)
    return points
  }

  /** With no mark left the kept results say the same. */
  async checkKept(): Promise<void> {
    const { marked, windows } = await this.#windows.stored({
      ...this.#everything,
      limit: 10_000,
      after: undefined,
    })
    expect(marked).toEqual([])
    for (const [stream, id] of this.#ids.entries()) {
      const own = windows.filter(({ streamId, count }) => streamId === id && count > 0)
      this.kept += own.length
      const expected = this.#models[stream]?.windows(this.#nowUs)
      expect(own.map(contentOf)).toEqual(expected?.map(closeValues))
    }
  }

  get #everything(): Omit<StoredWindowsQuery, 'limit' | 'after'> {
    const streamIds = this.#ids.toSorted()
    return { streamIds, startUs: 0, endUs: Number.MAX_SAFE_INTEGER }
  }

  async #newestResultUs(streamId: string): Promise<number> {
    const { windows } = await this.#windows.stored({
      ...this.#everything,
      streamIds: [streamId],
      limit: 10_000,
      after: undefined,
    })
    return windows.at(-1)?.timestampUs ?? -1
  }

  #shipment(notes: readonly Notes[]) {
    const shipped = notes.map(({ stream, timestampUs, digest }) =>
      storedReading({
        streamId: this.#ids[stream] as string,
        shape,
        timestampUs,
        digest: BigInt(digest),
        values: { temperature: digest * 4 - 3, ...(digest > 0 && { mode: `mode ${digest}` }) },
      }),
    )
    const shipment = shipmentOf(shipped, this.#store.position())
    const windows = new Map<ShippedReading, WindowVersion>()
    for (const [stream, told] of this.#toTell.entries()) {
      const first = shipment.readings.find(({ streamId }) => streamId === this.#ids[stream])
      if (told && first) windows.set(first, told)
    }
    return { ...shipment, windows }
  }
}

function contentOf({ timestampUs, count, values }: WindowPoint) {
  return { timestampUs, count, values }
}

function fail(error: unknown): never {
  throw error
}
