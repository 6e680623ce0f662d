import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { hindrancesOn } from '../support/console/accessible.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { firedAlert } from '../support/console/fired-alert.ts'
import { sidewaysPixels } from '../support/console/unwanted-markup.ts'

const at = consoleTests({ STREAMVAULT_EGRESS_ALLOW: '127.0.0.1/32' })

describe('a record', () => {
  test('of an alert has its fields, and ends it', async () => {
    const streamId = await at.api.createStream(
      { temperature: { type: 'number' } },
      { processing: { alertThresholds: { temperature: { max: 80 } } } },
    )
    await at.api.withToken('POST', `/streams/${streamId}/data`, { temperature: 91 })
    const alertId = await firedAlert(at.api, streamId)
    const page = await at.signedIn(`/console/record/alert/${alertId}`)
    await page.getByRole('heading', { level: 1, name: 'temperature.max' }).waitFor()
    expect(await hindrancesOn(page)).toEqual([])

    await page.getByRole('button', { name: 'Acknowledge' }).click()
    await page
      .getByRole('definition')
      .filter({ hasText: /^acknowledged$/ })
      .waitFor()
    await page.getByRole('button', { name: 'Resolve' }).click()
    await page
      .getByRole('definition')
      .filter({ hasText: /^cleared$/ })
      .waitFor()
    expect(await page.getByRole('button', { name: 'Resolve' }).count()).toBe(0)

    await page.getByRole('link', { name: streamId }).click()
    await page.getByRole('heading', { level: 1, name: 'temperature' }).waitFor()
  })

  test('of a source says what it fails of, and runs it', async () => {
    const server = createServer((_, answer) => {
      answer.writeHead(500).end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const streamId = await at.api.createStream(
      { a: { type: 'number' } },
      {
        type: 'api_pull',
        source: { endpoint: `http://127.0.0.1:${port}/`, schedule: '0 0 1 1 *' },
      },
    )
    const page = await at.signedIn('/console/sources', { viewport: { width: 360, height: 800 } })
    await page.getByRole('link', { name: 'temperature' }).click()
    await page.getByRole('heading', { level: 1, name: 'temperature' }).waitFor()
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByText('A round has begun').waitFor()
    await expect
      .poll(async () => {
        await page.reload()
        return await page
          .getByRole('definition')
          .filter({ hasText: /^failing$/ })
          .count()
      })
      .toBe(1)
    expect(await sidewaysPixels(page)).toBeLessThanOrEqual(0)
    expect(await hindrancesOn(page)).toEqual([])
    server.close()

    await page.goto('/console/sources?state=failing&type=api_pull')
    await page.getByRole('link', { name: 'temperature' }).waitFor()
    expect(new URL(page.url()).pathname).not.toContain(streamId)
    for (const filter of ['state=paused', 'type=database']) {
      await page.goto(`/console/sources?${filter}`)
      await page.getByRole('heading', { name: 'No source meets the filter' }).waitFor()
    }
  })

  test('of a webhook is paused and enabled', async () => {
    const { body } = await at.api.withKey<{ id: string }>('POST', '/notifications/webhooks', {
      url: 'http://127.0.0.1:1/hook',
      event_types: ['vault.created'],
    })
    const page = await at.signedIn(`/console/record/webhook/${body.id}`)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page
      .getByRole('definition')
      .filter({ hasText: /^PAUSED$/ })
      .waitFor()
    await page.getByRole('button', { name: 'Enable, and send what it has missed' }).click()
    await page
      .getByRole('definition')
      .filter({ hasText: /^ACTIVE$/ })
      .waitFor()
  })

  test('that is not there says so, and a kind that is not there has no page', async () => {
    const page = await at.signedIn('/console/record/device/sv_test_none')
    await page.getByText('not_found').waitFor()
    expect(await hindrancesOn(page)).toEqual([])
    await page.goto('/console/record/constructor/1')
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  })
})
