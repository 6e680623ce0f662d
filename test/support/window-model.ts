import { expect } from 'vitest'
import type { WindowPoint } from '../../src/reading/windows/read-windows.ts'
import type { ShippedReading } from '../../src/storage/time-series/shipment.ts'
import type {
  WindowContent,
  WindowDefinition,
  WindowVersion,
} from '../../src/storage/time-series/windows/window-store.ts'
import { modelAggregates } from './aggregation-model.ts'

/** From an instant on, windows begin as a definition says. */
interface Reign {
  readonly version: number
  readonly fromUs: number
  readonly definition: WindowDefinition | undefined
}

/** What the windows of one stream have to be: all of them computed anew from the readings that there are. */
export class WindowModel {
  readonly #streamId: string
  readonly #readings = new Map<string, ShippedReading>()
  #reigns: Reign[] = []
  /** The newest revision that each window was seen with, and what it said. */
  readonly #seen = new Map<number, WindowPoint>()

  constructor(streamId: string) {
    this.#streamId = streamId
  }

  /** @param newestResultUs where the newest window begins that the store has kept, or -1 */
  take(reading: ShippedReading, version: WindowVersion | undefined, newestResultUs: number): void {
    if (version) this.#begin(version, newestResultUs)
    this.#readings.set(`${reading.timestampUs} ${reading.digest}`, reading)
  }

  remove(startUs: number, endUs: number): void {
    for (const [identity, { timestampUs }] of this.#readings) {
      if (timestampUs >= startUs && timestampUs < endUs) this.#readings.delete(identity)
    }
  }

  windows(nowUs: number): WindowContent[] {
    const all = [...this.#readings.values()]
    return this.#reigns.flatMap(({ fromUs, definition }, index) => {
      if (!definition) return []
      const { widthUs, fields, holdUs } = definition
      const toUs = this.#reigns[index + 1]?.fromUs ?? Number.POSITIVE_INFINITY
      const points = modelAggregates(all, {
        series: [{ key: this.#streamId, streamIds: [this.#streamId] }],
        startUs: 0,
        endUs: Number.MAX_SAFE_INTEGER,
        buckets: { kind: 'fixed', widthUs },
        fields,
        timeWeights:
          holdUs === undefined
            ? undefined
            : { holdsUs: new Map([[this.#streamId, holdUs]]), untilUs: nowUs },
        fill: 'none',
        limit: Number.MAX_SAFE_INTEGER,
        after: undefined,
      })
      return points
        .filter(({ timestampUs }) => timestampUs >= fromUs && timestampUs < toUs)
        .map(({ timestampUs, count, values }) => ({ timestampUs, count, values }))
    })
  }

  /** What is kept under a revision never changes, and a later one is higher. */
  checkRevisions(points: readonly WindowPoint[]): void {
    for (const point of points) {
      if (point.computedAtUs === undefined) continue
      const seen = this.#seen.get(point.timestampUs)
      if (seen) {
        expect(point.revision).toBeGreaterThanOrEqual(seen.revision)
        if (point.revision === seen.revision) expect(point).toEqual(seen)
      }
      this.#seen.set(point.timestampUs, point)
    }
  }

  #begin({ version, definition }: WindowVersion, newestResultUs: number): void {
    const last = this.#reigns.at(-1)
    if (!last) {
      if (definition) this.#reigns = [{ version, fromUs: 0, definition }]
      return
    }
    if (JSON.stringify(last.definition) === JSON.stringify(definition)) return
    const times = [...this.#readings.values()].map(({ timestampUs }) => timestampUs)
    const newestUs = Math.max(newestResultUs, ...times)
    const width = definition?.widthUs ?? 1
    const behindUs = newestUs < 0 ? 0 : (Math.floor(newestUs / width) + 1) * width
    const fromUs = Math.max(behindUs, last.fromUs)
    this.#reigns = [
      ...this.#reigns.filter((reign) => reign.fromUs < fromUs),
      { version, fromUs, definition },
    ]
  }
}

/** Expects the content of a window, with doubles that may differ in their last digits. */
export function closeValues({ timestampUs, count, values }: WindowContent): object {
  const close = Object.entries(values).map(([key, value]) => [
    key,
    typeof value === 'number' ? (expect.closeTo(value, 6) as unknown) : value,
  ])
  return { timestampUs, count, values: Object.fromEntries(close) as object }
}
