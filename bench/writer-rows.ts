import { shapeOf } from '../src/storage/time-series/shape.ts'
import type { Shipment, ShippedReading } from '../src/storage/time-series/shipment.ts'
import type { Figure } from './report.ts'
import { readingSchema } from './servers.ts'

export const shape = shapeOf(readingSchema as Parameters<typeof shapeOf>[0])

const rowsAtOnce = 10_000
const streams = 20
const startUs = Date.UTC(2026, 9, 1) * 1_000

export interface Row {
  readonly at: number
  readonly timestampUs: number
  readonly receivedAtUs: number
  readonly values: Values
}

interface Values {
  readonly humidity: number
  readonly pressure: number
  readonly sequence: number
  readonly status: string
  readonly temperature: number
}

/** What one transaction brings, in our program and in the bare one. */
export function* portions(rows: number): Generator<readonly Row[]> {
  for (let first = 0; first < rows; first += rowsAtOnce) {
    yield Array.from({ length: rowsAtOnce }, (_, index) => rowAt(first + index))
  }
}

function rowAt(at: number): Row {
  return {
    at,
    timestampUs: startUs + at * 1_000,
    receivedAtUs: startUs,
    values: {
      humidity: 41.2,
      pressure: 1013.25,
      sequence: at,
      status: 'ok',
      temperature: (at % 3_000) / 100,
    },
  }
}

export function streamOf({ at }: Row): string {
  return `stream ${streamNumberOf(at)}`
}

export function streamNumberOf(at: number): number {
  return at % streams
}

/** A portion as the shipper would hand it to a store. */
export function shipmentOf(portion: readonly Row[], from: number): Shipment {
  const readings = portion.map(
    (row): ShippedReading => ({
      streamId: streamOf(row),
      shape,
      offset: row.at,
      timestampUs: row.timestampUs,
      receivedAtUs: row.receivedAtUs,
      digest: BigInt(row.at),
      values: JSON.stringify(row.values),
      extra: undefined,
      flagged: [],
    }),
  )
  const ids = readings.slice(0, streams).map(({ streamId }) => streamId)
  const received = new Map(ids.map((id) => [id, rowsAtOnce / streams]))
  return { readings, received, from, nextOffset: from + rowsAtOnce }
}

/** Rates of both programs in turns, and the median of their ratios. */
export function writersFigure(
  name: string,
  { ours, bare }: { readonly ours: readonly number[]; readonly bare: readonly number[] },
  ratioMin: number,
): Figure {
  const ratios = ours.map((rate, round) => rate / (bare[round] ?? 1)).toSorted((a, b) => a - b)
  const ratio = ratios[Math.floor(ratios.length / 2)] ?? 0
  return {
    name,
    measured: `${ours.map(thousands).join(', ')} rows/s; bare ${bare.map(thousands).join(', ')}; ratio ${ratio.toFixed(2)}`,
    target: `ratio ${ratioMin}`,
    isMet: ratio >= ratioMin,
  }
}

export function thousands(value: number): string {
  return Math.round(value).toLocaleString('en')
}
