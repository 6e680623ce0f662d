import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { hindrancesOn } from '../support/console/accessible.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { send } from '../support/console/stream-pages.ts'

const at = consoleTests({ STREAMVAULT_ANCHORING: 'on', STREAMVAULT_UPLOAD_MAX: '1MiB' })

const dayMs = 86_400_000

/** A picture of one point. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

interface Made {
  readonly id: string
}

/** A vault with an asset stream. */
async function newVault(name: string, code: string): Promise<string> {
  const { api } = at
  await api.withKey('POST', '/streams', { asset_code: code, description: null })
  const template = { name: `of ${name}`, hint: '', required_streams: [code] }
  const { id } = (await api.withKey<Made>('POST', '/templates', template)).body
  return (await api.withKey<Made>('POST', '/vaults', { template_id: id, name })).body.id
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * dayMs).toISOString()
}

async function dropFiles(page: Page, files: readonly { name: string; text: string }[]) {
  const dropped = await page.evaluateHandle((given) => {
    const transfer = new DataTransfer()
    for (const { name, text } of given) transfer.items.add(new File([text], name))
    return transfer
  }, files)
  const place = page.getByRole('group', { name: 'Place for files' })
  await place.dispatchEvent('dragover', { dataTransfer: dropped })
  await place.dispatchEvent('drop', { dataTransfer: dropped })
}

describe('a new vault', () => {
  test('is made with its template, asset streams and image in one form, and anchored', async () => {
    const page = await at.signedIn('/console/vaults')
    await page.getByRole('link', { name: 'Make the first one' }).click()
    await page.getByLabel('Name', { exact: true }).fill('boiler 8')
    await page.getByLabel('Payload').fill('{"serial": 8}')
    await page
      .getByLabel('Image', { exact: true })
      .setInputFiles({ name: 'boiler.png', mimeType: 'image/png', buffer: picture })
    await page.getByLabel('A new one').check()
    await page.getByLabel('Name of the template').fill('boiler')
    await page.getByLabel('Asset streams that a vault needs').fill('BOILER8, BOILER9')
    expect(await hindrancesOn(page)).toEqual([])
    await page.getByRole('button', { name: 'Make the vault' }).click()

    await page.getByRole('heading', { level: 1, name: 'boiler 8' }).waitFor()
    await page.getByText('It is final on the ledger.').waitFor()
    await page.getByText('payload.json', { exact: true }).waitFor()
    const image = page.getByRole('img', { name: 'Of boiler 8' })
    await expect
      .poll(() => image.evaluate((drawn) => (drawn as HTMLImageElement).naturalWidth))
      .toBe(1)
    expect(await hindrancesOn(page)).toEqual([])
  })

  test('is made of a template that is found by its name', async () => {
    await newVault('first of its kind', 'KIND1')
    const page = await at.signedIn('/console/vaults/new')
    await page.getByLabel('Name', { exact: true }).fill('second of its kind')
    await page.getByLabel('Find a template').fill('FIRST OF')
    await page.getByLabel(/of first of its kind.*needs KIND1/).check()
    await page.getByRole('button', { name: 'Make the vault' }).click()
    await page.getByRole('heading', { level: 1, name: 'second of its kind' }).waitFor()

    await page.goto('/console/vaults')
    await page.getByLabel('Name or id').fill('OF ITS')
    await expect
      .poll(() => page.getByRole('table').getByRole('link').allInnerTexts())
      .toEqual(['first of its kind', 'second of its kind'])
    await page.getByLabel('Name or id').fill('no such vault')
    await page.getByText('No vault has this in its name').waitFor()
  })
})

describe('on the ledger', () => {
  test('a vault is compared, and its proof can be taken along', async () => {
    const vaultId = await newVault('proven', 'PROVEN')
    const page = await at.signedIn(`/console/vaults/${vaultId}/twin`)
    await page.getByText('It is final on the ledger.').waitFor()
    await page.getByRole('button', { name: 'Compare now' }).click()
    await page.getByText('Vault verified').waitFor()

    const [taken] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Proof', exact: true }).click(),
    ])
    const proof = JSON.parse(readFileSync(await taken.path(), 'utf8')) as { format: string }
    expect(proof).toMatchObject({ format: 'streamvault-proof-1', final: true })
  })
})

