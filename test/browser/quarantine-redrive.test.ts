import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { hindrancesOn } from '../support/console/accessible.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { mqttClients } from '../support/mqtt-clients.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const at = consoleTests()
const connect = mqttClients(() => at.service.process.mqttPort)

/** As many as a quarantine holds. */
const entriesMax = 10_000

/** Elements of a page that stays quick. */
const elementsMax = 8_000

interface Group {
  readonly streamId: string
  readonly reason: string
}

async function push(streamId: string, body: unknown): Promise<void> {
  await at.api.withToken('POST', `/streams/${streamId}/data`, body)
}

/** A message as a device sends it: what cannot be read is kept as it came. */
async function publish(streamId: string, payload: Buffer): Promise<void> {
  const { mqtt } = await connect({ apiKey: adminKey, apiSecret: adminSecret })
  await mqtt.publishAsync(`streams/${streamId}/data`, payload, { qos: 1 })
}

async function quarantined(streamId: string): Promise<number> {
  const path = `/streams/${streamId}/quarantine/summary`
  return (await at.api.withToken<{ entries: number }>('GET', path)).body.entries
}

async function openTab(streamId: string): Promise<Page> {
  return await at.signedIn(`/console/streams/${streamId}/quarantine`)
}

function entriesOn(page: Page) {
  return page.getByRole('table').getByRole('link', { name: /, entry \d+$/ })
}

function deedsOn(page: Page) {
  return page.getByRole('region', { name: 'What to do with entries' })
}

function bytesOn(page: Page) {
  return page.getByRole('region', { name: 'Bytes' })
}

describe('10,000 entries', () => {
  test('are found, mended, tried and redriven, and what is still refused says why', async () => {
    const streamId = await at.api.createStream()
    const hot = Array.from({ length: 1_000 }, (_, index) => ({ temperature: `hot ${index}` }))
    for (let sent = 0; sent < entriesMax - 1_000; sent += 1_000) await push(streamId, hot)
    await push(streamId, [
      ...hot.slice(3),
      ...Array.from({ length: 3 }, () => ({ temperature: true })),
    ])
    const page = await at.signedIn(`/console/quarantine?stream=${streamId}`)

    await page.getByRole('button', { name: 'Choose all 10,000' }).waitFor()
    expect(await page.locator('*').count()).toBeLessThan(elementsMax)
    await entriesOn(page).nth(10).click()
    await page.getByRole('link', { name: 'Make temperature a string' }).click()
    await page.getByText('fits', { exact: true }).waitFor()
    await page
      .getByRole('link', { name: /^Quarantine/ })
      .last()
      .click()
    await page.getByRole('button', { name: 'Choose all 10,000' }).click()
    await page.getByRole('button', { name: 'Try with the draft' }).click()
    await page.getByText('By the draft, 9,997 of 10,000 would pass').waitFor()
    expect(await quarantined(streamId)).toBe(entriesMax)

    await page.getByRole('link', { name: /^Definition/ }).click()
    await page.getByRole('button', { name: 'Save as version 2' }).click()
    await page.getByText('Saved: version 2').waitFor()
    await page
      .getByRole('link', { name: /^Quarantine/ })
      .last()
      .click()
    await page.getByRole('button', { name: 'Choose all 10,000' }).click()
    await page.getByRole('button', { name: 'Redrive' }).click()

    await page.getByText('9,997 accepted, 3 still refused').waitFor()
    await page.getByText('3 times: Does not fit the fields: temperature must be string').waitFor()
    await expect.poll(() => entriesOn(page).count()).toBe(3)
    expect(await hindrancesOn(page)).toEqual([])
    expect(await quarantined(streamId)).toBe(3)
  })
})

describe('the bytes of an entry', () => {
  test('stand first, with what is wrong marked in them', async () => {
    const streamId = await at.api.createStream()
    await push(streamId, '{"humidity": 40, "temperature": "hot"}')
    const page = await openTab(streamId)

    await entriesOn(page).click()

    expect(await bytesOn(page).innerText()).toBe('{"humidity": 40, "temperature": "hot"}')
    expect(await bytesOn(page).locator('mark').innerText()).toBe('"hot"')
    await page.getByText('line 1, column 33').waitFor()
    expect(await hindrancesOn(page)).toEqual([])
  })

  test('that are no text are shown in hexadecimal digits', async () => {
    const streamId = await at.api.createStream()
    await publish(streamId, Buffer.from([0xff, 0x00, 0x41, 0x80]))
    await expect.poll(() => quarantined(streamId)).toBe(1)
    const page = await openTab(streamId)

    await entriesOn(page).click()

    expect(await bytesOn(page).innerText()).toMatch(/^00000000 {2}ff 00 41 80 .*\.\.A\.$/)
    await page.getByText('not readable as text').waitFor()
    expect(await page.getByRole('button', { name: 'text' }).count()).toBe(0)
  })

  test('hide nothing: NUL and marks of direction are signs', async () => {
    const streamId = await at.api.createStream()
    await publish(streamId, Buffer.from('{"a\u0000": "\u202egnp.exe<img src=x onerror=alert(1)>"}'))
    await expect.poll(() => quarantined(streamId)).toBe(1)
    const page = await openTab(streamId)

    await entriesOn(page).click()

    expect(await bytesOn(page).innerText()).toBe(
      '{"a␀": "<202e>gnp.exe<img src=x onerror=alert(1)>"}',
    )
    await page.getByRole('button', { name: 'hex' }).click()
    expect(await bytesOn(page).innerText()).toContain('7b 22 61 00')
  })

  test('of 4 MiB are shown from their beginning, and more when asked for', async () => {
    const streamId = await at.api.createStream()
    const length = 4 * 1024 * 1024 - 100
    await push(streamId, JSON.stringify({ temperature: 'x'.repeat(length) }))
    expect(await quarantined(streamId)).toBe(1)
    const page = await openTab(streamId)

    await entriesOn(page).click()
    await page.getByText('65,536 of').waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()

    await page.getByText('131,072 of').waitFor()
    expect((await bytesOn(page).innerText()).length).toBe(131_072)
    expect(await page.locator('*').count()).toBeLessThan(elementsMax)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download the bytes' }).click()
    expect((await download).suggestedFilename()).toMatch(/^quarantine-\d+\.txt$/)
  })
})

