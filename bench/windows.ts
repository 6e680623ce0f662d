import { parseArgs } from 'node:util'
import { DuckDbStore } from '../src/time-series/duckdb/duckdb-store.ts'
import { shapeOf } from '../src/time-series/shape.ts'
import type { Shape, Shipment, StoredReading } from '../src/time-series/time-series-store.ts'
import type { WindowDefinition, WindowVersion } from '../src/time-series/windows/window-store.ts'
import { Materialiser } from '../src/windows/materialiser.ts'
import { TemporaryFolder } from '../test/support/temporary-folder.ts'

const streams = 10_000
const shapes = 100
const rowsOfShipment = 50_000
const widthUs = 10_000_000
const startUs = Date.UTC(2026, 9, 1) * 1_000

/** Between two readings of the service: each stream sends four a second. */
const stepUs = 1_000_000 / (4 * streams)

const allShapes = Array.from({ length: shapes }, (_, index) =>
  shapeOf({ temperature: { type: 'number' }, [`field${index}`]: { type: 'number' } }),
)

/**
 * Rows a second of the DuckDB writer at 10,000 streams in 100 shapes that send all the time, with windows of
 * ten seconds that are computed meanwhile, and without: in turns.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '3' },
      shipments: { type: 'string', default: '40' },
    },
  })
  const ratios: number[] = []
  for (let round = 0; round < Number(values.rounds); round++) {
    const without = await rateOf(Number(values.shipments), false)
    const withWindows = await rateOf(Number(values.shipments), true)
    ratios.push(withWindows.rate / without.rate)
    const [plain, windowed] = [without, withWindows].map(({ rate }) => Math.round(rate))
    process.stdout.write(
      `${plain} rows/s without, ${windowed} with windows (${withWindows.windows} computed)\n`,
    )
  }
  const median = ratios.toSorted((left, right) => left - right)[Math.floor(ratios.length / 2)] ?? 0
  process.stdout.write(`ratio ${median.toFixed(2)} (wanted: 0.85)\n`)
}

async function rateOf(shipments: number, hasWindows: boolean) {
  using folder = new TemporaryFolder()
  let eventUs = startUs
  const clock = { nowUs: () => eventUs }
  const store = await DuckDbStore.open(folder.file('store.duckdb'), clock)
  const stop = new AbortController()
  const materialiser = new Materialiser({ store, clock, onFailure: complain, onTooSlow: complain })
  const materialising = materialiser.run(stop.signal)
  let spentMs = 0
  for (let index = 0; index < shipments; index++) {
    const shipment = shipmentAt(index, hasWindows)
    const beganMs = performance.now()
    await store.write(shipment)
    spentMs += performance.now() - beganMs
    eventUs = startUs + (index + 1) * rowsOfShipment * stepUs
  }
  stop.abort()
  await materialising
  const windows = store.windows.totals().added
  await store.close()
  return { rate: (shipments * rowsOfShipment * 1_000) / spentMs, windows }
}

function complain(error: unknown): void {
  process.stderr.write(`${String(error)}\n`)
}

function shipmentAt(index: number, hasWindows: boolean): Shipment {
  const from = index * rowsOfShipment
  const received = new Map<string, number>()
  const windows = new Map<StoredReading, WindowVersion>()
  const readings = Array.from({ length: rowsOfShipment }, (_, row): StoredReading => {
    const offset = from + row
    const stream = offset % streams
    const streamId = `stream ${stream}`
    received.set(streamId, (received.get(streamId) ?? 0) + 1)
    const shape = allShapes[stream % shapes] as Shape
    const timestampUs = startUs + Math.floor(offset * stepUs)
    const reading: StoredReading = {
      streamId,
      shape,
      offset,
      timestampUs,
      receivedAtUs: timestampUs,
      digest: BigInt(offset),
      values: `{"field${stream % shapes}":${stream},"temperature":${offset % 100}}`,
      extra: undefined,
      flagged: [],
    }
    if (hasWindows && offset < streams) windows.set(reading, { version: 1, definition: of(shape) })
    return reading
  })
  return { readings, received, windows, from, nextOffset: from + rowsOfShipment }
}

function of({ columns }: Shape): WindowDefinition {
  const fields = columns.map(
    ({ name, type }) => ({ key: name, name, type, function: 'avg' }) as const,
  )
  return { widthUs, fields }
}

await main()
