import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { RuledStream, tooHot } from '../../support/alerting.ts'
import { ApiClient } from '../../support/api-client.ts'
import { answering, Receiver } from '../../support/receiver.ts'
import {
  adminKey,
  adminSecret,
  newDataDir,
  type ServiceProcess,
  startServiceProcess,
} from '../../support/service-process.ts'
import { SettableClock } from '../../support/settable-clock.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

const clock = new SettableClock()
const dataDir = newDataDir()
let receiver: Receiver
let service: ServiceProcess
let api: ApiClient
let templateId: string

async function start(): Promise<void> {
  service = await startServiceProcess(dataDir, {
    ...clock.environment,
    STREAMVAULT_EGRESS_ALLOW: receiver.destination,
  })
  api = new ApiClient(service.http)
}

beforeAll(async () => {
  receiver = await Receiver.start()
  await start()
  const body = { url: receiver.url, event_types: ['vault.created'] }
  await api.withKey('POST', '/notifications/webhooks', body)
  const template = { name: 'boiler', hint: '', required_streams: [] }
  templateId = (await api.withKey<{ id: string }>('POST', '/templates', template)).body.id
})

beforeEach(() => {
  receiver.received.length = 0
  receiver.behaviour = answering(503)
})

afterAll(async () => {
  await service.end('SIGTERM')
  await receiver[Symbol.asyncDispose]()
  clock[Symbol.dispose]()
})

async function tokenStatus(): Promise<number> {
  const body = { apiKey: adminKey, apiSecret: adminSecret }
  return (await api.request('POST', '/auth/token', { body })).status
}

/** What the clock of the service is off by, as a new token shows. */
async function offMs(): Promise<number> {
  const [, claims = ''] = (await new ApiClient(service.http).token()).split('.')
  const { iat } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { iat: number }
  return Math.abs(iat * 1_000 - clock.nowMs())
}

/** Resolves when the service goes by the clock as it is set now. */
async function clockIsSeen(): Promise<void> {
  await expect.poll(offMs, { interval: 5 }).toBeLessThan(minuteMs)
}

/** Makes a vault that a webhook is told of. */
async function newVault(): Promise<string> {
  const body = { template_id: templateId, name: 'boiler 7' }
  return (await api.withKey<{ id: string }>('POST', '/vaults', body)).body.id
}

/** When the webhook was told of a vault, once it was told so often. */
async function toldOf(vaultId: string, count: number): Promise<readonly number[]> {
  const told = () =>
    receiver.received.filter(({ body }) => body.toString().includes(`"id":"${vaultId}"`))
  await expect.poll(() => told().length, { interval: 20 }).toBeGreaterThanOrEqual(count)
  return told().map(({ atMs }) => atMs)
}

const withNewToken = ({ id }: RuledStream) => new RuledStream(new ApiClient(service.http), id)

/** Sends a reading without a time of its own. */
async function send({ api: asker, id }: RuledStream, temperature: number): Promise<void> {
  const { status } = await asker.withToken('POST', `/streams/${id}/data`, { temperature })
  if (status !== 202) throw new Error(`a reading was answered ${status}`)
}

/** Milliseconds that have passed at least when the alert is seen. Fails when it does not come. */
async function firedAfter(stream: RuledStream, sinceMs: number): Promise<number> {
  await expect.poll(async () => (await stream.alert())?.state, { interval: 50 }).toBe('firing')
  return performance.now() - sinceMs
}

describe.each([
  ['back by ten minutes', -10 * minuteMs],
  ['forward by ten minutes', 10 * minuteMs],
  ['back by a day', -dayMs],
  ['forward by a day', dayMs],
])('when the wall clock is set %s', (_, stepMs) => {
  test('waits last as long as they are to', async () => {
    const hot = await RuledStream.make(api, { ...tooHot, for: '4s' })
    const silent = await RuledStream.make(api, { id: 'silent', silentFor: '3s' })
    const heard = await RuledStream.make(api, { id: 'silent', silentFor: '55s' })
    expect(await tokenStatus()).toBe(200)
    const vaultId = await newVault()
    await toldOf(vaultId, 1)
    receiver.behaviour = answering(200)
    const sinceMs = performance.now()
    await Promise.all([send(hot, 99), send(silent, 1), send(heard, 1)])

    clock.step(stepMs)
    await clockIsSeen()
    // A token ends at an instant, which may be over now.
    if (Math.abs(stepMs) < 60 * minuteMs)
      expect((await api.withToken('GET', '/vaults')).status).toBe(200)
    const [hotNow, silentNow, heardNow] = [
      withNewToken(hot),
      withNewToken(silent),
      withNewToken(heard),
    ] as const
    const stop = new AbortController()
    const sending = (async () => {
      while (!stop.signal.aborted) {
        await Promise.all([send(hotNow, 99), send(heardNow, 1)])
        await sleep(200)
      }
    })()
    try {
      expect(await tokenStatus()).toBe(200)
      const [firstMs = 0, secondMs = 0] = await toldOf(vaultId, 2)
      expect(secondMs - firstMs).toBeGreaterThan(1_900)
      expect(await firedAfter(silentNow, sinceMs)).toBeGreaterThan(3_000)
      expect(await firedAfter(hotNow, sinceMs)).toBeGreaterThan(4_000)
    } finally {
      stop.abort()
      await sending
    }
    expect(await heardNow.alerts()).toEqual([])
  })
})

test.each([-10 * minuteMs, 10 * minuteMs])(
  'a webhook waits no longer when the clock is set by %s ms and the service is killed',
  async (stepMs) => {
    const vaultId = await newVault()
    await toldOf(vaultId, 1)
    clock.step(stepMs)
    await service.end('SIGKILL')
    receiver.behaviour = answering(200)
    await start()

    await toldOf(vaultId, 2)
  },
)

test.each(['SIGTERM', 'SIGKILL'] as const)(
  'a token is good after the clock was set back, %s and a start',
  async (signal) => {
    const token = await new ApiClient(service.http).token()
    const asked = () =>
      api.request('GET', '/vaults', { headers: { authorization: `Bearer ${token}` } })
    clock.step(-10 * minuteMs)
    await service.end(signal)
    await start()

    expect((await asked()).status).toBe(200)
  },
)
