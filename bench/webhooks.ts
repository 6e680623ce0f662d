import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { systemClock } from '../src/core/clock.ts'
import { Events } from '../src/outbox/events/events.ts'
import { openDeliveryDesk } from '../src/processes/worker/deliveries.ts'
import { commitChanges, plain } from '../src/storage/state/database.ts'
import { newDeliveryId } from '../src/telling/delivery/delivery.ts'
import { ApiClient } from '../test/support/api-client.ts'
import { answering, hanging, type Received, Receiver } from '../test/support/receiver.ts'
import { newDataDir, startServiceProcess } from '../test/support/service-process.ts'
import { TestState } from '../test/support/test-state.ts'
import { type Figure, printFigure } from './report.ts'

/** Deliveries that wait when the rate is measured. */
const waiting = 30_000

/** Webhooks that one event goes to. */
const configurations = 1_000

/** Events whose way is timed. */
const timed = 200

/** How quickly webhooks are told; by itself with `npm run bench:webhooks`. */
export async function webhookSpeed(): Promise<readonly Figure[]> {
  return [await fanOutTime(), await bulkTime(), ...(await waysToReceiver()), await deliveryRate()]
}

/** What tells of events, and a user with so many webhooks. */
async function toldBy(tests: TestState, webhooks: number) {
  const { state } = tests
  const clock = systemClock
  const { fanOut } = await openDeliveryDesk({ state, clock, onNotified: () => undefined })
  const ownerId = await tests.newUser()
  for (let index = 0; index < webhooks; index++) {
    const id = randomUUID()
    await state.insertInto('webhooks').values(webhookRow(id, ownerId)).execute()
    const subscription = { owner_id: ownerId, event_type: 'vault.created', webhook_id: id }
    await state.insertInto('webhook_subscriptions').values(subscription).execute()
  }
  return { state, clock, fanOut, ownerId }
}

/** Many events of one change to some webhooks: how long nobody else can write the state. */
async function bulkTime(): Promise<Figure> {
  await using tests = await TestState.open()
  const { state, clock, fanOut, ownerId } = await toldBy(tests, 10)
  const changes = Array.from({ length: 1_000 }, () => {
    const id = randomUUID()
    const about = { resourceType: 'vault', resourceId: id, vaultId: id, data: { id, name: 'one' } }
    return new Events(state, clock).record({ type: 'vault.created', ownerId, ...about })
  })
  const tookMs: number[] = []
  const measured = async (work: Promise<unknown>) => {
    const beganMs = performance.now()
    await work
    tookMs.push(performance.now() - beganMs)
  }
  await measured(commitChanges(state, changes.flat().map(plain), fanOut.notify))
  const waits = state.selectFrom('events').select('id').where('fanned_out', '=', 3).limit(1)
  while ((await waits.execute()).length > 0) await measured(fanOut.catchUp(state, ownerId))
  const wholeMs = tookMs.reduce((sum, one) => sum + one, 0)
  const slowest = Math.max(...tookMs)
  return {
    name: '1,000 events of one change to 10 webhooks each: the longest transaction',
    measured: `${slowest.toFixed(0)} ms (${tookMs.length} of them, ${wholeMs.toFixed(0)} ms in all)`,
    target: 'under 100 ms',
    isMet: slowest < 100,
  }
}

/** One event to a thousand webhooks, in one transaction. */
async function fanOutTime(): Promise<Figure> {
  await using tests = await TestState.open()
  const { state, clock, fanOut, ownerId } = await toldBy(tests, configurations)
  const tookMs: number[] = []
  for (let round = 0; round < 20; round++) {
    const id = randomUUID()
    const about = { resourceType: 'vault', resourceId: id, vaultId: id, data: { id, name: 'one' } }
    const changes = new Events(state, clock).record({ type: 'vault.created', ownerId, ...about })
    const beganMs = performance.now()
    await commitChanges(state, changes.map(plain), fanOut.notify)
    tookMs.push(performance.now() - beganMs)
  }
  const slowest = Math.max(...tookMs)
  return {
    name: `one event to ${configurations} webhooks`,
    measured: `${at(tookMs, 0.5).toFixed(1)} ms (median of 20; slowest ${slowest.toFixed(1)})`,
    target: 'one transaction under 100 ms',
    isMet: slowest < 100,
  }
}

