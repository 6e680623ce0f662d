import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { RuledStream, tooHot } from '../support/alerting.ts'
import { hindrancesOn } from '../support/console/accessible.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { isDrawnAt, send } from '../support/console/stream-pages.ts'

const at = consoleTests()
const minute = 60_000
const hour = 60 * minute

interface Shown {
  readonly from: string
  readonly to: string
  readonly timezoneId?: string
}

/** The history of a stream between two instants. */
async function history(streamId: string, { from, to, timezoneId = 'UTC' }: Shown): Promise<Page> {
  const query = new URLSearchParams({ start: from, end: to }).toString()
  return await at.signedIn(`/console/streams/${streamId}/history?${query}`, { timezoneId })
}

function every(ms: number, from: string, to: string): readonly { timestamp: string; v: number }[] {
  const [first, end] = [Date.parse(from), Date.parse(to)]
  return Array.from({ length: Math.ceil((end - first) / ms) }, (_, nth) => ({
    timestamp: new Date(first + nth * ms).toISOString(),
    v: nth % 10,
  }))
}

/** Rows of the table of figures: the cells of each. */
async function figures(page: Page): Promise<readonly (readonly string[])[]> {
  await page.getByText('The figures as a table').click()
  return await page
    .locator('.stream-figures tbody tr')
    .evaluateAll((rows) =>
      rows.map((row) => [...row.children].map((cell) => cell.textContent ?? '')),
    )
}

const schema = { v: { type: 'integer' } }

describe('days', () => {
  test.each([
    ['Europe/Berlin', '2026-03-29', '2026-10-25'],
    ['America/New_York', '2026-03-08', '2026-11-01'],
  ])('follow the clocks of %s, with 23 hours and with 25', async (timezoneId, spring, autumn) => {
    const streamId = await at.api.createStream(schema)
    await send(at.api, streamId, every(hour, '2026-01-02T00:00:00Z', '2026-11-20T00:00:00Z'))
    await at.api.settled(streamId, 322 * 24)
    const [from, to] = ['2026-01-02T00:00:00Z', '2026-11-20T00:00:00Z']
    const page = await history(streamId, { from, to, timezoneId })

    await page.getByText('one for each day').waitFor()
    await page.getByText('The figures as a table').click()
    await page.getByRole('button', { name: 'show more' }).click()
    const rows = await page
      .locator('.stream-figures tbody tr')
      .evaluateAll((all) =>
        all.map((row) => [...row.children].map((cell) => cell.textContent ?? '')),
      )

    const readings = new Map(rows.map((cells) => [cells[0], cells.at(-1)]))
    expect(rows.map(([time]) => time?.slice(11))).toEqual(rows.map(() => '00:00:00'))
    expect(readings.get(`${spring} 00:00:00`)).toBe('23')
    expect(readings.get(`${autumn} 00:00:00`)).toBe('25')
    expect(readings.get('2026-06-15 00:00:00')).toBe('24')
  })
})

test('no reading, and one', async () => {
  const streamId = await at.api.createStream(schema)
  const [from, to] = ['2026-05-01T00:00:00Z', '2026-05-01T01:00:00Z']
  const empty = await history(streamId, { from, to })
  await empty.getByText('No readings in this range').waitFor()
  expect(await hindrancesOn(empty)).toEqual([])
  await empty.getByRole('link', { name: 'How to send to it' }).click()
  await empty.getByRole('heading', { name: 'Send to it' }).waitFor()

  await send(at.api, streamId, [{ timestamp: '2026-05-01T00:30:00Z', v: 7 }])
  await at.api.settled(streamId, 1)
  const page = await history(streamId, { from, to })

  await page.getByText('1 reading, each drawn').waitFor()
  expect(await figures(page)).toEqual([['2026-05-01 00:30:00.000', '7']])
  await expect.poll(() => isDrawnAt(page, 0, 0.5)).toBe(true)
  expect(await isDrawnAt(page, 0, 0.25)).toBe(false)
})

test('a range without readings leads to a wider one, until there are some', async () => {
  const streamId = await at.api.createStream(schema)
  await send(at.api, streamId, [{ timestamp: '2026-05-01T00:30:00Z', v: 7 }])
  await at.api.settled(streamId, 1)
  const page = await history(streamId, { from: '2026-05-01T02:00:00Z', to: '2026-05-01T03:00:00Z' })

  await page.getByRole('link', { name: 'Show 10 times as much' }).click()

  await page.getByText('1 reading, each drawn').waitFor()
  await page.goto(`/console/streams/${streamId}/history?range=24h`)
  await page.getByRole('link', { name: 'Show the last 7d' }).click()
  await page.getByRole('button', { name: '7d', pressed: true }).waitFor()
})

test('an alert that went on is shown where it went on, however many came after it', async () => {
  const stream = await RuledStream.make(at.api, tooHot)
  await stream.push(81, 82, 20, 81)
  const page = await history(stream.id, {
    from: '2026-01-01T00:00:01Z',
    to: '2026-01-01T00:00:03Z',
  })

  await page.getByText('1 alert in this range').waitFor()
  for (const [start, says] of [
    ['2026-01-01T00:00:01Z', '2 alerts in this range'],
    ['2026-01-01T00:00:02.500Z', '1 alert in this range'],
  ] as const) {
    await page.goto(`/console/streams/${stream.id}/history?start=${start}&end=2026-01-01T00:00:04Z`)
    await page.getByText(says).waitFor()
  }
})

