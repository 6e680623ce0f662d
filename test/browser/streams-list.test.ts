import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { hindrancesOn } from '../support/console/accessible.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { firedAlert } from '../support/console/fired-alert.ts'
import { makeStreams } from '../support/console/many-streams.ts'
import { send } from '../support/console/stream-pages.ts'

const at = consoleTests()
const count = 300

async function names(page: Page): Promise<readonly string[]> {
  return await page.locator('tr[data-row] .streams-name .name-link').allTextContents()
}

const sensors = (...numbers: readonly number[]) => numbers.map((number) => `sensor ${number}`)
const from = (first: number, length = 100) => Array.from({ length }, (_, nth) => first + nth)

describe('a list of many streams', () => {
  beforeAll(async () => {
    await makeStreams(at.api, count)
  })

  test('has pages, and the way back through them', async () => {
    const page = await at.signedIn('/console/streams')
    await expect.poll(() => names(page)).toEqual(sensors(...from(0)))
    await page.getByText('1 to 100 of 300 streams').waitFor()

    await page.getByRole('link', { name: 'Next' }).click()
    await expect.poll(() => names(page)).toEqual(sensors(...from(100)))
    await page.getByRole('link', { name: 'Next' }).click()
    await expect.poll(() => names(page)).toEqual(sensors(...from(200)))
    expect(await page.getByRole('link', { name: 'Next' }).count()).toBe(0)
    await page.reload()
    await expect.poll(() => names(page)).toEqual(sensors(...from(200)))

    await page.getByRole('link', { name: 'Before' }).click()
    await expect.poll(() => names(page)).toEqual(sensors(...from(100)))
    await page.goBack()
    await expect.poll(() => names(page)).toEqual(sensors(...from(200)))
    expect(await hindrancesOn(page)).toEqual([])
  })

  test('is searched anywhere in the name, while one types, and keeps the rest of the address', async () => {
    const page = await at.signedIn('/console/streams?sort=-created&tag.hall=3')

    await page.getByRole('searchbox').fill('R 29')
    await expect.poll(() => names(page)).toEqual(sensors(297, 290))
    expect(new URL(page.url()).search).toBe('?sort=-created&tag.hall=3&q=R+29')

    await page.getByRole('button', { name: 'Show all' }).click()
    await expect.poll(() => names(page)).toHaveLength(100)
    expect(new URL(page.url()).search).toBe('?sort=-created')
  })

  test('says so when nothing meets the filter', async () => {
    const page = await at.signedIn('/console/streams?q=100%25')
    await page.getByRole('heading', { name: 'No stream meets this filter' }).waitFor()
    await page.getByRole('link', { name: 'Show all streams' }).click()
    await expect.poll(() => names(page)).toHaveLength(100)
  })

  test('is sorted by a press on the head of a column, and the other way round', async () => {
    const page = await at.signedIn('/console/streams')
    const head = page.getByRole('columnheader', { name: 'Name' })
    await head.getByRole('link').click()
    await expect.poll(async () => (await names(page)).slice(0, 3)).toEqual(sensors(0, 1, 10))
    expect(await head.getAttribute('aria-sort')).toBe('ascending')
    await head.getByRole('link').click()
    await expect.poll(async () => (await names(page)).slice(0, 3)).toEqual(sensors(99, 98, 97))
    expect(await head.getAttribute('aria-sort')).toBe('descending')
  })

  test('many are chosen with the keys and Shift, and paused at once', async () => {
    const page = await at.signedIn('/console/streams?q=sensor+12')
    await expect.poll(() => names(page)).toHaveLength(11)
    await page.getByLabel('Choose sensor 120').click()
    await page.getByLabel('Choose sensor 123').click({ modifiers: ['Shift'] })
    await page.getByText('4 chosen').waitFor()

    await page.getByRole('button', { name: 'Pause' }).click()

    await page.getByText('4 paused').waitFor()
    await page.goto('/console/streams?state=paused')
    await expect.poll(() => names(page)).toEqual(sensors(120, 121, 122, 123))
  })

  test('deleting many wants their number typed', async () => {
    const page = await at.signedIn('/console/streams?q=sensor+25&sort=name')
    await expect.poll(() => names(page)).toHaveLength(11)
    await page.getByLabel('Choose sensor 250').click()
    await page.getByLabel('Choose sensor 251').click()

    await page.getByRole('button', { name: 'Delete' }).click()
    const deed = page.getByRole('button', { name: 'Delete permanently' })
    expect(await deed.isDisabled()).toBe(true)
    await page.getByLabel('To confirm').fill('2')
    await deed.click()

    await page.getByText('2 deleted').waitFor()
    await expect.poll(() => names(page)).toHaveLength(9)
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('2 deleted')
  })

  test('a stream that is deleted alone wants its name', async () => {
    const page = await at.signedIn('/console/streams?q=sensor+199')
    await page.getByRole('link', { name: 'sensor 199' }).click()
    await page.getByRole('button', { name: 'Delete' }).click()
    await page.getByLabel('To confirm').fill('sensor 19')
    const deed = page.getByRole('button', { name: 'Delete permanently' })
    expect(await deed.isDisabled()).toBe(true)
    await page.getByLabel('To confirm').fill('sensor 199')
    await deed.click()

    await page.getByRole('heading', { level: 1, name: 'Streams' }).waitFor()
    await page.goto('/console/streams?q=sensor+199')
    await page.getByRole('heading', { name: 'No stream meets this filter' }).waitFor()
  })

  test('who may only read is offered nothing that changes', async () => {
    const key = await at.keyWith('streams:read', 'data:read')
    const page = await at.signedIn('/console/streams', { key })
    await expect.poll(() => names(page)).toHaveLength(100)
    expect(await page.getByRole('checkbox').count()).toBe(0)
    expect(await page.getByRole('link', { name: 'New stream' }).count()).toBe(0)
  })
})

