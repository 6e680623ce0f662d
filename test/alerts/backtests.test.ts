import { describe, expect, test } from 'vitest'
import { Backtests } from '../../src/alerts/backtests.ts'
import type { UserId } from '../../src/core/ids.ts'
import type { SeriesPage, SeriesQuery } from '../../src/storage/time-series/series.ts'
import { isHot, secondUs } from '../support/alert-signals.ts'

/** Pages of a million readings and one, a second apart, all of them cold but the last one. */
const readings = 1_000_001

async function readPage({ after, limit, endUs }: SeriesQuery): Promise<SeriesPage> {
  const from = after === undefined ? 0 : after.timestampUs / secondUs + 1
  const to = Math.min(from + limit, readings, endUs / secondUs)
  const timesUs = Float64Array.from({ length: to - from }, (_, index) => (from + index) * secondUs)
  const values = timesUs.map((timeUs) => (timeUs === (readings - 2) * secondUs ? 99 : 0))
  const next = to < endUs / secondUs ? { timestampUs: (to - 1) * secondUs, digest: 0n } : undefined
  return { timesUs, columns: [{ type: 'number', values }], next }
}

const plan = {
  proposed: [isHot],
  current: undefined,
  fields: { t: { type: 'number' } },
  columns: ['t'],
} as const

function request(userId: string, seconds: number) {
  const range = { streamId: 'boiler', startUs: 0, endUs: seconds * secondUs }
  return { userId: userId as UserId, ...range, plan, signal: new AbortController().signal }
}

describe('backtests', () => {
  test('go over a million readings, and not over one more', async () => {
    const backtests = new Backtests({ readSeries: readPage })

    expect(await backtests.run(request('ada', readings - 1))).toMatchObject({
      readings: readings - 1,
      proposed: { count: 1 },
    })
    await expect(backtests.run(request('ada', readings))).rejects.toMatchObject({
      code: 'too_many_readings',
    })
  })

  test('wait for each other, one of each user, and not too many', async () => {
    const backtests = new Backtests({ readSeries: readPage })
    const users = Array.from({ length: 8 }, (_, index) => `user-${index}`)
    const running = users.map((user) => backtests.run(request(user, 10)))
    expect(backtests.open).toBe(8)

    await expect(backtests.run(request('user-3', 10))).rejects.toMatchObject({
      code: 'rate_limited',
    })
    await expect(backtests.run(request('user-8', 10))).rejects.toMatchObject({
      code: 'overloaded',
    })
    expect((await Promise.all(running)).map((result) => result.readings)).toEqual(
      users.map(() => 10),
    )
    expect((await backtests.run(request('user-3', 10))).readings).toBe(10)
  })

  test('fail with what the store fails with, and let the next one run', async () => {
    let isBroken = true
    const backtests = new Backtests({
      readSeries: async (query) => {
        if (isBroken) throw new Error('the store is gone')
        return await readPage(query)
      },
    })

    await expect(backtests.run(request('ada', 10))).rejects.toThrow('the store is gone')
    isBroken = false
    expect((await backtests.run(request('ada', 10))).readings).toBe(10)
  })

  test('end when nobody waits for the answer any more', async () => {
    const gone = new AbortController()
    const backtests = new Backtests({
      readSeries: async (query) => {
        gone.abort()
        return await readPage(query)
      },
    })

    const asked = { ...request('ada', 100_000), signal: gone.signal }
    await expect(backtests.run(asked)).rejects.toMatchObject({ code: 'query_too_slow' })
  })
})
