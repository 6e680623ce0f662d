import { Sender } from '@questdb/nodejs-client'
import { systemClock } from '../src/core/clock.ts'
import { createTable, tableOf } from '../src/storage/time-series/questdb/layout.ts'
import { QuestDbWriter } from '../src/storage/time-series/questdb/questdb-writer.ts'
import { QuestDb } from '../test/support/questdb.ts'
import { TemporaryFolder } from '../test/support/temporary-folder.ts'
import type { Figure } from './report.ts'
import { portions, shape, shipmentOf, streamOf, writersFigure } from './writer-rows.ts'

const silent = { warn: () => undefined, error: () => undefined }

/** Rows a second of our writer alone, and of the client library in the least possible program. */
export async function questDbWriters(rows: number, rounds: number): Promise<Figure> {
  await using questDb = await QuestDb.start()
  const ours: number[] = []
  const bare: number[] = []
  for (let round = 0; round < rounds; round++) {
    ours.push(await writerRate(questDb, rows))
    bare.push(await senderRate(questDb, rows))
  }
  const name = 'QuestDB: our writer alone (duplicates, counts, position) against a bare sender'
  return writersFigure(name, { ours, bare }, 0.85)
}

/** What a reading takes of QuestDB's disk, in its partitions; logs that it writes before go once they are applied. */
export async function questDbBytes(rows: number): Promise<Figure> {
  await using questDb = await QuestDb.start()
  using folder = new TemporaryFolder()
  const server = questDb.newServer()
  const path = folder.file('positions.db')
  const limits = { heldBytesMax: 4 * 1024 ** 3 }
  const writer = new QuestDbWriter({ server, path, clock: systemClock, logger: silent, ...limits })
  for (const portion of portions(rows)) await writer.write(shipmentOf(portion, writer.position()))
  const table = tableOf(server.prefix, shape.id)
  await untilVisible(questDb, table, rows)
  const connection = questDb.connection()
  const { rows: sizes } = await connection.run(
    `SELECT sum(diskSize) FROM table_partitions('${table}')`,
  )
  connection.close()
  await writer.close()
  return {
    name: 'bytes of a stored reading on disk, QuestDB, five fields',
    measured: (Number(sizes[0]?.[0]) / rows).toFixed(1),
    target: 'nothing promised',
    isMet: true,
  }
}

/** Until QuestDB shows the last row, in both programs. */
async function writerRate(questDb: QuestDb, rows: number): Promise<number> {
  using folder = new TemporaryFolder()
  const server = questDb.newServer()
  const path = folder.file('positions.db')
  const limits = { heldBytesMax: 4 * 1024 ** 3 }
  const writer = new QuestDbWriter({ server, path, clock: systemClock, logger: silent, ...limits })
  let spentMs = 0
  for (const portion of portions(rows)) {
    const shipment = shipmentOf(portion, writer.position())
    const beganMs = performance.now()
    await writer.write(shipment)
    spentMs += performance.now() - beganMs
  }
  spentMs += await untilVisible(questDb, tableOf(server.prefix, shape.id), rows)
  await writer.close()
  await questDb.dropTables(server)
  return rows / (spentMs / 1_000)
}

async function senderRate(questDb: QuestDb, rows: number): Promise<number> {
  const server = questDb.newServer()
  const table = tableOf(server.prefix, shape.id)
  const connection = questDb.connection()
  await connection.run(createTable(table, shape))
  connection.close()
  const address = `http::addr=127.0.0.1:${questDb.port};auto_flush=off;protocol_version=2`
  const sender = await Sender.fromConfig(address)
  let spentMs = 0
  for (const portion of portions(rows)) {
    const beganMs = performance.now()
    for (const row of portion) {
      const { at, timestampUs, receivedAtUs, values } = row
      sender.table(table).symbol('streamId', streamOf(row))
      sender.timestampColumn('$receivedAt', receivedAtUs, 'us')
      sender.intColumn('$digest', at).intColumn('$offset', at)
      sender.floatColumn('humidity', values.humidity).floatColumn('pressure', values.pressure)
      sender.intColumn('sequence', values.sequence).stringColumn('status', values.status)
      sender.floatColumn('temperature', values.temperature)
      await sender.at(timestampUs, 'us')
    }
    await sender.flush()
    spentMs += performance.now() - beganMs
  }
  spentMs += await untilVisible(questDb, table, rows)
  await sender.close()
  await questDb.dropTables(server)
  return rows / (spentMs / 1_000)
}

/** Milliseconds until all rows can be queried. */
async function untilVisible(questDb: QuestDb, table: string, rows: number): Promise<number> {
  const beganMs = performance.now()
  const connection = questDb.connection()
  for (;;) {
    const { rows: counted } = await connection.run(`SELECT count() FROM "${table}"`)
    if (Number(counted[0]?.[0]) === rows) break
  }
  connection.close()
  return performance.now() - beganMs
}