test('what is wrong with a stream leads to it', async () => {
  const streamId = await at.api.createStream()
  await send(at.api, streamId, [{ temperature: 'hot' }, { temperature: 20 }])
  await at.api.settled(streamId, 2)
  const page = await at.signedIn('/console/streams?problem=quarantined')

  await expect.poll(() => names(page)).toEqual(['temperature'])
  await page.locator('td[data-label="Quarantine"] a').click()
  await page.waitForURL(`**/console/streams/${streamId}/quarantine`)
})

test('an alert that fires leads to the alerts of its stream', async () => {
  const vault = await at.api.createVault()
  const { body } = await at.api.withToken<{ streamId: string }>('POST', '/streams', {
    name: 'too hot',
    vaultId: vault,
    type: 'iot_sensor',
    schema: { temperature: { type: 'number' } },
    processing: { alertThresholds: { temperature: { max: 80 } } },
  })
  await send(at.api, body.streamId, [{ temperature: 91 }])
  await firedAlert(at.api, body.streamId)
  const page = await at.signedIn('/console/streams?problem=firing')

  await page.getByRole('link', { name: '1 firing' }).click()
  await page.getByText('Only of one stream').waitFor()

  // The head of the stream says it as well.
  await page.goto(`/console/streams/${body.streamId}/status`)
  await page.getByRole('link', { name: '1 firing' }).click()
  await page.getByText('Only of one stream').waitFor()
})

test('a name that nothing breaks leaves room for the rest of its row', async () => {
  const page = await at.signedIn('/console/streams?q=unbroken')
  await at.api.withToken('POST', '/streams', {
    name: `unbroken ${'x'.repeat(180)}`,
    tags: { site: 'y'.repeat(100) },
    vaultId: await at.api.createVault(),
    type: 'iot_sensor',
    schema: { temperature: { type: 'number' } },
  })
  await page.reload()

  const source = page.locator('td[data-label="Source"]')
  await source.waitFor()
  const box = await source.boundingBox()
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThan(page.viewportSize()?.width ?? 0)
})