describe('refused readings', () => {
  test('are listed as they come in, with the reasons of their stream alone', async () => {
    const [streamId, other] = [await at.api.createStream(), await at.api.createStream()]
    await publish(other, Buffer.from('{'))
    const page = await openTab(streamId)
    await page.getByText('Nothing is refused').waitFor()

    await push(streamId, { temperature: 'hot' })

    await entriesOn(page).waitFor()
    const reasons = page.getByLabel('Reason').getByRole('option')
    expect(await reasons.allTextContents()).toEqual(['any', 'Does not fit the fields'])
  })

  test('of all streams are counted by stream and reason, and each count leads to its entries', async () => {
    const [one, other] = [await at.api.createStream(), await at.api.createStream()]
    await push(one, { temperature: 'hot' })
    await push(one, { timestamp: 'never', temperature: 1 })
    await push(other, { temperature: 'hot' })
    const page = await at.signedIn(`/console/quarantine?stream=${one}`)
    await expect.poll(() => entriesOn(page).count()).toBe(2)

    await page
      .getByRole('navigation', { name: 'Refused readings' })
      .locator(`a[href*="${one}"]`, { hasText: 'Time not readable' })
      .click()

    await expect.poll(() => entriesOn(page).count()).toBe(1)
    expect(new URL(page.url()).searchParams.get('reason')).toBe('timestamp_invalid')
    await page.reload()
    await expect.poll(() => entriesOn(page).count()).toBe(1)
  })

  test('are chosen, opened and deleted with the keyboard, after their number is typed', async () => {
    const streamId = await at.api.createStream()
    await push(streamId, [{ temperature: 'a' }, { temperature: 'b' }, { temperature: 'c' }])
    const page = await openTab(streamId)
    await entriesOn(page).first().waitFor()

    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.keyboard.press('Enter')
    await bytesOn(page).waitFor()
    await page.getByText('2 chosen').waitFor()
    await deedsOn(page).getByRole('button', { name: 'Delete' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Delete 2 refused readings?' })
    const deed = dialog.getByRole('button', { name: 'Delete' })
    expect(await deed.isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('2')
    await deed.press('Enter')

    await page.getByText('2 refused readings deleted').waitFor()
    const told = page.getByRole('status').filter({ hasText: 'deleted' })
    await expect.poll(() => told.evaluate((one) => one.matches(':focus'))).toBe(true)
    await expect.poll(() => entriesOn(page).count()).toBe(1)
    expect(await quarantined(streamId)).toBe(1)
  })

  test('of which only a part is known by name are downloaded as far as they are chosen', async () => {
    const streamId = await at.api.createStream()
    const hot = Array.from({ length: 70 }, () => ({ temperature: 'hot' }))
    await push(streamId, [...hot, { timestamp: 'never', temperature: 1 }])
    await push(await at.api.createStream(), { temperature: 'hot' })
    const isKnown = (group: Group) =>
      group.streamId === streamId && group.reason === 'schema_mismatch'
    const page = await at.signedIn('/console/')
    await page.route('**/quarantine/summary?*', async (route) => {
      const response = await route.fetch()
      const summary = (await response.json()) as { readonly groups: readonly Group[] }
      await route.fulfill({
        response,
        json: { ...summary, groups: summary.groups.filter(isKnown) },
      })
    })
    await page.goto('/console/quarantine')

    await page.getByRole('button', { name: 'Choose all 70 of the streams with the most' }).click()
    const download = page.waitForEvent('download')
    await deedsOn(page).getByRole('button', { name: 'Download' }).click()
    const text = readFileSync(await (await download).path(), 'utf8')

    const lines = text.trimEnd().split('\n')
    const entries = lines.map((line) => JSON.parse(line) as Group)
    expect(entries).toHaveLength(70)
    expect(new Set(entries.map((entry) => `${entry.streamId} ${entry.reason}`))).toEqual(
      new Set([`${streamId} schema_mismatch`]),
    )
  })

  test('are not to be judged or deleted by a key that may only read', async () => {
    const streamId = await at.api.createStream()
    await push(streamId, { temperature: 'hot' })
    const key = await at.keyWith('streams:read', 'data:read')
    const page = await at.signedIn(`/console/streams/${streamId}/quarantine`, { key })

    await entriesOn(page).click()
    await bytesOn(page).waitFor()

    expect(
      await deedsOn(page)
        .getByRole('button', { name: /Redrive|Delete/ })
        .count(),
    ).toBe(0)
    expect(await page.getByRole('link', { name: /Make temperature/ }).count()).toBe(0)
    await page.getByRole('button', { name: /Choose all/ }).click()
    await page.getByRole('button', { name: 'Try' }).click()
    await page.getByText('By the definition as it is, 0 of 1 would pass').waitFor()
  })
})
