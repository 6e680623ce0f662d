import { describe, expect, test } from 'vitest'
import { RetryLater } from '../../../src/contracts/fetch-connector.ts'
import type { FetchedPage } from '../../../src/contracts/poll-connector.ts'
import { FakeTime } from '../../support/fake-time.ts'
import {
  everyMinute,
  messageOf,
  nothing,
  ScheduledRun,
  slowSource,
  textOf,
} from '../../support/scheduled-run.ts'

const noon = '2026-06-01T12:00:00Z'

async function* onePage(): AsyncIterable<FetchedPage> {
  yield { messages: [messageOf(1)], position: { next: 1 } }
}

/** When a stream is asked in the half hour after noon, in milliseconds. */
async function starts(streamId: string, jitter: string): Promise<readonly number[]> {
  const time = new FakeTime(noon)
  const source = new ScheduledRun({ time, schedule: '*/10 * * * *', jitter, streamId })
  source.start()
  await time.pass(1_200_000 + 599_999)
  await source.stop()
  return source.asked.map((text) => Date.parse(text) - Date.parse(noon))
}

describe('a failure', () => {
  test.each([new Error('down'), new RetryLater('slow down', 90_000)])(
    'ends the run with %s, and the next run begins with the round that failed',
    async (failure) => {
      const time = new FakeTime(noon)
      let isDown = true
      const pages = async function* (): AsyncIterable<FetchedPage> {
        if (isDown) throw failure
        yield nothing
      }
      const { source } = everyMinute({ time, pages })
      source.start()
      await time.pass(60_000)
      expect(await source.end()).toBe(failure)
      expect(source.rounds).toEqual([])

      // Nobody asks while nobody runs it, whatever the schedule says.
      await time.pass(130_000)
      expect(source.asked).toHaveLength(1)
      isDown = false
      source.start()
      await time.pass(0)
      expect(source.asked.at(-1)).toBe('2026-06-01T12:03:10Z')
      expect(source.lastRound).toMatchObject({ missed: 2 })
      expect(textOf(source.lastRound?.dueAtUs ?? 0)).toBe('2026-06-01T12:01:00Z')
      await source.stop()
    },
  )

  test('of the disk ends the run, and what was not kept is asked for again', async () => {
    const time = new FakeTime(noon)
    const { source } = everyMinute({ time, pages: onePage })
    source.start()
    await time.pass(30_000)
    source.diskFailure = new Error('full')
    await time.pass(30_000)
    expect(await source.end()).toBe(source.diskFailure)
    source.diskFailure = undefined
    source.start()
    await time.pass(0)
    expect(source.askedFrom).toEqual([undefined, undefined])
    await source.stop()
  })
})

describe('a round that somebody wants', () => {
  test('is at once, and leaves the schedule as it is', async () => {
    const { time, source } = everyMinute()
    source.start()
    await time.pass(20_000)
    source.wish.make()
    source.wish.make()
    await time.pass(0)
    expect(source.asked).toEqual(['2026-06-01T12:00:20Z'])
    expect(source.lastRound).toMatchObject({ missed: 0, overlapped: 0 })
    await time.pass(40_000)
    expect(source.asked.slice(1)).toEqual(['2026-06-01T12:01:00Z'])
    await source.stop()
  })

  test('comes right behind the one under way, once for all who want one', async () => {
    const time = new FakeTime(noon)
    const { source } = everyMinute({ time, pages: slowSource(time, [10_000]) })
    source.start()
    await time.passUntil('2026-06-01T12:01:05Z')
    source.wish.make()
    source.wish.make()
    source.wish.make()
    await time.passUntil('2026-06-01T12:01:59Z')
    expect(source.asked).toEqual(['2026-06-01T12:01:00Z', '2026-06-01T12:01:10Z'])
    await source.stop()
  })

  test('is one with what is due when the run begins', async () => {
    const { time, source } = everyMinute()
    source.start()
    await time.pass(60_000)
    await source.stop()
    await time.pass(90_000)
    source.wish.make()
    source.start()
    await time.pass(10_000)
    expect(source.asked).toHaveLength(2)
    await source.stop()
  })

  test('is repeated when it fails, though none was due', async () => {
    const time = new FakeTime(noon)
    let isDown = true
    const pages = async function* (): AsyncIterable<FetchedPage> {
      if (isDown) throw new Error('down')
      yield nothing
    }
    const source = new ScheduledRun({ time, schedule: '0 0 * * *', pages })
    source.start()
    source.wish.make()
    await time.pass(0)
    expect(await source.end()).toEqual(new Error('down'))
    isDown = false
    source.start()
    await time.pass(0)
    expect(source.asked).toHaveLength(2)
    await time.pass(3_600_000)
    expect(source.asked).toHaveLength(2)
    await source.stop()
  })
})

