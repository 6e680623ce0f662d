import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { hindrancesOn } from '../support/console/accessible.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { adminKey, adminSecret } from '../support/service-process.ts'

const at = consoleTests()

const sample = [
  '{"ts": "2026-01-31T10:00:00Z", "temperature": 21.5, "mode": "it\'s eco"}',
  '{"ts": "2026-01-31T10:01:00Z", "temperature": 22, "mode": "eco"}',
].join('\n')

/** Runs a line as somebody would who has copied it. */
async function run(line: string): Promise<void> {
  const env = { ...process.env, KEY: adminKey, SECRET: adminSecret }
  await promisify(execFile)('/bin/sh', ['-c', line], { env })
}

/** The line that is shown to be copied. */
async function lineOf(page: Page, way: 'MQTT' | 'HTTP'): Promise<string> {
  return await page
    .getByRole('region', { name: `Over ${way}` })
    .locator('code')
    .first()
    .innerText()
}

describe('the first stream', () => {
  test('takes the whole overview, while there is none', async () => {
    const page = await at.signedIn('/console/')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.getByLabel('One message').fill(sample)

    // Somebody else makes one meanwhile: what is typed stays, until one wants to see.
    await at.api.createStream()
    const leave = page.getByRole('button', { name: 'Show the overview' })
    await leave.waitFor()
    expect(await page.getByLabel('One message').inputValue()).toBe(sample)
    await leave.click()
    await page.getByRole('heading', { level: 2, name: 'Needs you' }).waitFor()
  })

  test.for(['MQTT', 'HTTP'] as const)(
    'is six actions from a pasted sample to its live point, over %s',
    async (way) => {
      const page = await at.signedIn('/console/streams/new')

      await page.getByLabel('One message').fill(sample) // 1
      await page.getByRole('button', { name: 'Propose a stream' }).click() // 2
      await page.getByLabel('Name of the stream').fill(`boiler over ${way}`) // 3
      await page.getByRole('button', { name: 'Make the stream' }).click() // 4
      await page.getByText('Waiting for the first reading').waitFor()
      await run(await lineOf(page, way)) // 5
      await page.getByRole('link', { name: 'See it live' }).click() // 6

      await expect
        .poll(() => new URL(page.url()).pathname)
        .toMatch(/^\/console\/streams\/[\da-f-]{36}$/)
      await page.getByText("it's eco").first().waitFor()
    },
  )

  test('says at each step what it needs, and hinders nobody', async () => {
    const page = await at.signedIn('/console/streams/new')
    expect(await hindrancesOn(page)).toEqual([])

    await page.getByLabel('One message').fill(sample)
    await page.getByRole('button', { name: 'Propose a stream' }).click()
    const made = page.getByRole('button', { name: 'Make the stream' })
    await made.waitFor()
    expect(await made.isDisabled()).toBe(true)
    expect(await hindrancesOn(page)).toEqual([])

    await page.getByLabel('Name of the stream').fill('boiler with a unit')
    await page.getByLabel('Unit of temperature').fill('C')
    await page.getByLabel('Name of mode').fill('temperature')
    await page.getByText('another field has this name').first().waitFor()
    expect(await made.isDisabled()).toBe(true)
    await page.getByLabel('Name of mode').fill('way')
    await made.click()
    await page.getByText('Waiting for the first reading').waitFor()
    expect(await hindrancesOn(page)).toEqual([])
    await run(await lineOf(page, 'HTTP'))

    await page.getByText('The first reading has arrived').waitFor()
    await page.getByText('"way": "it\'s eco"').waitFor()
    expect(await hindrancesOn(page)).toEqual([])
  })

  test('stays as it is when the page is loaded again', async () => {
    const page = await at.signedIn('/console/streams/new')
    await page.getByRole('button', { name: 'I have no sample' }).click()
    await page.getByLabel('Name of the stream').fill('anything')
    await page.getByLabel('Name of field 1').fill('pressure')
    await page.getByRole('button', { name: 'Make the stream' }).click()
    await page.getByText('Waiting for the first reading').waitFor()

    await page.reload()

    await page.getByText('Waiting for the first reading').waitFor()
    await run(await lineOf(page, 'HTTP'))
    await page.getByText('The first reading has arrived').waitFor()
  })

  test('tells of a reading that is refused, and why', async () => {
    const page = await at.signedIn('/console/streams/new')
    await page.getByLabel('One message').fill(sample)
    await page.getByRole('button', { name: 'Propose a stream' }).click()
    await page.getByLabel('Name of the stream').fill('boiler that refuses')
    await page.getByRole('button', { name: 'Make the stream' }).click()
    await page.getByText('Waiting for the first reading').waitFor()

    await run((await lineOf(page, 'MQTT')).replace('21.5', '"hot"'))

    await page.getByText('Something came, and was refused').waitFor()
    await page.getByText('schema_mismatch').first().waitFor()
    await page.getByText('Waiting for the first reading').waitFor()
  })

  test('keeps what was pasted when the proposal fails', async () => {
    const page = await at.signedIn('/console/streams/new')
    await page.route('**/streams/infer', (route) => route.abort())
    await page.getByLabel('One message').fill(sample)
    await page.getByRole('button', { name: 'Propose a stream' }).click()
    await page.getByText('unreachable').first().waitFor()

    await page.unroute('**/streams/infer')
    await page.getByRole('button', { name: 'Propose a stream' }).click()

    await page.getByLabel('Name of the stream').waitFor()
    expect(await page.getByLabel('One message').inputValue()).toBe(sample)
  })

  test('says that the service is back, though nothing else was tried', async () => {
    const page = await at.signedIn('/console/streams/new')
    await page.getByLabel('One message, or some of them').fill('{"temperature": 21.5}')
    await page.route('**/streams/infer', (route) => route.abort(), { times: 1 })
    await page.getByRole('button', { name: 'Propose a stream' }).click()
    await page.getByText('Not connected since').waitFor()

    await page.getByText('Not connected since').waitFor({ state: 'detached' })

    await page.getByRole('button', { name: 'Propose a stream' }).click()
    await page.getByLabel('Name of the stream').waitFor()
  })

  test('is made in a vault that is there already, once there is one', async () => {
    const vaultId = await at.api.createVault()
    const page = await at.signedIn('/console/streams/new')
    await page.getByRole('button', { name: 'I have no sample' }).click()
    await page.getByLabel('Name of the stream').fill('boiler of a known vault')
    await page.getByLabel('Name of field 1').fill('temperature')
    await page.getByRole('button', { name: 'Add a field' }).click()
    await page.getByLabel('Name of field 2').fill('mode')
    await page.getByLabel('Type of field 2').selectOption('string')
    await page.getByLabel('Vault', { exact: true }).selectOption(vaultId)
    await page.getByRole('button', { name: 'Make the stream' }).click()
    await page.getByText('Waiting for the first reading').waitFor()

    const made = new URL(page.url()).searchParams.get('made') ?? ''
    const { body } = await at.api.withToken('GET', `/streams/${made}`)
    expect(body).toMatchObject({
      vaultId,
      schema: { temperature: { type: 'number' }, mode: { type: 'string' } },
    })
  })
})
