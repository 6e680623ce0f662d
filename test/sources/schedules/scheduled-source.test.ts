import { describe, expect, test } from 'vitest'
import { SourceRefused } from '../../../src/contracts/fetch-connector.ts'
import type { FetchedPage, Poll } from '../../../src/contracts/poll-connector.ts'
import { FakeTime } from '../../support/fake-time.ts'
import {
  everyMinute,
  messageOf,
  nothing,
  ScheduledRun,
  slowSource,
} from '../../support/scheduled-run.ts'

const noon = '2026-06-01T12:00:00Z'

/** Two numbers, from where it stopped. */
async function* twoPages({ position }: Poll): AsyncIterable<FetchedPage> {
  const from = Number(position?.['next'] ?? 0)
  yield { messages: [messageOf(from)], position: { next: from + 1 } }
  yield { messages: [messageOf(from + 1)], position: { next: from + 2 } }
  yield nothing
}

describe('a source with a schedule', () => {
  test('waits for its first time, and is asked each time from then on', async () => {
    const { time, source } = everyMinute()
    source.start()
    await time.pass(59_999)
    expect(source.asked).toEqual([])
    await time.pass(120_001)
    expect(source.asked).toEqual([
      '2026-06-01T12:01:00Z',
      '2026-06-01T12:02:00Z',
      '2026-06-01T12:03:00Z',
    ])
    expect(source.lastRound).toEqual({
      dueAtUs: Date.parse('2026-06-01T12:03:00Z') * 1_000,
      startedAtUs: Date.parse('2026-06-01T12:03:00Z') * 1_000,
      overlapped: 0,
      missed: 0,
    })
    expect(source.reached).toBe(3)
    expect(source.waits.at(-1)).toBe('2026-06-01T12:04:00Z')
    expect(source.listeners).toBe(1)
    expect(await source.stop()).toBe('ended')
    expect(time.timers).toBe(0)
  })

  test('gives the connector its own position back, with each page and after a restart', async () => {
    const time = new FakeTime(noon)
    const { source } = everyMinute({ time, pages: twoPages })
    source.start()
    await time.pass(120_000)
    await source.stop()
    source.open()
    source.start()
    await time.pass(60_000)

    expect(source.askedFrom).toEqual([undefined, { next: 2 }, { next: 4 }])
    const written = source.written.filter(({ messages }) => messages.length > 0)
    expect(written.map(({ position }) => position?.['inner'])).toEqual(
      [1, 2, 3, 4, 5, 6].map((next) => ({ next })),
    )
    await source.stop()
  })

  test('asks for the next page when the one before is on disk', async () => {
    const time = new FakeTime(noon)
    const steps: string[] = []
    const pages = async function* (): AsyncIterable<FetchedPage> {
      yield { messages: [messageOf(1)], position: { next: 1 } }
      steps.push(`asked with ${source.written.filter(({ messages }) => messages.length).length}`)
    }
    const { source } = everyMinute({ time, pages })
    source.start()
    await time.pass(60_000)
    expect(steps).toEqual(['asked with 1'])
    await source.stop()
  })

  test('leaves out times that pass during a round, and counts them', async () => {
    const time = new FakeTime(noon)
    const { source } = everyMinute({ time, pages: slowSource(time, [150_000]) })
    source.start()
    await time.passUntil('2026-06-01T12:05:00Z')

    expect(source.asked.map((text) => text.slice(11, 19))).toEqual([
      '12:01:00',
      '12:04:00',
      '12:05:00',
    ])
    expect(source.rounds.map(({ overlapped }) => overlapped)).toEqual([2, 0, 0])
    expect(source.rounds.map(({ missed }) => missed)).toEqual([0, 0, 0])
    await source.stop()
  })

  test('does not owe what it has left out when it is killed afterwards', async () => {
    const time = new FakeTime(noon)
    const { source } = everyMinute({ time, pages: slowSource(time, [150_000]) })
    source.start()
    await time.passUntil('2026-06-01T12:03:40Z')
    await source.stop()
    source.open()
    source.start()
    await time.passUntil('2026-06-01T12:03:59Z')
    expect(source.asked).toHaveLength(1)
    await source.stop()
  })

  test('makes up for all that was missed with one round at once', async () => {
    const { time, source } = everyMinute()
    source.start()
    await time.pass(60_000)
    await source.stop()
    await time.passUntil('2026-06-01T12:30:20Z')
    source.open()
    source.start()
    await time.pass(0)

    expect(source.asked.at(-1)).toBe('2026-06-01T12:30:20Z')
    expect(source.lastRound).toMatchObject({
      dueAtUs: Date.parse('2026-06-01T12:02:00Z') * 1_000,
      missed: 28,
    })
    await time.passUntil('2026-06-01T12:31:00Z')
    expect(source.asked).toHaveLength(3)
    await source.stop()
  })

  test('makes up for it after a pause, too, without a restart', async () => {
    const { time, source } = everyMinute()
    source.start()
    await time.pass(60_000)
    await source.stop()
    await time.pass(90_000)
    source.start()
    await time.pass(0)
    expect(source.asked.at(-1)).toBe('2026-06-01T12:02:30Z')
    await source.stop()
  })

  test('that was paused between two times has missed nothing', async () => {
    const { time, source } = everyMinute()
    source.start()
    await time.pass(60_000)
    await source.stop()
    await time.pass(30_000)
    source.open()
    source.start()
    await time.pass(29_999)
    expect(source.asked).toHaveLength(1)
    await time.pass(1)
    expect(source.asked).toHaveLength(2)
    expect(source.lastRound).toMatchObject({ missed: 0 })
    await source.stop()
  })

  test('makes up for its first time, if that has passed while the service was down', async () => {
    const time = new FakeTime(noon)
    const source = new ScheduledRun({ time, schedule: '0 * * * *' })
    source.start()
    await time.pass(60_000)
    await source.stop()
    await time.passUntil('2026-06-01T13:30:00Z')
    source.open()
    source.start()
    await time.pass(0)
    expect(source.asked).toEqual(['2026-06-01T13:30:00Z'])
    await source.stop()
  })

  test('counts what was missed up to a limit', async () => {
    const time = new FakeTime(noon)
    const source = new ScheduledRun({ time, schedule: '* * * * * *' })
    source.start()
    await time.pass(1_000)
    await source.stop()
    await time.passUntil('2026-07-01T12:00:00Z')
    source.open()
    source.start()
    await time.pass(0)
    expect(source.lastRound).toMatchObject({ missed: 999 })
    expect(source.asked).toHaveLength(2)
    await time.pass(1_000)
    expect(source.asked).toHaveLength(3)
    await source.stop()
  })

  test('runs once on the day on which its time does not exist, and once where it exists twice', async () => {
    for (const [from, to, expected] of [
      [
        '2026-03-28T12:00:00Z',
        '2026-03-30T12:00:00Z',
        ['2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z'],
      ],
      [
        '2026-10-24T12:00:00Z',
        '2026-10-26T12:00:00Z',
        ['2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z'],
      ],
    ] as const) {
      const time = new FakeTime(from)
      const source = new ScheduledRun({ time, schedule: '30 2 * * *', timezone: 'Europe/Berlin' })
      source.start()
      await time.passUntil(to)
      expect(source.asked).toEqual(expected)
      await source.stop()
    }
  })

  test('goes by UTC where no time zone is named', async () => {
    const time = new FakeTime(noon)
    const source = new ScheduledRun({ time, schedule: '30 13 * * *' })
    source.start()
    await time.passUntil('2026-06-01T14:00:00Z')
    expect(source.asked).toEqual(['2026-06-01T13:30:00Z'])
    await source.stop()
  })

  test('says that somebody has to mend a schedule that never comes', async () => {
    const time = new FakeTime(noon)
    const source = new ScheduledRun({ time, schedule: '0 0 30 2 *' })
    source.start()
    expect(await source.end()).toBeInstanceOf(SourceRefused)
  })
})

describe('a clock that is set', () => {
  test('back by a day does not keep a source from being asked', async () => {
    const { time, source } = everyMinute()
    source.start()
    await time.pass(60_000)
    time.set('2026-05-31T12:00:10Z')
    await time.pass(180_000)
    expect(source.asked.slice(1).map((text) => text.slice(0, 16))).toEqual([
      '2026-05-31T12:01',
      '2026-05-31T12:02',
      '2026-05-31T12:03',
    ])
    await source.stop()
  })

  test('back by a bit does not have a time come twice', async () => {
    const { time, source } = everyMinute()
    source.start()
    await time.pass(60_000)
    await source.stop()
    time.set('2026-06-01T12:00:50Z')
    source.open()
    source.start()
    await time.pass(60_000)
    expect(source.asked).toHaveLength(1)
    await source.stop()
  })

  test('forward has all that was jumped over made up for by one round', async () => {
    const { time, source } = everyMinute()
    source.start()
    await time.pass(10_000)
    time.set('2026-06-01T18:00:10Z')
    await time.pass(20_000)
    expect(source.asked).toHaveLength(1)
    expect(source.lastRound).toMatchObject({ missed: 359 })
    await source.stop()
  })
})