describe('attachments', () => {
  test('are dropped on the page, arrive, and can be loaded and deleted', async () => {
    const vaultId = await newVault('with files', 'FILES')
    const page = await at.signedIn(`/console/vaults/${vaultId}/attachments`)
    await page.getByText('No files yet').waitFor()
    await dropFiles(page, [
      { name: 'report.txt', text: 'hello world' },
      { name: 'too large.txt', text: 'x'.repeat(2 ** 20 + 1) },
    ])

    await page.getByText('1 attachment', { exact: true }).waitFor()
    await page.getByText('the service takes 1.05 MB at most').waitFor()
    await expect.poll(() => page.getByRole('table').getByText('anchored').count()).toBe(1)
    expect(await hindrancesOn(page)).toEqual([])

    const [taken] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download report.txt' }).click(),
    ])
    expect(readFileSync(await taken.path(), 'utf8')).toBe('hello world')

    await page.getByRole('button', { name: 'Delete report.txt' }).click()
    await page.getByRole('button', { name: 'Delete permanently' }).click()
    await page.getByText('No files yet').waitFor()
  })

  test('that are given up on the way leave nothing', async () => {
    const vaultId = await newVault('given up', 'GIVENUP')
    const page = await at.signedIn(`/console/vaults/${vaultId}/attachments`)
    await page.getByText('No files yet').waitFor()
    const { promise: arrived, resolve: arrive } = Promise.withResolvers<undefined>()
    await page.route('**/uploads/**', () => arrive(undefined))
    await dropFiles(page, [{ name: 'slow.txt', text: 'slow' }])
    await arrived
    await page.getByRole('button', { name: 'Cancel slow.txt' }).click()
    const path = '/streams/GIVENUP/attachments'
    await expect
      .poll(async () => (await at.api.withKey<object>('GET', path)).body)
      .toMatchObject({ total_records: 0 })
    await page.getByText('No files yet').waitFor()
  })
})

describe('readings', () => {
  test('that came last are shown with their units, and lead to their streams', async () => {
    const vaultId = await newVault('measured', 'MEASURED')
    const schema = { temperature: { type: 'number', unit: 'Cel' } }
    const streamId = await at.api.createStream(schema, { vaultId, name: 'supply' })
    await send(at.api, streamId, [{ temperature: 81.2 }])
    const page = await at.signedIn(`/console/vaults/${vaultId}`)
    const row = page.getByRole('row', { name: /supply/ })
    await expect.poll(() => row.innerText()).toMatch(/temperature\s*81\.2\s*Cel/)
    await send(at.api, streamId, [{ temperature: 82 }])
    await expect.poll(() => row.innerText()).toMatch(/temperature\s*82\s*Cel/)
    await row.getByRole('link').click()
    await page.getByRole('heading', { level: 1, name: 'supply' }).waitFor()
  })

  test.each([
    [0, 'KEPT'],
    [500, 'KEPTFORLATER'],
  ])(
    'that a shorter retention removes are counted before (browser off by %i days)',
    async (offDays, code) => {
      const vaultId = await newVault('kept', code)
      const schema = { temperature: { type: 'number' } }
      const streamId = await at.api.createStream(schema, { vaultId, name: 'old and new' })
      const own = { vaultId, name: 'own', processing: { retention: { raw: 'forever' } } }
      const ownId = await at.api.createStream(schema, own)
      const readings = [1, 5, 11, 12, 400].map((days) => ({
        timestamp: daysAgo(days),
        temperature: days,
      }))
      await send(at.api, streamId, readings)
      await send(at.api, ownId, readings)
      await at.api.settled(streamId, 5)

      const page = await at.signedIn('/console/')
      await page.clock.setSystemTime(Date.now() + offDays * 86_400_000)
      await page.goto(`/console/vaults/${vaultId}/retention`)
      await page.getByLabel('Readings', { exact: true }).fill('10d')
      await page.getByRole('button', { name: 'Save' }).click()
      const dialog = page.getByRole('dialog', { name: 'Data will be removed' })
      await dialog.getByText('3 readings').waitFor()
      await dialog.getByText('1 stream says').waitFor()
      expect(await hindrancesOn(page)).toEqual([])
      const save = dialog.getByRole('button', { name: 'Save and remove' })
      expect(await save.isDisabled()).toBe(true)
      await dialog.getByLabel('To confirm, type').fill('kept')
      await save.click()

      const path = `/vaults/${vaultId}/retention`
      await expect
        .poll(async () => (await at.api.withToken<object>('GET', path)).body)
        .toEqual({ raw: '10d', aggregated: null })
      await dialog.waitFor({ state: 'hidden' })
      // To keep them longer removes nothing, and asks nothing.
      await page.getByLabel('Readings', { exact: true }).fill('')
      await page.getByRole('button', { name: 'Save' }).click()
      await expect
        .poll(async () => (await at.api.withToken<object>('GET', path)).body)
        .toEqual({ raw: null, aggregated: null })
    },
  )
})
