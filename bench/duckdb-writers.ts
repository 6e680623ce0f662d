import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { systemClock } from '../src/core/clock.ts'
import { DuckDbStore } from '../src/storage/time-series/duckdb/duckdb-store.ts'
import { TemporaryFolder } from '../test/support/temporary-folder.ts'
import type { Figure } from './report.ts'
import { portions, shipmentOf, streamNumberOf, writersFigure } from './writer-rows.ts'

/** Rows a second of our writer alone, and of the engine's own appender in the least possible program. */
export async function duckDbWriters(rows: number, rounds: number): Promise<Figure> {
  const ours: number[] = []
  const bare: number[] = []
  for (let round = 0; round < rounds; round++) {
    ours.push(await writerRate(rows))
    bare.push(await appenderRate(rows))
  }
  const name = 'DuckDB: our writer alone (duplicates, counts, position) against a bare appender'
  return writersFigure(name, { ours, bare }, 0.7)
}

async function writerRate(rows: number): Promise<number> {
  using folder = new TemporaryFolder()
  const store = await DuckDbStore.open(folder.file('store.duckdb'), systemClock)
  let spentMs = 0
  for (const portion of portions(rows)) {
    const shipment = shipmentOf(portion, store.position())
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
    for (const { at, timestampUs, receivedAtUs, values } of portion) {
      appender.appendInteger(streamNumberOf(at))
      appender.appendBigInt(BigInt(timestampUs))
      appender.appendBigInt(BigInt(receivedAtUs))
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
