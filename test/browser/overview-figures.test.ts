import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { arriveAt } from '../support/console/arrival.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { firedAlert } from '../support/console/fired-alert.ts'
import { newPerson, type Person, vaultOf } from '../support/people.ts'
import { answering, Receiver } from '../support/receiver.ts'

const receiver = await Receiver.start()
const at = consoleTests({ STREAMVAULT_EGRESS_ALLOW: '127.0.0.0/8' })
let owner: Person
let vaultId: string

beforeAll(async () => {
  owner = await newPerson(at.api)
  vaultId = await vaultOf(owner)
  receiver.behaviour = (response, received) => {
    if (received.path === '/flows') response.writeHead(200, eventStream).write(':\n')
    else answering(received.path === '/lasts' ? 401 : 500)(response, received)
  }
  await fill()
})

afterAll(async () => {
  await receiver[Symbol.asyncDispose]()
})

async function made<Body>(path: string, body: object): Promise<Body> {
  const answer = await owner.withToken<Body>('POST', path, body)
  if (answer.status >= 300) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

/** How many there are of what the overview counts: no two figures are the same, or one link could stand for another. */
const wanted = {
  lasting: 2,
  passing: 1,
  running: 4,
  silent: 5,
  paused: 6,
  plain: 3,
  failing: 9,
  disabled: 10,
  critical: 11,
  warning: 12,
  info: 13,
  acknowledged: 14,
  mismatches: 15,
  untimely: 16,
}

const eventStream = { 'content-type': 'text/event-stream' }

/** Rules that a temperature of 90 meets. */
function rulesOf(severity: string, count: number) {
  return times(count).map((number) => ({
    id: `${severity}-${number}`,
    field: 'temperature',
    operator: '>',
    threshold: 80,
    severity,
  }))
}

function times(count: number): readonly number[] {
  return Array.from({ length: count }, (_, number) => number)
}

async function fill(): Promise<void> {
  for (const _ of times(wanted.plain)) await streamWith({})
  for (const _ of times(wanted.paused)) {
    await made(`/streams/${await streamWith({})}/pause`, {})
  }
  await fillSilent()
  await fillAlerts()
  await fillWebhooks()
  const sse = { protocol: 'sse', endpoint: endpointOf('flows') }
  for (const _ of times(wanted.running)) await streamWith({ type: 'event_stream', source: sse })
  for (const _ of times(wanted.lasting)) await fetchFrom('lasts')
}

async function streamWith(definition: object): Promise<string> {
  const schema = { temperature: { type: 'number' } }
  const body = { name: 'stream', vaultId, type: 'iot_sensor', schema, ...definition }
  return (await made<{ streamId: string }>('/streams', body)).streamId
}

async function fetchFrom(path: string): Promise<void> {
  const source = { endpoint: endpointOf(path), schedule: '* * * * * *' }
  await streamWith({ type: 'api_pull', source })
}

function endpointOf(path: string): string {
  return new URL(path, receiver.url).href
}

async function fillSilent(): Promise<void> {
  for (const _ of times(wanted.silent)) {
    const streamId = await streamWith({})
    await made(`/streams/${streamId}/data`, [{ temperature: 20 }])
    await vi.waitUntil(() => haveReceived(streamId, Date.now() - 16 * 60_000), { timeout: 60_000 })
  }
}

/** Alerts, and refused readings beside them. */
async function fillAlerts(): Promise<void> {
  const { critical, warning, info, acknowledged } = wanted
  const counts = { critical, warning, info }
  const alerting = Object.entries(counts).flatMap(([severity, count]) => rulesOf(severity, count))
  const hot = await streamWith({ processing: { alerting } })
  const known = await streamWith({ processing: { alerting: rulesOf('info', acknowledged) } })
  await made(`/streams/${hot}/data`, [
    ...times(wanted.mismatches).map(() => ({ temperature: 'hot' })),
    ...times(wanted.untimely).map(() => ({ timestamp: 'never', temperature: 20 })),
    { temperature: 90 },
  ])
  await made(`/streams/${known}/data`, [{ temperature: 90 }])
  await firedAlert(owner, hot)
  await firedAlert(owner, known)
  const { body: alerts } = await owner.withToken<readonly { readonly alertId: string }[]>(
    'GET',
    `/alerts?streamId=${known}`,
  )
  for (const { alertId } of alerts) await made(`/alerts/${alertId}/acknowledge`, {})
}

/** The failing ones fail as soon as a stream is made after them. */
async function fillWebhooks(): Promise<void> {
  const hook = { url: receiver.url, events: ['stream.created'], retryCount: 0 }
  for (const _ of times(wanted.failing)) await made('/webhooks', hook)
  for (const _ of times(2)) await made('/webhooks', { ...hook, events: ['vault.deleted'] })
  const ends = [...times(wanted.disabled).map(() => 'DISABLED'), 'PAUSED']
  for (const status of ends) {
    const { webhookId } = await made<{ webhookId: string }>('/webhooks', hook)
    await owner.withKey('PUT', `/notifications/webhooks/${webhookId}`, { status })
  }
}

/** Has a stream have received its last reading then; false while it has received none. */
function haveReceived(streamId: string, atMs: number): boolean {
  const path = join(at.service.process.dataDir, 'state.db')
  // The service writes to it as well.
  using state = new DatabaseSync(path, { timeout: 10_000 })
  const { changes } = state
    .prepare('UPDATE stream_counters SET last_received_at = ? WHERE stream_id = ? AND received > 0')
    .run(atMs * 1000, streamId)
  return changes === 1
}

async function streamsCount(): Promise<number> {
  const { body } = await owner.withToken<readonly unknown[]>('GET', '/streams?limit=1000')
  return body.length
}

interface Figure {
  readonly words: string
  readonly href: string
  readonly count: number
}

async function figuresOn(page: Page): Promise<readonly Figure[]> {
  await arriveAt(page, '/console/')
  return await page.locator('.overview-card li > a').evaluateAll((links) =>
    links.map((link) => ({
      words: link.textContent,
      href: link.getAttribute('href') ?? '',
      count: Number(link.querySelector('.overview-count')?.textContent.replace('! ', '')),
    })),
  )
}

test('each figure leads to a list with as many rows', async () => {
  const page = await at.signedIn('/console/', { key: owner.key })
  const { lasting, passing, running, silent, failing } = wanted
  const words = async () => (await figuresOn(page)).map((figure) => figure.words).join()
  const patience = { timeout: 60_000 }
  const settled = (sources: number) =>
    new RegExp(
      [
        `${lasting} error`,
        `${silent} silent`,
        `${sources} failing`,
        `${running} running`,
        `${failing} webhooks failing`,
      ].join('.*\\b'),
    )
  await expect.poll(words, patience).toMatch(settled(lasting))
  // In a minute this failure is one that lasts.
  for (const _ of times(passing)) await fetchFrom('passes')
  await expect.poll(words, patience).toMatch(settled(lasting + passing))
  // Streams are counted every two seconds, and what their sources do is known at once.
  const total = await streamsCount()
  await expect.poll(async () => (await figuresOn(page))[0]?.count, patience).toBe(total)

  const shown = await figuresOn(page)
  const counts = shown.map(({ count }) => count)
  expect(counts.length).toBeGreaterThan(16)
  expect(new Set(counts).size, counts.join()).toBe(counts.length)
  expect(counts).not.toContain(0)
  for (const { words: what, href, count } of shown) {
    await arriveAt(page, href)
    await expect
      .poll(async () => [what, await page.locator('#main tr[data-row]').count()])
      .toEqual([what, count])
  }
})
