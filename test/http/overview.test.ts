import { beforeAll, describe, expect, test } from 'vitest'
import { scopes } from '../../src/access/auth/scopes.ts'
import {
  createKey,
  newPerson,
  type Person,
  personOf,
  streamOf,
  vaultOf,
} from '../support/people.ts'
import { answering, Receiver } from '../support/receiver.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService({ STREAMVAULT_EGRESS_ALLOW: '127.0.0.0/8' })

type Curve = readonly (number | null)[]

interface Overview {
  readonly since: string
  readonly perMinute: {
    readonly start: string
    readonly received: Curve
    readonly stored: Curve
    readonly quarantined: Curve
  }
  readonly perSecond: Readonly<Record<'received' | 'stored' | 'quarantined', number>>
  readonly streams: object
  readonly alerts: { readonly worst: readonly Readonly<Record<string, unknown>>[] }
  readonly sources: { readonly failing: number; readonly worst: readonly object[] }
  readonly webhooks: object | null
  readonly mails: object | null
  readonly quarantine: object
}

async function overview(person: Person): Promise<Overview> {
  const { status, body } = await person.withToken<Overview>('GET', '/overview')
  expect(status).toBe(200)
  return body
}

function sumOf(curve: Curve): number {
  return curve.reduce((sum: number, count) => sum + (count ?? 0), 0)
}

let bob: Person

/** Somebody else with one of everything, which nobody else must see anything of. */
beforeAll(async () => {
  bob = await newPerson(service.api)
  const streamId = await streamOf(bob, { alerting: [hot] })
  await send(bob, streamId, [{ temperature: 95 }, { temperature: 'hot' }])
})

const hot = {
  id: 'hot',
  field: 'temperature',
  operator: '>',
  threshold: 90,
  severity: 'critical',
} as const

async function send(person: Person, streamId: string, readings: readonly object[]): Promise<void> {
  const { status } = await person.withToken('POST', `/streams/${streamId}/data`, readings)
  expect(status).toBeLessThan(300)
}

