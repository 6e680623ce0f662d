import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { isQuestDbMissing, QuestDb } from '../support/questdb.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()

describe.skipIf(isQuestDbMissing)('readings of a stream with a retention', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  /** Names of the tables that have rows, without their shape. */
  async function classesWithRows(): Promise<string[]> {
    const connection = questDb.connection()
    const { rows: tables } = await connection.run(
      `SELECT table_name FROM tables() WHERE starts_with(table_name, 'readings_')`,
    )
    const found: string[] = []
    for (const [table] of tables) {
      const { rows } = await connection.run(`SELECT count() FROM "${String(table)}"`)
      if (Number(rows[0]?.[0]) > 0) found.push(String(table).split('_').slice(2).join('_'))
    }
    connection.close()
    return found.sort()
  }

  test('go into tables of their own as soon as the stream or its vault says how long they are kept', async () => {
    const url = { STREAMVAULT_TIMESERIES_URL: `questdb://127.0.0.1:${questDb.port}` }
    const api = new ApiClient((await services.start(services.newFolder(), url)).http)
    const streamId = await api.createStream()
    const untilIn = async (name: string) => {
      await expect
        .poll(async () => {
          const reading = { timestamp: new Date().toISOString(), temperature: 1 }
          await api.withToken('POST', `/streams/${streamId}/data`, reading)
          return await classesWithRows()
        })
        .toContain(name)
    }
    await untilIn('')
    const { body: stream } = await api.withToken<{ vaultId: string }>('GET', `/streams/${streamId}`)
    await api.withToken('PUT', `/vaults/${stream.vaultId}/retention`, { raw: '10d' })
    await untilIn('32d')
    const processing = { retention: { raw: '1h' } }
    await api.withToken('PUT', `/streams/${streamId}`, { processing })
    await untilIn('12h')

    const counters = await api.settled(streamId)
    expect(counters).toMatchObject({ duplicates: 0, discarded: 0 })
    expect(await api.readAll(streamId)).toHaveLength(counters.stored)
  })
})
