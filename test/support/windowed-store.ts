import { Materialiser } from '../../src/reading/windows/materialiser.ts'
import type { TimeSeriesStore } from '../../src/storage/time-series/time-series-store.ts'
import type {
  StoredWindow,
  StoredWindowsQuery,
  WindowDefinition,
} from '../../src/storage/time-series/windows/window-store.ts'
import { hourUs, marchUs, shipmentOf, storedReading } from './stored-readings.ts'

/** Windows of so many hours, with the greatest temperature of each. */
export function maxOfHours(hours: number): WindowDefinition {
  return {
    widthUs: hours * hourUs,
    fields: [{ key: 'temperature', name: 'temperature', type: 'double', function: 'max' }],
  }
}

/** Ships a reading for each of these hours since March, and tells first how its windows are cut. */
export async function shipHours(
  store: TimeSeriesStore,
  streamId: string,
  {
    hours,
    definition,
    version = 1,
  }: {
    readonly hours: readonly number[]
    readonly definition?: WindowDefinition
    readonly version?: number
  },
): Promise<void> {
  const readings = hours.map((hour) =>
    storedReading({
      streamId,
      timestampUs: marchUs + hour * hourUs,
      values: { temperature: hour },
    }),
  )
  const shipment = shipmentOf(readings, store.position())
  const [first] = shipment.readings
  const windows = first && definition && new Map([[first, { version, definition }]])
  await store.write({ ...shipment, ...(windows && { windows }) })
}

/** Computes every window that has ended by an hour since March. */
export async function computeUntil(store: TimeSeriesStore, hour: number): Promise<void> {
  const clock = { nowUs: () => marchUs + hour * hourUs + 10_000_000 }
  const materialiser = new Materialiser({ store, clock, onFailure: fail, onTooSlow: fail })
  for (let steps = 0; await materialiser.step(); steps++) {
    if (steps > 1_000) throw new Error('there is no end to what is due')
  }
}

/** The results that are kept, page by page. */
export async function keptResults(
  store: TimeSeriesStore,
  streamIds: readonly string[],
  limit = 10_000,
): Promise<readonly StoredWindow[]> {
  const found: StoredWindow[] = []
  let after: StoredWindowsQuery['after']
  for (;;) {
    const { windows } = await store.windows.stored({
      streamIds,
      startUs: 0,
      endUs: Number.MAX_SAFE_INTEGER,
      limit,
      after,
    })
    found.push(...windows)
    if (windows.length < limit) return found
    after = windows.at(-1)
  }
}

function fail(error: unknown): never {
  throw error
}
