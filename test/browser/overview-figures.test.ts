import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { arriveAt } from '../support/console/arrival.ts'
import { consoleTests } from '../support/console/console-tests.ts'
import { firedAlert } from '../support/console/fired-alert.ts'
import { newPerson, type Person, streamOf, vaultOf } from '../support/people.ts'
import { answering, Receiver } from '../support/receiver.ts'

const receiver = await Receiver.start()
const at = consoleTests({ STREAMVAULT_EGRESS_ALLOW: '127.0.0.0/8' })
let owner: Person

beforeAll(async () => {
  owner = await newPerson(at.api)
  receiver.behaviour = (response, received) =>
    answering(received.path === '/lasts' ? 401 : 500)(response, received)
  await fill(owner)
})

afterAll(async () => {
  await receiver[Symbol.asyncDispose]()
})

async function made<Body>(path: string, body: object, method = 'POST'): Promise<Body> {
  const answer = await owner.withToken<Body>(method, path, body)
  if (answer.status >= 300) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

const rule = { field: 'temperature', operator: '>' } as const
const rules = [
  { ...rule, id: 'warm', threshold: 40, severity: 'info' },
  { ...rule, id: 'hot', threshold: 60, severity: 'warning' },
  { ...rule, id: 'burning', threshold: 80, severity: 'critical' },
] as const

/** Makes some of everything that the overview counts, each in another number where it can be. */
async function fill(person: Person): Promise<void> {
  await streamOf(person)
  const [hot, warm, paused, silent] = [
    await streamOf(person, { alerting: rules }),
    await streamOf(person, { alerting: rules }),
    await streamOf(person),
    await streamOf(person),
  ]
  await made(`/streams/${hot}/data`, [{ temperature: 90 }, { temperature: 'hot' }])
  await made(`/streams/${warm}/data`, [{ temperature: 50 }, { temperature: 'warm' }])
  await made(`/streams/${silent}/data`, [
    { temperature: 20 },
    { timestamp: '2999-01-01T00:00:00Z', temperature: 20 },
  ])
  await made(`/streams/${paused}/pause`, {})
  await made(`/alerts/${await firedAlert(person, warm)}/acknowledge`, {})
  await person.withToken('GET', '/quarantine/summary')
  haveReceived(silent, Date.now() - 16 * 60_000)

  const hook = { url: receiver.url, events: ['stream.created'], retryCount: 0 }
  await made('/webhooks', hook)
  for (const status of ['DISABLED', 'DISABLED', 'PAUSED']) {
    const { webhookId } = await made<{ webhookId: string }>('/webhooks', hook)
    await person.withKey('PUT', `/notifications/webhooks/${webhookId}`, { status })
  }
  const vaultId = await vaultOf(person)
  for (const path of ['passes', 'lasts']) {
    await made('/streams', {
      name: path,
      vaultId,
      type: 'api_pull',
      source: { endpoint: new URL(path, receiver.url).href, schedule: '* * * * * *' },
      schema: { temperature: { type: 'number' } },
    })
  }
}

/** Has a stream have received its last reading then. */
function haveReceived(streamId: string, atMs: number): void {
  using state = new DatabaseSync(join(at.service.process.dataDir, 'state.db'))
  state
    .prepare('UPDATE stream_counters SET last_received_at = ? WHERE stream_id = ?')
    .run(atMs * 1000, streamId)
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
  const words = async () => (await figuresOn(page)).map((figure) => figure.words).join()
  await expect.poll(words, { timeout: 30_000 }).toMatch(/1 silent.*2 failing.*1 webhook failing/)

  const shown = await figuresOn(page)
  expect(shown.filter(({ count }) => count > 0).length).toBeGreaterThan(14)
  for (const { words: what, href, count } of shown) {
    await arriveAt(page, href)
    await expect
      .poll(async () => [what, await page.locator('#main tr[data-row]').count()])
      .toEqual([what, count])
  }
})