test('a gap is a gap, and no line', async () => {
  const streamId = await at.api.createStream(schema)
  const readings = [
    ...every(minute, '2026-05-01T00:00:00Z', '2026-05-01T00:20:00Z'),
    ...every(minute, '2026-05-01T00:40:00Z', '2026-05-01T01:00:00Z'),
  ]
  await send(at.api, streamId, readings)
  await at.api.settled(streamId, 40)

  const page = await history(streamId, { from: '2026-05-01T00:00:00Z', to: '2026-05-01T01:00:00Z' })

  await page.getByText('40 readings').waitFor()
  await expect.poll(() => isDrawnAt(page, 0, 0.15)).toBe(true)
  expect(await isDrawnAt(page, 0, 0.5)).toBe(false)
  expect(await isDrawnAt(page, 0, 0.85)).toBe(true)
})

test('it is zoomed with the keys, and back', async () => {
  const streamId = await at.api.createStream(schema)
  await send(at.api, streamId, every(minute, '2026-05-01T00:00:00Z', '2026-05-01T01:00:00Z'))
  await at.api.settled(streamId, 60)
  const page = await history(streamId, { from: '2026-05-01T00:00:00Z', to: '2026-05-01T01:00:00Z' })
  const before = page.url()
  const cursor = page.getByRole('slider', { name: 'Cursor of the charts' })

  await cursor.focus()
  for (let step = 0; step < 11; step += 1) await page.keyboard.press('ArrowRight')
  await page.getByText('2026-05-01 00:10:00 UTC').waitFor()
  for (let step = 0; step < 5; step += 1) await page.keyboard.press('Shift+ArrowRight')
  await page.keyboard.press('Enter')

  await page.getByText('5 readings').waitFor()
  const { searchParams } = new URL(page.url())
  expect([searchParams.get('start'), searchParams.get('end')]).toEqual([
    '2026-05-01T00:10:00.000Z',
    '2026-05-01T00:15:00.000Z',
  ])
  await cursor.focus()
  await page.keyboard.press('Backspace')
  await page.getByText('60 readings').waitFor()
  expect(page.url()).toBe(before)
})

test('many readings are drawn within their least and greatest, and taken away as CSV', async () => {
  const streamId = await at.api.createStream({ v: { type: 'integer', unit: 'C' } })
  await send(at.api, streamId, every(1000, '2026-05-01T00:00:00Z', '2026-05-01T02:00:00Z'))
  await at.api.settled(streamId, 7200)
  const [from, to] = ['2026-05-01T00:00:00Z', '2026-05-01T02:00:00Z']
  const page = await history(streamId, { from, to })

  await page.getByText('7,200 readings in').waitFor()
  expect(await hindrancesOn(page)).toEqual([])
  const link = page.getByRole('link', { name: 'Readings as CSV' })
  const answer = await page.request.get((await link.getAttribute('href')) ?? '')

  expect(answer.headers()['content-type']).toContain('text/csv')
  expect(answer.headers()['content-disposition']).toContain('attachment')
  expect((await answer.text()).trim().split('\r\n')).toHaveLength(7201)
})

test('a range is typed key by key, on the clocks of the zone, and asked for once', async () => {
  const streamId = await at.api.createStream(schema)
  const [from, to] = ['2026-05-01T00:00:00.000Z', '2026-05-02T00:00:00.000Z']
  const page = await history(streamId, { from, to, timezoneId: 'Europe/Berlin' })
  await page.getByText('No readings in this range').waitFor()
  const entries = () => page.evaluate(() => history.length)
  const before = await entries()

  await page.getByLabel('From').focus()
  await page.keyboard.type('05022026')
  await page.getByText('It has to begin before it ends').waitFor()
  await page.getByLabel('to', { exact: true }).focus()
  await page.keyboard.type('05042026')
  expect(new URL(page.url()).searchParams.get('start')).toBe(from)
  await page.keyboard.press('Enter')

  const address = () => Object.fromEntries(new URL(page.url()).searchParams)
  await expect
    .poll(address)
    .toEqual({ start: '2026-05-02T00:00:00.000Z', end: '2026-05-04T00:00:00.000Z' })
  expect(await entries()).toBe(before + 1)
  await page.goBack()
  await expect.poll(address).toEqual({ start: from, end: to })
})

test('readings without a number are in the table, the newest first, and nothing is said to be drawn', async () => {
  const streamId = await at.api.createStream({ note: { type: 'string' } })
  await send(at.api, streamId, [
    { timestamp: '2026-05-01T00:30:00Z', note: 'on' },
    { timestamp: '2026-05-01T00:40:00Z', note: 'off' },
  ])
  await at.api.settled(streamId, 2)
  const page = await history(streamId, { from: '2026-05-01T00:00:00Z', to: '2026-05-01T01:00:00Z' })

  await page.getByText('2 readings. No field is a number').waitFor()
  expect((await figures(page)).map((cells) => cells.at(-1))).toEqual(['off', 'on'])
})

test.each([-2, 2])('a browser whose clock is %i h off has the last hour, too', async (hoursOff) => {
  const streamId = await at.api.createStream(schema)
  const nowMs = Date.now()
  const recent = [60_000, 40_000, 20_000].map((agoMs) => ({
    timestamp: new Date(nowMs - agoMs).toISOString(),
    v: 1,
  }))
  await send(at.api, streamId, recent)
  await at.api.settled(streamId, 3)
  const page = await at.signedIn('/console/streams')
  await page.clock.setSystemTime(nowMs + hoursOff * hour)

  await page.goto(`${at.origin}/console/streams/${streamId}/history?range=1h`)
  await page.getByText('3 readings, each drawn').waitFor()
  await page.getByRole('link', { name: 'Live' }).click()
  await page.getByText(/last reading \d+ s ago/).waitFor()
})
