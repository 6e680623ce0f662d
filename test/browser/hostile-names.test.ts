import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { arrived } from '../support/console/arrival.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { firedAlert } from '../support/console/fired-alert.ts'
import { sidewaysPixels, turnedTexts, unwantedMarkup } from '../support/console/unwanted-markup.ts'

const at = consoleTests()

/** As long as a name of each kind may be. */
const names = {
  markup: `<img src=x onerror="alert(1)"><b>bold</b>`,
  script: `"><script>alert(1)</script>{{7*7}}\${7*7}`,
  rightToLeft: '\u202e\u05d0\u05d1\u05d2 evil.exe \u0645\u0631\u062d\u0628\u0627',
  long: 'w'.repeat(200),
  emoji: '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}\u{1f3f4}\u{e0067}\u{e007f} \u{1f525}',
} as const

interface Made {
  readonly name: string
  readonly streamId: string
  readonly vaultId: string
  readonly alertId: string
}

let made: readonly Made[] = []

beforeAll(async () => {
  made = await Promise.all(Object.values(names).map(make))
})

async function make(name: string): Promise<Made> {
  const { api } = at
  const template = await api.withKey<{ id: string }>('POST', '/templates', {
    name,
    hint: name,
    required_streams: [],
  })
  const vault = await api.withKey<{ id: string }>('POST', '/vaults', {
    template_id: template.body.id,
    name,
  })
  const stream = await api.withToken<{ streamId: string }>('POST', '/streams', {
    name,
    vaultId: vault.body.id,
    type: 'iot_sensor',
    schema: {
      temperature: { type: 'number', unit: Array.from(name).slice(0, 12).join('') },
      note: { type: 'string' },
    },
    tags: { site: name },
    processing: { alertThresholds: { temperature: { max: 80 } } },
  })
  if (stream.status !== 201) throw new Error(JSON.stringify(stream.body))
  const { streamId } = stream.body
  await api.withToken('POST', `/streams/${streamId}/data`, { temperature: 91, note: name })
  await api.withToken('POST', `/streams/${streamId}/data`, { temperature: name })
  const alertId = await firedAlert(api, streamId)
  return { name, streamId, vaultId: vault.body.id, alertId }
}

/** What a page must be, whatever is in its names. */
async function expectSound(page: Page, path = new URL(page.url()).pathname): Promise<void> {
  expect(await unwantedMarkup(page), path).toEqual([])
  expect(await turnedTexts(page), path).toEqual([])
  expect(await sidewaysPixels(page), path).toBeLessThanOrEqual(0)
}

const widths = [360, 1280] as const

describe.for(widths)('names that mean harm, at %i pixels', (width) => {
  const visitor = { viewport: { width, height: 800 } }

  test('stand as text on lists', async () => {
    const page = await at.signedIn('/console/alerts', visitor)
    for (const { name } of made) await page.getByText(name, { exact: true }).first().waitFor()
    await expectSound(page)

    await page.goto('/console/inbox')
    for (const { name } of made) await page.getByText(name).first().waitFor()
    await expectSound(page)
  })

  test('stand as text in what is found', async () => {
    const page = await at.signedIn('/console/alerts', visitor)
    await page.getByRole('button', { name: 'Search' }).click()
    for (const { name } of made) {
      await page.getByRole('combobox', { name: 'Name or id' }).fill(name)
      await page.getByRole('option', { name }).first().waitFor()
      await expectSound(page)
    }
  })

  test('stand as text on records', async () => {
    const page = await at.signedIn('/console/', visitor)
    for (const { name, alertId, streamId } of made) {
      await page.goto(`/console/record/alert/${alertId}`)
      await page.getByRole('heading', { level: 1, name: 'temperature.max' }).waitFor()
      await page.goto(`/console/record/source/${streamId}`)
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await expectSound(page)
      expect(await page.title()).toContain(name)
    }
  })

  test('stand as text where the first reading is waited for', async () => {
    const page = await at.signedIn('/console/', visitor)
    for (const { name, streamId } of made) {
      await page.goto(`/console/streams/new?made=${streamId}`)
      await page.getByText('The first reading has arrived').waitFor()
      await page.getByRole('link', { name, exact: true }).waitFor()
      await expectSound(page)
    }
  })
})

test('names that mean harm stand as text on pages of streams', async () => {
  const page = await at.signedIn('/console/streams', {
    viewport: { width: 360, height: 800 },
  })
  for (const { name } of made) await page.getByRole('link', { name, exact: true }).first().waitFor()
  await expectSound(page)
  const paths = made.flatMap(({ streamId }) =>
    ['', '/history', '/status', '/definition', '/quarantine', '/access'].map(
      (tab) => `/console/streams/${streamId}${tab}`,
    ),
  )
  for (const path of ['/console/', '/console/quarantine', ...paths]) {
    await page.goto(path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await expect.poll(() => page.locator('[aria-busy="true"]').count()).toBe(0)
    await expectSound(page, path)
  }
})

test('names that mean harm stand as text on lists, and on pages of vaults', async () => {
  const page = await at.signedIn('/console/vaults')
  for (const { name } of made) await page.getByRole('link', { name, exact: true }).first().waitFor()
  await expectSound(page)
  const tabs = ['', '/streams', '/twin', '/attachments', '/retention']
  const paths = made.flatMap(({ vaultId }) => tabs.map((tab) => `/console/vaults/${vaultId}${tab}`))
  for (const path of ['/console/sources', '/console/vaults/new', ...paths]) {
    await page.goto(path)
    await arrived(page)
    await expectSound(page, path)
  }
})

test('names that mean harm can be given in the console', async () => {
  const page = await at.signedIn('/console/streams/new')
  for (const name of Object.values(names)) {
    await page.goto('/console/streams/new')
    const sample = JSON.stringify({ [Array.from(name).slice(0, 60).join('')]: 1, note: name })
    await page.getByLabel('One message').fill(sample)
    await page.getByRole('button', { name: 'Propose a stream' }).click()
    await page.getByLabel('Name of the stream').fill(`given ${name}`.slice(0, 200))
    await expectSound(page)
    await page.getByRole('button', { name: 'Make the stream' }).click()
    await page.getByText('Waiting for the first reading').waitFor()
    await expectSound(page)
  }
})
