import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { hindrancesOn } from '../support/console/accessible.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { createKey } from '../support/people.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const at = consoleTests()

interface Defined {
  readonly version: number
  readonly schema: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly tags: Readonly<Record<string, string>>
}

const boiler = {
  temperature: { type: 'number', unit: 'degF', required: true },
  pressure: { type: 'number', unit: 'bar' },
}

/** Elements of a page that stays quick. */
const elementsMax = 8_000

async function definitionOf(streamId: string): Promise<Defined> {
  return (await at.api.withToken<Defined>('GET', `/streams/${streamId}`)).body
}

async function change(streamId: string, body: object): Promise<void> {
  const { status } = await at.api.withToken('PUT', `/streams/${streamId}`, body)
  expect(status).toBe(200)
}

async function openDefinition(streamId: string, query = ''): Promise<Page> {
  return await at.signedIn(`/console/streams/${streamId}/definition${query}`)
}

function editorOn(page: Page, name: 'Definition' | 'Sample') {
  return page.getByRole('textbox', { name: new RegExp(`^${name}\\..*leaves the editor`) })
}

/** Types a text in place of what is there. */
async function retype(page: Page, name: 'Definition' | 'Sample', text: string): Promise<void> {
  await editorOn(page, name).click()
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.insertText(text)
}

function saveOn(page: Page) {
  return page.getByRole('button', { name: /^Save as version/ })
}

async function setUnit(page: Page, field: string, unit: string): Promise<void> {
  await page.getByRole('button', { name: field, exact: true }).click()
  await page.getByLabel('Unit').fill(unit)
}

describe('JSON that is none', () => {
  test('is not saved, is marked at its place, and stays as it was typed', async () => {
    const streamId = await at.api.createStream(boiler)
    const page = await openDefinition(streamId, '?view=json')
    const bad = '{"name": "boiler", "schema": {"a": }}'

    await retype(page, 'Definition', bad)

    await page.getByText('It cannot be saved as it is typed: there is "}"').waitFor()
    await page.locator('.cm-lintRange-error').first().waitFor()
    expect(await saveOn(page).isDisabled()).toBe(true)
    expect(await hindrancesOn(page)).toEqual([])
    await page.getByRole('link', { name: 'Fields' }).click()
    await page.getByText('cannot be read as it is typed').waitFor()
    await page.getByRole('link', { name: 'Correct it as JSON' }).click()
    expect(await editorOn(page, 'Definition').innerText()).toContain('"a": }}')
    expect((await definitionOf(streamId)).version).toBe(1)
  })

  test('is let through the editor, and Esc lets the keyboard out of it', async () => {
    const page = await openDefinition(await at.api.createStream(boiler), '?view=json')
    const editor = editorOn(page, 'Definition')
    await editor.click()

    await page.keyboard.press('Tab')
    expect(await editor.evaluate((one) => one.matches(':focus'))).toBe(true)
    await page.keyboard.press('Escape')
    await page.keyboard.press('Tab')

    expect(await editor.evaluate((one) => one.matches(':focus'))).toBe(false)
  })
})

describe('a definition that the service refuses', () => {
  test('says what is wrong beside its field, and in its place in the JSON', async () => {
    const streamId = await at.api.createStream(boiler)
    const page = await openDefinition(streamId)
    await page.getByRole('button', { name: 'pressure', exact: true }).click()
    await page.getByLabel('Lowest').fill('5')
    await page.getByLabel('Highest').fill('1')

    await saveOn(page).click()

    const row = page.locator('tr', { has: page.getByRole('button', { name: 'pressure' }) })
    const opener = row.getByRole('button', { name: 'pressure' })
    await row.getByText('has its bounds the wrong way round').waitFor()
    expect(await hindrancesOn(page)).toEqual([])
    await page.getByRole('button', { name: 'Done' }).click()
    expect(await opener.evaluate((one) => one.matches(':focus'))).toBe(true)
    await page.getByRole('link', { name: 'JSON' }).click()
    await page.locator('.cm-lintRange-error').first().waitFor()
    expect((await definitionOf(streamId)).version).toBe(1)
  })
})

describe('256 fields', () => {
  test('are found, and one of them is changed alone', async () => {
    const names = Array.from({ length: 256 }, (_, index) => `field_${index}`)
    const schema = Object.fromEntries(names.map((name) => [name, { type: 'number' }]))
    const streamId = await at.api.createStream(schema)
    const page = await openDefinition(streamId)
    await page.getByText('256 of 256 fields').waitFor()
    expect(await page.locator('*').count()).toBeLessThan(elementsMax)

    await page.getByLabel('Find a field').fill('_137')
    await setUnit(page, 'field_137', 'kPa')
    await saveOn(page).click()

    await page.getByText('Saved: version 2').waitFor()
    const { version, schema: saved } = await definitionOf(streamId)
    expect(version).toBe(2)
    expect(saved).toEqual({ ...schema, field_137: { type: 'number', unit: 'kPa' } })
    expect(new URL(page.url()).searchParams.get('find')).toBe('_137')
  })
})