/** From an event to its receiver; and the same beside a receiver that hangs with a thousand events. */
async function waysToReceiver(): Promise<readonly Figure[]> {
  await using receiver = await Receiver.start()
  await using hung = await Receiver.start()
  hung.behaviour = hanging
  receiver.behaviour = answering(204)
  const dataDir = newDataDir()
  const service = await startServiceProcess(dataDir, {
    STREAMVAULT_CHECK_ANSWERS: 'off',
    STREAMVAULT_EGRESS_ALLOW: `${receiver.destination},${hung.destination}`,
  })
  const api = new ApiClient(service.http)
  await register(api, receiver.url, 'vault.created')
  await timedEvents(api, receiver, 30)
  const alone = await timedEvents(api, receiver, timed)
  await register(api, hung.url, 'vault.deleted')
  // Twenty at a time: only what follows is timed.
  const before = receiver.received.length
  const many = Array.from({ length: 20 }, async () => await vaults(api, 50))
  const ids = (await Promise.all(many)).flat()
  await receiver.requests(before + ids.length, 60_000)
  await Promise.all(ids.map((id) => api.withKey('DELETE', `/vaults/${id}`)))
  receiver.received.length = 0
  const beside = await timedEvents(api, receiver, timed)
  await service.end('SIGKILL')
  rmSync(dataDir, { recursive: true })
  const ratio = at(beside, 0.95) / at(alone, 0.95)
  const [p50, p99] = [at(alone, 0.5), at(alone, 0.99)]
  return [
    {
      name: 'from an event to its receiver, commit included',
      measured: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
      target: 'p50 under 15 ms, p99 under 100 ms',
      isMet: p50 < 15 && p99 < 100,
    },
    {
      name: 'the same beside a receiver that hangs, with 1,000 events',
      measured: `p95 ${at(beside, 0.95).toFixed(1)} ms, ${ratio.toFixed(2)} times ${at(alone, 0.95).toFixed(1)} ms`,
      target: 'p95 within 1.2 times',
      isMet: ratio <= 1.2,
    },
  ]
}

/** Milliseconds from each event's time to its arrival, one event after the other. */
async function timedEvents(
  api: ApiClient,
  receiver: Receiver,
  count: number,
): Promise<readonly number[]> {
  const before = receiver.received.length
  const arrivedMs = new Map<string, number>()
  receiver.behaviour = (response, received) => {
    arrivedMs.set(bodyOf(received).data.id, performance.timeOrigin + performance.now())
    response.writeHead(204).end()
  }
  const ids = await vaults(api, count)
  const all = await receiver.requests(before + count, 60_000)
  const events = new Map(all.slice(before).map((one) => [bodyOf(one).data.id, bodyOf(one)]))
  return ids.map((id) => (arrivedMs.get(id) ?? 0) - Date.parse(`${events.get(id)?.timestamp}Z`))
}

interface Body {
  readonly timestamp: string
  readonly data: { readonly id: string }
}

function bodyOf({ body }: Received): Body {
  return JSON.parse(body.toString()) as Body
}

/** New vaults, one after the other. */
async function vaults(api: ApiClient, count: number): Promise<readonly string[]> {
  const template = { name: 'boiler', hint: '', required_streams: [] }
  const { body } = await api.withKey<{ id: string }>('POST', '/templates', template)
  const ids: string[] = []
  for (let index = 0; index < count; index++) {
    const vault = { template_id: body.id, name: `boiler ${index}` }
    ids.push((await api.withKey<{ id: string }>('POST', '/vaults', vault)).body.id)
  }
  return ids
}

