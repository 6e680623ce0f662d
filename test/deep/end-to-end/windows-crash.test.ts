import { describe, expect, test } from 'vitest'
import { ApiClient, type DataPage } from '../../support/api-client.ts'
import { isQuestDbMissing } from '../../support/questdb.ts'
import { type Rounds, undisturbed, withKilledQuestDb } from '../../support/questdb-kills.ts'
import { at } from '../../support/seconds.ts'
import { SeededRandom } from '../../support/seeded-random.ts'
import { startedServices } from '../../support/started-services.ts'

const services = startedServices()

/** Readings are told by their second, over half an hour. */
const seconds = 1_800

type Points = DataPage['data']

/** What a window and a bucket of a query have in common. */
function comparable(points: Points): unknown[] {
  return points
    .filter(({ count }) => Number(count) > 0)
    .map(({ timestamp, temperature, count }) => ({ timestamp, temperature, count }))
}

test('windows are what a query makes of the readings, whenever the service is killed', async () => {
  await killedInRounds(undisturbed)
})

describe.skipIf(isQuestDbMissing)('with QuestDB', () => {
  test('windows are what a query makes of the readings, whichever of the two is killed', async () => {
    await withKilledQuestDb(killedInRounds)
  })
})

async function killedInRounds({ environment, meanwhile }: Rounds): Promise<void> {
  const dataDir = services.newFolder()
  const random = new SeededRandom(20_260_131)
  let process = await services.start(dataDir, environment)
  let api = new ApiClient(process.http)
  const streamId = await api.createStream(
    { temperature: { type: 'number' } },
    { processing: { frequency: '1m', aggregation: 'average' } },
  )
  const path = `/streams/${streamId}/data`
  const there = new Map<number, number>()
  let received = 0

  for (let round = 0; round < 8; round++) {
    for (let step = 0; step < 3; step++) {
      const sent = Array.from({ length: 40 }, () => random.integer(0, seconds - 1))
      const body = sent.map((second) => ({ timestamp: at(second), temperature: second }))
      expect((await api.withToken('POST', path, body)).status).toBe(202)
      for (const second of sent) there.set(second, second)
      received += sent.length
      if (step !== 1) continue
      const from = random.integer(0, seconds - 1)
      const to = Math.min(seconds, from + 200)
      const range = `?start=${at(from)}&end=${at(to)}`
      expect((await api.withToken('DELETE', path + range)).status).toBe(204)
      for (const second of there.keys()) if (second >= from && second < to) there.delete(second)
    }
    // Some rounds are killed at once, others while windows are being computed.
    if (round % 2 === 1) await expect.poll(() => computed(api, streamId)).toBeGreaterThan(0)
    await process.end('SIGKILL')
    await meanwhile(round)
    process = await services.start(dataDir, environment)
    api = new ApiClient(process.http)
    await api.settled(streamId, received)
    const asked = await api.readAll(streamId, '&aggregation=1m')
    expect(comparable(await api.readAll(streamId, '&aggregation=window'))).toEqual(
      comparable(asked),
    )
    expect(asked.reduce((sum, { count }) => sum + Number(count), 0)).toBe(there.size)
  }

  const kept = async () => {
    const windows = await api.readAll(streamId, '&aggregation=window')
    return windows.every(({ computedAt }) => computedAt !== null)
  }
  await expect.poll(kept).toBe(true)
  const windows = await api.readAll(streamId, '&aggregation=window')
  expect(comparable(windows)).toEqual(comparable(await api.readAll(streamId, '&aggregation=1m')))
  expect(windows.some(({ revision }) => Number(revision) > 1)).toBe(true)
}

/** How many windows are kept. */
async function computed(api: ApiClient, streamId: string): Promise<number> {
  const windows = await api.readAll(streamId, '&aggregation=window')
  return windows.filter(({ computedAt }) => computedAt !== null).length
}