describe('the overview', () => {
  test('of somebody who has nothing has nothing in it', async () => {
    const ada = await newPerson(service.api)
    const { since, perMinute, ...rest } = await overview(ada)
    const { start, received, stored, quarantined } = perMinute

    expect(Date.parse(start) % 60_000).toBe(0)
    expect(Date.parse(since)).toBeLessThan(Date.now())
    for (const curve of [received, stored, quarantined]) {
      expect(curve).toHaveLength(60)
      // The service has just begun: nobody knows what was before.
      expect(curve[0]).toBeNull()
      expect(curve.at(-1)).toBe(0)
    }
    expect(rest).toEqual({
      perSecond: { received: 0, stored: 0, quarantined: 0 },
      streams: {
        total: 0,
        byState: { created: 0, active: 0, paused: 0, error: 0 },
        silent: 0,
        silentAfter: '15m',
      },
      alerts: { firing: { info: 0, warning: 0, critical: 0 }, acknowledged: 0, worst: [] },
      sources: {
        running: 0,
        connecting: 0,
        waiting: 0,
        failing: 0,
        paused: 0,
        nextRound: null,
        worst: [],
      },
      webhooks: { disabled: 0, failing: 0, waiting: 0, worst: [] },
      mails: { failed: 0, waiting: 0 },
      quarantine: { total: 0, byReason: [], worst: [] },
    })
  })

  test('counts what was received, stored and quarantined a minute, of all own streams', async () => {
    const ada = await newPerson(service.api)
    for (const streamId of [await streamOf(ada), await streamOf(ada)]) {
      await send(ada, streamId, [{ temperature: 1 }, { temperature: 2 }, { temperature: 'hot' }])
    }

    const sums = async () => {
      const { received, stored, quarantined } = (await overview(ada)).perMinute
      return [received, stored, quarantined].map(sumOf)
    }
    await expect.poll(sums).toEqual([6, 4, 2])
    const { perSecond, quarantine } = await overview(ada)
    expect(perSecond.received).toBeGreaterThan(perSecond.stored)
    expect(perSecond.stored).toBeGreaterThan(perSecond.quarantined)
    expect(perSecond.quarantined).toBeGreaterThan(0)
    expect(quarantine).toMatchObject({
      total: 2,
      byReason: [{ reason: 'schema_mismatch', entries: 2 }],
      worst: [{ streamName: 'temperature', entries: 1 }, { entries: 1 }],
    })
  })

  test('counts streams by their state', async () => {
    const ada = await newPerson(service.api)
    const [active, paused] = [await streamOf(ada), await streamOf(ada), await streamOf(ada)]
    await send(ada, active, [{ temperature: 1 }])
    await ada.withToken('POST', `/streams/${paused}/pause`)

    await expect
      .poll(async () => (await overview(ada)).streams)
      .toMatchObject({ total: 3, byState: { created: 1, active: 1, paused: 1, error: 0 } })
  })

  test('shows the alerts that fire, and counts those that somebody knows of', async () => {
    const ada = await newPerson(service.api)
    const streamId = await streamOf(ada, {
      alerting: [hot, { ...hot, id: 'warm', severity: 'info' }],
    })
    await send(ada, streamId, [{ temperature: 95 }])

    const firing = { info: 1, warning: 0, critical: 1 }
    await expect
      .poll(async () => (await overview(ada)).alerts)
      .toMatchObject({ firing, acknowledged: 0 })
    const [first, second] = (await overview(ada)).alerts.worst
    expect(first).toMatchObject({
      streamId,
      streamName: 'temperature',
      ruleId: 'hot',
      severity: 'critical',
      value: 95,
      threshold: 90,
    })
    expect(second).toMatchObject({ ruleId: 'warm', severity: 'info' })

    await ada.withToken('POST', `/alerts/${String(first?.['alertId'])}/acknowledge`)
    await expect
      .poll(async () => (await overview(ada)).alerts)
      .toMatchObject({
        firing: { info: 1, critical: 0 },
        acknowledged: 1,
        worst: [{ ruleId: 'warm' }],
      })
  })

  test('shows sources that fail, and puts their streams into the state that they show', async () => {
    const ada = await newPerson(service.api)
    await using receiver = await Receiver.start()
    receiver.behaviour = answering(401)
    const { body } = await ada.withToken<{ streamId: string }>('POST', '/streams', {
      name: 'weather',
      vaultId: await vaultOf(ada),
      type: 'api_pull',
      source: { endpoint: receiver.url, schedule: '* * * * * *' },
      schema: { temperature: { type: 'number' } },
    })

    await expect.poll(async () => (await overview(ada)).sources.failing).toBe(1)
    const { sources, streams } = await overview(ada)
    const status = await ada.withToken<{ status: string }>(
      'GET',
      `/streams/${body.streamId}/status`,
    )
    expect(sources.worst).toMatchObject([{ streamId: body.streamId, streamName: 'weather' }])
    expect(streams).toMatchObject({ total: 1, byState: { [status.body.status]: 1 } })
  })

  test('leaves out what the key may not see', async () => {
    const seen = ['streams:read', 'data:read']
    const key = await createKey(service.api, {
      userId: bob.userId,
      permission: 'custom',
      scopes: seen,
    })

    expect(await overview(personOf(service.api, key))).toMatchObject({
      webhooks: null,
      mails: null,
    })
    for (const scope of seen) {
      const others = scopes.filter((one) => one !== scope && one !== 'platform:admin')
      const wish = { userId: bob.userId, permission: 'custom', scopes: others }
      const lacking = personOf(service.api, await createKey(service.api, wish))
      const { status, body } = await lacking.withKey<{ message: string }>('GET', '/overview')
      expect([status, body.message]).toEqual([403, `the key lacks the permission ${scope}`])
    }
  })

  test('shows webhooks that are disabled or fail, and what waits for them', async () => {
    const ada = await newPerson(service.api)
    await using receiver = await Receiver.start()
    receiver.behaviour = answering(500)
    const hook = { url: receiver.url, events: ['stream.created'] }
    const { body } = await ada.withToken<{ webhookId: string }>('POST', '/webhooks', {
      ...hook,
      retryCount: 0,
    })
    await ada.withToken('POST', '/webhooks', { ...hook, retryCount: 1, retryDelay: 60 })
    await streamOf(ada)

    const item = { webhookId: body.webhookId, url: receiver.url, status: 'ACTIVE' }
    await expect
      .poll(async () => (await overview(ada)).webhooks)
      .toMatchObject({
        disabled: 0,
        failing: 1,
        waiting: 1,
        worst: [{ ...item, lastDelivery: null }],
      })
  })
})