describe('jitter', () => {
  test('has each stream come later by a time of its own, always the same, within its bounds', async () => {
    const offsets: number[] = []
    for (let stream = 0; stream < 100; stream++) {
      const [first = 0, second = 0] = await starts(`stream ${stream}`, '5m')
      expect(second - first).toBe(600_000)
      offsets.push(first - 600_000)
    }
    expect(Math.min(...offsets)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...offsets)).toBeLessThan(300_000)
    // All over these minutes.
    const tenths = new Set(offsets.map((offset) => Math.floor(offset / 30_000)))
    expect(tenths.size).toBe(10)
  })

  test('never reaches the next time', async () => {
    for (let stream = 0; stream < 20; stream++) {
      const asked = await starts(`stream ${stream}`, '30d')
      expect(asked.map((ms) => Math.floor(ms / 600_000))).toEqual([1, 2])
    }
  })

  test('is not missed as long as it has not passed', async () => {
    const time = new FakeTime(noon)
    const source = new ScheduledRun({ time, schedule: '0 * * * *', jitter: '1h', streamId: 'late' })
    source.start()
    await time.passUntil('2026-06-01T12:59:00Z')
    await source.stop()
    await time.passUntil('2026-06-01T13:00:01Z')
    source.open()
    source.start()
    await time.pass(0)
    const [startsAt = ''] = source.waits.slice(-1)
    expect(startsAt > '2026-06-01T13:00:01Z').toBe(true)
    expect(source.asked).toEqual([])
    await time.passUntil(startsAt)
    await time.pass(1)
    expect(source.asked).toHaveLength(1)
    expect(source.lastRound).toMatchObject({ missed: 0 })
    await source.stop()
  })
})

describe('what is written', () => {
  test('of empty rounds each second is one position a minute', async () => {
    const time = new FakeTime(noon)
    const source = new ScheduledRun({ time, schedule: '* * * * * *' })
    source.start()
    await time.pass(600_000)
    expect(source.rounds).toHaveLength(600)
    expect(source.written).toHaveLength(11)
    await source.stop()
  })

  test('of empty rounds each minute is each of them', async () => {
    const { time, source } = everyMinute()
    source.start()
    await time.pass(600_000)
    expect(source.written.slice(1).map(({ position }) => position)).toEqual(
      source.rounds.map(({ dueAtUs }) => ({ ranFor: dueAtUs, ranAt: dueAtUs })),
    )
    await source.stop()
  })
})

describe('an abort', () => {
  test('while it waits ends it without an error, and leaves no timer', async () => {
    const { time, source } = everyMinute()
    source.start()
    await time.pass(1_000)
    expect(await source.stop()).toBe('ended')
    expect(time.timers).toBe(0)
  })

  test('right at the start ends it without an error', async () => {
    const { time, source } = everyMinute()
    source.start()
    expect(await source.stop()).toBe('ended')
    expect(time.timers).toBe(0)
    expect(source.asked).toEqual([])
  })

  test('while the other side is asked ends the round, which is done again later', async () => {
    const time = new FakeTime(noon)
    let answers = false
    const { source } = everyMinute({
      time,
      async *pages({ signal }) {
        if (!answers) {
          await new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(new Error('aborted')))
          })
        }
        yield nothing
      },
    })
    source.start()
    await time.pass(60_000)
    expect(await source.stop()).toBe('ended')
    expect(source.rounds).toEqual([])
    answers = true
    source.start()
    await time.pass(0)
    expect(source.rounds).toHaveLength(1)
    await source.stop()
  })

  test('between two pages ends the round: the second is not taken', async () => {
    const time = new FakeTime(noon)
    let isLeft = false
    const { source } = everyMinute({
      time,
      async *pages() {
        try {
          yield { messages: [messageOf(1)], position: { next: 1 } }
          void source.stop()
          yield { messages: [messageOf(2)], position: { next: 2 } }
        } finally {
          isLeft = true
        }
      },
    })
    source.start()
    await time.pass(60_000)
    expect(await source.end()).toBe('ended')
    expect(source.written.filter(({ messages }) => messages.length > 0)).toHaveLength(1)
    expect(source.rounds).toEqual([])
    expect(isLeft).toBe(true)
  })
})
