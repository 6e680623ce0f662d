import { readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { backUp, beginBackup, endOfBackup } from '../support/backups.ts'
import { streamvault, streamvaultJson } from '../support/command-line.ts'
import { DistinctLoad } from '../support/distinct-load.ts'
import { isQuestDbMissing, QuestDb } from '../support/questdb.ts'
import { at } from '../support/seconds.ts'
import { SeededRandom } from '../support/seeded-random.ts'
import { startedServices } from '../support/started-services.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const services = startedServices()

describe.skipIf(isQuestDbMissing)('a backup of a service with QuestDB', () => {
  let questDb: QuestDb
  beforeAll(async () => {
    questDb = await QuestDb.start()
  })
  afterAll(async () => await questDb[Symbol.asyncDispose]())

  const storedIn = (name: string) => ({
    STREAMVAULT_TIMESERIES_URL: `questdb://127.0.0.1:${questDb.port}/${name}`,
  })

  async function tablesOf(name: string): Promise<unknown[]> {
    const connection = questDb.connection()
    const { rows } = await connection.run(
      `SELECT table_name FROM tables() WHERE starts_with(table_name, '${name}_')`,
    )
    connection.close()
    return rows.flat()
  }

  test('has all that was acknowledged before it, each reading once, on another server', async () => {
    using folder = new TemporaryFolder()
    const original = await services.start(services.newFolder(), storedIn('busy'))
    const api = new ApiClient(original.http)
    const streamId = await api.createStream()
    const load = new DistinctLoad(api, streamId)
    await load.send()
    load.start()
    await expect.poll(async () => (await api.status(streamId)).counters.stored).toBeGreaterThan(200)
    const range = `start=2026-01-31T00:00:50Z&end=2026-01-31T00:01:40Z`
    await api.withToken('DELETE', `/streams/${streamId}/data?${range}`)
    const before = load.acknowledged.size
    const backup = await backUp(api, folder.file('backup'))
    await load.stop()
    await original.end('SIGKILL')

    const dataDir = folder.file('restored')
    const words = ['restore', '--from', backup.to, '--data-dir', dataDir, '--verify']
    const { verified } = await streamvaultJson<{ verified: boolean }>(words, storedIn('again'))
    expect(verified).toBe(true)
    const restored = new ApiClient((await services.start(dataDir, storedIn('again'))).http)
    const counters = await restored.settled(streamId)
    expect(counters).toMatchObject({ received: backup.received, duplicates: 0, pending: 0 })
    expect(counters.stored).toBeGreaterThanOrEqual(before)
    expect(counters.stored).toBeLessThanOrEqual(load.sent)
    const numbers = (await restored.readAll(streamId)).map(({ temperature }) => Number(temperature))
    const all = Array.from({ length: counters.stored }, (_, number) => number)
    expect(numbers).toEqual(all.filter((number) => number < 50 || number >= 100))

    await new DistinctLoad(restored, streamId).send()
    const after = await restored.settled(streamId, counters.received + 20)
    expect(after).toMatchObject({ stored: counters.stored, duplicates: 20 })
    // What was restored is no copy that two services write to.
    const words2 = ['restore', '--from', backup.to, '--data-dir', folder.file('second')]
    const { code, stderr } = await streamvault(words2, storedIn('again'))
    expect([code, stderr]).toEqual([1, expect.stringContaining('already')])
  })

  test('of any moment is consistent in itself, or says why there is none', async () => {
    using folder = new TemporaryFolder()
    const random = new SeededRandom(20_260_131)
    const api = new ApiClient((await services.start(services.newFolder(), storedIn('busy2'))).http)
    const streams = await Promise.all([api.createStream(), api.createStream()])
    const done = new AbortController()
    const busy = streams.map((id) => sendAndRemove(api, { id, random, signal: done.signal }))
    const made: string[] = []
    for (let round = 0; made.length < 2; round++) {
      // Any moment will do: what is under way then is what this is about.
      await sleep(random.integer(0, 500))
      const to = folder.file(`backup-${round}`)
      const ended = await endOfBackup(api, (await beginBackup(api, to)).backupId)
      if (ended.status === 'completed') made.push(to)
      else expect(ended.error).toContain('removed and sent again')
    }
    done.abort()
    await Promise.all(busy)
    for (const [index, to] of made.entries()) {
      const words = ['restore', '--from', to, '--data-dir', folder.file(`restored-${index}`)]
      const answer = await streamvaultJson([...words, '--verify'], storedIn(`busy3${index}`))
      expect(answer).toMatchObject({ verified: true })
    }
  })

  test('that is damaged is not restored, and leaves no tables', async () => {
    using folder = new TemporaryFolder()
    const api = new ApiClient((await services.start(services.newFolder(), storedIn('whole'))).http)
    const streamId = await api.createStream()
    await new DistinctLoad(api, streamId).send()
    await expect.poll(async () => (await api.status(streamId)).counters.stored).toBe(20)
    const { to } = await backUp(api, folder.file('backup'))
    const rows = folder.file('backup/questdb-rows.ndjson.zst')
    const words = ['restore', '--from', to, '--data-dir', folder.file('restored')]
    const without = await streamvault(words)
    expect([without.code, without.stderr]).toEqual([1, expect.stringContaining('TIMESERIES_URL')])

    const bytes = readFileSync(rows)
    const last = bytes.length - 1
    bytes[last] = (bytes[last] ?? 0) ^ 1
    writeFileSync(rows, bytes)
    const damaged = await streamvault(words, storedIn('damaged'))
    expect([damaged.code, damaged.stderr]).toEqual([1, expect.stringContaining('questdb-rows')])
    expect(await tablesOf('damaged')).toEqual([])
  })
})

/** Sends new readings, the same again and wrong ones, and removes some, until it is told to stop. */
async function sendAndRemove(
  api: ApiClient,
  {
    id,
    random,
    signal,
  }: { readonly id: string; readonly random: SeededRandom; readonly signal: AbortSignal },
): Promise<void> {
  let sent = 0
  while (!signal.aborted) {
    const from = Math.max(0, sent - random.integer(0, 5))
    const readings = Array.from({ length: 20 }, (_, index) => ({
      timestamp: at(from + index),
      temperature: random.chance(0.1) ? 'hot' : 1,
    }))
    sent = from + readings.length
    const answer = await api.withToken('POST', `/streams/${id}/data`, readings)
    expect([202, 422]).toContain(answer.status)
    if (!random.chance(0.1)) continue
    const first = random.integer(0, sent)
    const range = `start=${at(first)}&end=${at(first + 15)}`
    await api.withToken('DELETE', `/streams/${id}/data?${range}`)
  }
}