async function register(api: ApiClient, url: string, type: string): Promise<string> {
  const path = '/notifications/webhooks'
  const body = { url, event_types: [type], secret: 'a secret' }
  return (await api.withKey<{ id: string }>('POST', path, body)).body.id
}

/** Deliveries a second to one receiver, in a thread of its own, of events that wait. */
async function deliveryRate(): Promise<Figure> {
  const thread = new Worker(new URL('./webhook-receiver.ts', import.meta.url))
  const [{ port }] = (await once(thread, 'message')) as [{ readonly port: number }]
  const dataDir = newDataDir()
  const settings = {
    STREAMVAULT_CHECK_ANSWERS: 'off',
    STREAMVAULT_EGRESS_ALLOW: `127.0.0.1:${port}`,
  }
  const first = await startServiceProcess(dataDir, settings)
  const api = new ApiClient(first.http)
  const webhookId = await register(api, `http://127.0.0.1:${port}/hook`, 'vault.created')
  const userId = await api.userId()
  await first.end('SIGTERM')
  fill(join(dataDir, 'state.db'), webhookId, userId)
  const service = await startServiceProcess(dataDir, settings)
  const progress: { readonly received: number; readonly atMs: number }[] = []
  while ((progress.at(-1)?.received ?? 0) < waiting) {
    const [message] = (await once(thread, 'message')) as [(typeof progress)[number]]
    progress.push(message)
  }
  await service.end('SIGKILL')
  await thread.terminate()
  rmSync(dataDir, { recursive: true })
  const middle = progress.filter(
    ({ received }) => received > waiting * 0.1 && received < waiting * 0.9,
  )
  const [from, to] = [middle[0], middle.at(-1)]
  const rate =
    ((to?.received ?? 0) - (from?.received ?? 0)) / (((to?.atMs ?? 0) - (from?.atMs ?? 0)) / 1_000)
  return {
    name: 'deliveries to one receiver',
    measured: `${Math.round(rate).toLocaleString('en-US')} a second`,
    target: '3,000 a second',
    isMet: rate >= 3_000,
  }
}

/** Writes events and deliveries as so many changes would have left them. */
function fill(path: string, webhookId: string, userId: string): void {
  const state = new DatabaseSync(path)
  state.exec('BEGIN')
  const event = state.prepare(
    `INSERT INTO events (id, owner_id, type, at, resource_type, resource_id, data, fanned_out)
     VALUES (?, ?, 'vault.created', ?, 'vault', ?, ?, 1)`,
  )
  const delivery = state.prepare(
    `INSERT INTO deliveries (id, event_id, receiver_id, owner_id, event_type, resource_id,
       created_at, state, phase, attempts, attempts_max, due_at)
     VALUES (?, ?, ?, ?, 'vault.created', ?, ?, 'pending', 'inline', 0, 3, ?)`,
  )
  const data = JSON.stringify({ name: 'boiler 7', description: 'x'.repeat(300) })
  for (let index = 0; index < waiting; index++) {
    const [id, atUs] = [randomUUID(), 1_700_000_000_000_000 + index]
    event.run(id, userId, atUs, id, data)
    delivery.run(newDeliveryId(), id, webhookId, userId, id, atUs, atUs)
  }
  state.exec('COMMIT')
  state.close()
}

function webhookRow(id: string, ownerId: string) {
  return {
    id,
    owner_id: ownerId,
    interface: 'header-key',
    created_at: 0,
    url: 'https://receiver.nowhere.example.com/',
    event_types: '["vault.created"]',
    description: null,
    secrets_encrypted: Buffer.alloc(60),
    filters: '{}',
    status: 'ACTIVE',
    last_delivery_at: null,
    timeout_ms: 30_000,
    retry_count: 2,
    retry_delay_ms: 2_000,
  }
}

/** A quantile. */
function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

if (import.meta.main) for (const figure of await webhookSpeed()) printFigure(figure)