describe('somebody else who saves first', () => {
  test('is not overwritten unseen, and both changes can stand', async () => {
    const streamId = await at.api.createStream(boiler)
    const page = await openDefinition(streamId)
    await setUnit(page, 'pressure', 'kPa')
    await change(streamId, { schema: { vibration: { type: 'number' } }, tags: { site: 'b' } })

    await saveOn(page).click()
    const dialog = page.getByRole('dialog', { name: 'Version 2 was made meanwhile' })
    await dialog.getByRole('region', { name: 'What they have changed' }).waitFor()

    expect(await dialog.locator('ins', { hasText: 'vibration' }).count()).toBe(1)
    expect(await dialog.locator('ins', { hasText: 'kPa' }).count()).toBe(1)
    expect(await hindrancesOn(page)).toEqual([])
    expect((await definitionOf(streamId)).schema['pressure']).toEqual(boiler.pressure)
    await dialog.getByRole('button', { name: 'Go on with yours' }).click()
    await page.getByRole('button', { name: 'Save as version 3' }).click()
    await page.getByText('Saved: version 3').waitFor()
    const { schema, tags } = await definitionOf(streamId)
    expect(schema).toMatchObject({ pressure: { unit: 'kPa' }, vibration: { type: 'number' } })
    expect(tags).toEqual({ site: 'b' })
  })

  test('of the same field is named, and overwritten only by choice', async () => {
    const streamId = await at.api.createStream(boiler)
    const page = await openDefinition(streamId)
    await setUnit(page, 'pressure', 'kPa')
    await change(streamId, { schema: { pressure: { type: 'number', unit: 'hPa' } } })

    await saveOn(page).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('Both have changed').getByText('schema.pressure').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await saveOn(page).click()
    await dialog.getByRole('button', { name: 'Overwrite theirs' }).click()

    await page.getByText('Saved: version 3').waitFor()
    expect((await definitionOf(streamId)).schema['pressure']).toMatchObject({ unit: 'kPa' })
  })
})

describe('a sample', () => {
  test('is tried by the draft as one types, and each problem stands beside its place', async () => {
    const transform = [{ convert: { field: 'temperature', from: 'degF', to: 'degC' } }]
    const streamId = await at.api.createStream(boiler, { processing: { transform } })
    const page = await openDefinition(streamId)

    await retype(page, 'Sample', '{"temperature": 212,\n "pressure": "high"}')
    await page.getByText('must be number').first().waitFor()
    expect(await page.locator('.definition-value').innerText()).toBe('"high"')
    expect(await page.getByText('line 2, column 14').count()).toBe(1)
    await page.getByRole('button', { name: 'pressure', exact: true }).click()
    await page
      .getByRole('group', { name: 'Field pressure' })
      .getByLabel('Type')
      .selectOption('string')

    await page.getByText('fits', { exact: true }).waitFor()
    await page.getByText('convert temperature from degF to degC').waitFor()
    expect(await page.locator('.definition-verdicts pre').first().innerText()).toContain('100')
    expect((await definitionOf(streamId)).version).toBe(1)
    expect((await at.api.settled(streamId)).received).toBe(0)
  })
})

describe('a session that ends', () => {
  test('takes nothing of the draft, which is saved by whoever signs in', async () => {
    const streamId = await at.api.createStream(boiler)
    const key = await createKey(at.api)
    const page = await at.signedIn(`/console/streams/${streamId}/definition`, { key })
    await setUnit(page, 'pressure', 'kPa')

    await at.api.withKey('DELETE', `/keys/${key.apiKey}`)
    const dialog = page.getByRole('dialog', { name: 'Your session is over' })
    await dialog.waitFor()
    await dialog.getByRole('textbox', { name: 'Key', exact: true }).fill(adminKey)
    await dialog.getByLabel('Secret').fill(adminSecret)
    await dialog.getByRole('button', { name: 'Sign in' }).click()
    await dialog.waitFor({ state: 'detached' })
    await saveOn(page).click()

    await page.getByText('Saved: version 2').waitFor()
    expect((await definitionOf(streamId)).schema['pressure']).toMatchObject({ unit: 'kPa' })
  })

  test('or a page that is gone to and back, takes nothing of it', async () => {
    const page = await openDefinition(await at.api.createStream(boiler))
    await setUnit(page, 'pressure', 'kPa')

    await page.getByRole('link', { name: 'Overview' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.goBack()

    await page.getByRole('cell', { name: 'kPa' }).waitFor()
    expect(await saveOn(page).isEnabled()).toBe(true)
  })
})

describe('versions', () => {
  test('are compared, and an earlier one is made again', async () => {
    const streamId = await at.api.createStream(boiler)
    await change(streamId, { schema: { pressure: { type: 'number', unit: 'kPa' } } })
    const page = await openDefinition(streamId, '?view=versions')

    await page.locator('ins', { hasText: 'kPa' }).waitFor()
    expect(await page.locator('del', { hasText: '"bar"' }).count()).toBe(1)
    expect(await hindrancesOn(page)).toEqual([])
    await page.getByRole('button', { name: 'Make version 1 again' }).click()
    await page.getByRole('button', { name: 'Save as version 3' }).click()

    await page.getByText('Saved: version 3').waitFor()
    expect((await definitionOf(streamId)).schema['pressure']).toEqual(boiler.pressure)
  })
})

describe('a key that may only read', () => {
  test('sees the definition, and is offered no way to change it', async () => {
    const streamId = await at.api.createStream(boiler)
    const key = await at.keyWith('streams:read')
    const page = await at.signedIn(`/console/streams/${streamId}/definition?view=json`, { key })

    await editorOn(page, 'Sample').waitFor()
    expect(await saveOn(page).count()).toBe(0)
    await page.getByRole('link', { name: 'Fields' }).click()
    await page.getByRole('cell', { name: 'pressure', exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Add field' }).count()).toBe(0)
  })
})
