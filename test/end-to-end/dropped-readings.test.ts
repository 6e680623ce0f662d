import { expect, test } from 'vitest'
import { FaultyService } from '../support/faulty-service.ts'

/** Ten readings a second apart: five say the same as the one before, two are not to be stored. */
const temperatures = [20, 20, 20, 21, -1, 21, 20, 20, -1, 20]

test('what a stream drops or fails at is counted once, whatever is killed', async () => {
  await using service = await FaultyService.start()
  const { api } = service
  const streamId = await api.createStream(
    { temperature: { type: 'number' } },
    {
      processing: {
        deduplicate: true,
        frequency: '1m',
        transform: [
          { filter: { expression: 'temperature >= 0.0' } },
          { derive: { field: 'inverse', expression: '1 / int(temperature - 99.0)' } },
        ],
      },
    },
  )
  const push = async (minute: number): Promise<void> => {
    const time = (second: number) => `2026-03-01T10:${minute}:${10 + second}Z`
    const readings = [...temperatures, 99].map((temperature, index) => ({
      timestamp: time(index),
      temperature,
    }))
    const { status } = await service.api.withToken('POST', `/streams/${streamId}/data`, readings)
    expect(status).toBe(202)
  }

  await push(10)
  expect(await api.settled(streamId, 11)).toEqual(countedAfter(1))

  // The shipper is held within its commit while the decider goes on; then both are killed.
  service.faults.begin('hold', 'time-series.duckdb')
  await push(11)
  await service.until('the decider is through, and the shipper is not', async () => {
    const decided = await service.metric('decider_lag')
    return decided === 0 && (await service.metric('shipper_lag')) === 11
  })
  await service.kill()
  await service.restart()
  expect(await service.api.settled(streamId, 22)).toEqual(countedAfter(2))

  // What the newest stored reading says was read back from the file.
  await service.api.withToken('POST', `/streams/${streamId}/data`, {
    timestamp: '2026-03-01T10:11:59Z',
    temperature: 20,
  })
  expect(await service.api.settled(streamId, 23)).toMatchObject({ stored: 6, unchanged: 11 })
  const stored = await service.api.readAll(streamId)
  expect(stored.map(({ timestamp, temperature }) => [timestamp, temperature])).toEqual([
    ['2026-03-01T10:10:10.000000Z', 20],
    ['2026-03-01T10:10:13.000000Z', 21],
    ['2026-03-01T10:10:16.000000Z', 20],
    ['2026-03-01T10:11:10.000000Z', 20],
    ['2026-03-01T10:11:13.000000Z', 21],
    ['2026-03-01T10:11:16.000000Z', 20],
  ])
})

/** What is counted after so many of these. */
function countedAfter(minutes: number) {
  return {
    received: 11 * minutes,
    stored: 3 * minutes,
    duplicates: 0,
    unchanged: 5 * minutes,
    filtered: 2 * minutes,
    quarantined: minutes,
    discarded: 0,
    pending: 0,
  }
}
