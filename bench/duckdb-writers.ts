import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { systemClock } from '../src/core/clock.ts'
import { DuckDbStore } from '../src/time-series/duckdb/duckdb-store.ts'
import { shapeOf } from '../src/time-series/shape.ts'
import type { Shipment, StoredReading } from '../src/time-series/time-series-store.ts'
import { TemporaryFolder } from '../test/support/temporary-folder.ts'
import type { Figure } from './report.ts'
import { readingSchema } from './servers.ts'

export const rowsAtOnce = 10_000
export const shape = shapeOf(readingSchema as Parameters<typeof shapeOf>[0])

interface Values {
  readonly humidity: number
  readonly pressure: number
  readonly sequence: number
  readonly status: string
  readonly temperature: number
}

/** What one transaction brings, in both programs. */
export function* portions(rows: number): Generator<readonly { at: number; values: Values }[]> {
  for (let first = 0; first < rows; first += rowsAtOnce) {
    yield Array.from({ length: rowsAtOnce }, (_, index) => ({
      at: first + index,
      values: {
        humidity: 41.2,
        pressure: 1013.25,
        sequence: first + index,
        status: 'ok',
        temperature: ((first + index) % 3_000) / 100,
      },
    }))
  }
}

export const startUs = Date.UTC(2026, 9, 1) * 1_000

/** Rows a second of our writer alone, and of the engine's own appender in the least possible program. */
export async function duckDbWriters(rows: number, rounds: number): Promise<Figure> {
  const ours: number[] = []
  const bare: number[] = []
  for (let round = 0; round < rounds; round++) {
    ours.push(await writerRate(rows))
    bare.push(await appenderRate(rows))
  }
  const ratios = ours.map((rate, round) => rate / (bare[round] ?? 1)).toSorted((a, b) => a - b)
  const ratio = ratios[Math.floor(rounds / 2)] ?? 0
  return {
    name: 'DuckDB: our writer alone (duplicates, counts, position) against a bare appender',
    measured: `${ours.map(thousands).join(', ')} rows/s; bare ${bare.map(thousands).join(', ')}; ratio ${ratio.toFixed(2)}`,
    target: 'ratio 0.7',
    isMet: ratio >= 0.7,
  }
}

async function writerRate(rows: number): Promise<number> {
  using folder = new TemporaryFolder()
  const store = await DuckDbStore.open(folder.file('store.duckdb'), systemClock)
  let spentMs = 0
  let position = 0
  for (const portion of portions(rows)) {
    const readings = portion.map(
      ({ at, values }): StoredReading => ({
        streamId: `stream ${at % 20}`,
        shape,
        offset: at,
        timestampUs: startUs + at * 1_000,
        receivedAtUs: startUs,
        digest: BigInt(at),
        values: JSON.stringify(values),
        extra: undefined,
        flagged: [],
      }),
    )
    const received = new Map(
      readings.slice(0, 20).map(({ streamId }) => [streamId, rowsAtOnce / 20]),
    )
    const shipment: Shipment = {
      readings,
      received,
      from: position,
      nextOffset: position + rowsAtOnce,
    }
    position += rowsAtOnce
    const beganMs = performance.now()
    await store.write(shipment)
    spentMs += performance.now() - beganMs
  }
  await store.close()
  return rows / (spentMs / 1_000)
}

async function appenderRate(rows: number): Promise<number> {
  using folder = new TemporaryFolder()
  const instance = await DuckDBInstance.create(join(folder.path, 'bare.duckdb'), { threads: '2' })
  const connection = await instance.connect()
  await connection.run(
    `CREATE TABLE readings (stream INTEGER, "timestamp" BIGINT, received BIGINT, digest UBIGINT,
       humidity DOUBLE, pressure DOUBLE, sequence BIGINT, status VARCHAR, temperature DOUBLE)`,
  )
  let spentMs = 0
  for (const portion of portions(rows)) {
    const beganMs = performance.now()
    await connection.run('BEGIN')
    const appender = await connection.createAppender('readings')
    for (const { at, values } of portion) {
      appender.appendInteger(at % 20)
      appender.appendBigInt(BigInt(startUs + at * 1_000))
      appender.appendBigInt(BigInt(startUs))
      appender.appendUBigInt(BigInt(at))
      appender.appendDouble(values.humidity)
      appender.appendDouble(values.pressure)
      appender.appendBigInt(BigInt(values.sequence))
      appender.appendVarchar(values.status)
      appender.appendDouble(values.temperature)
      appender.endRow()
    }
    appender.closeSync()
    await connection.run('COMMIT')
    spentMs += performance.now() - beganMs
  }
  connection.closeSync()
  instance.closeSync()
  return rows / (spentMs / 1_000)
}

export function thousands(value: number): string {
  return Math.round(value).toLocaleString('en')
}
