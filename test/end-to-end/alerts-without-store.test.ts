import { describe, expect, test } from 'vitest'
import { RuledStream, tooHot } from '../support/alerting.ts'
import type { ApiClient } from '../support/api-client.ts'
import { FaultyService } from '../support/faulty-service.ts'
import { isQuestDbMissing, QuestDb } from '../support/questdb.ts'
import { ServiceWithQuestDb } from '../support/service-with-questdb.ts'
import { testReceiver } from '../support/test-receiver.ts'

const receiver = await testReceiver()
const settings = { STREAMVAULT_EGRESS_ALLOW: receiver.destination }

const rules = [
  tooHot,
  { ...tooHot, id: 'long', for: '1s' },
  { id: 'gone', silentFor: '2s', severity: 'critical' },
]

interface Told {
  readonly eventType: string
  readonly data: { readonly ruleId: string }
}

/** What the receiver was told, in any order. */
function told(): readonly string[] {
  return receiver.received
    .map(({ body }) => JSON.parse(body.toString()) as Told)
    .map(({ eventType, data }) => `${eventType} ${data.ruleId}`)
    .toSorted()
}

async function prepare(api: ApiClient): Promise<RuledStream> {
  const events = ['stream.alert_triggered', 'stream.alert_cleared']
  await api.withToken('POST', '/webhooks', { url: receiver.url, events })
  return await RuledStream.make(api, ...rules)
}

/** Everything that alerts can do, while readings wait for the store. */
async function live(stream: RuledStream): Promise<void> {
  const { api, id } = stream
  await stream.push(90)
  await expect.poll(told).toEqual(
    // By a reading, by the timer of `for`, and by that of silence.
    expect.arrayContaining(rules.map((rule) => `stream.alert_triggered ${rule.id}`)),
  )
  const firing = await stream.alerts('?state=firing')
  expect(firing.map(({ ruleId }) => ruleId).toSorted()).toEqual(['gone', 'long', 'too-hot'])
  expect((await stream.act('acknowledge')).status).toBe(200)
  const made = await api.withToken<{ ruleId: string }>('POST', '/alert-rules', {
    name: 'cold',
    vaultId: (firing[0] as unknown as { vaultId: string }).vaultId,
    rule: { field: 'temperature', operator: '<', threshold: 30 },
  })
  await expect
    .poll(async () => {
      await stream.push(20)
      return (await stream.alerts('?state=firing')).map(({ ruleId }) => ruleId)
    })
    .toContain(made.body.ruleId)

  await expect
    .poll(told)
    .toEqual(
      expect.arrayContaining([
        'stream.alert_cleared gone',
        'stream.alert_cleared long',
        'stream.alert_cleared too-hot',
        `stream.alert_triggered ${made.body.ruleId}`,
      ]),
    )
  const { body } = await api.withToken<{ vaults: readonly object[] }>('GET', '/alerts/summary')
  expect(body.vaults).toHaveLength(1)
  // All of that happened to readings of which the store has none.
  const { counters } = await api.status(id)
  expect(counters).toMatchObject({ stored: 0, pending: counters.received })
  expect(counters.received).toBeGreaterThan(1)
}

/** Once the store is back, all readings get there, and no alert is moved by that. */
async function recovers(stream: RuledStream): Promise<void> {
  const { api, id } = stream
  const before = (await stream.alerts()).map(({ alertId }) => alertId)
  await expect
    .poll(async () => {
      const { stored, received, pending } = (await api.status(id)).counters
      return pending === 0 && stored === received
    })
    .toBe(true)
  const after = (await stream.alerts()).map(({ alertId }) => alertId)
  // But for silence, which goes on without a store, too.
  expect(after.slice(-before.length)).toEqual(before)
}

describe('without its time-series store', () => {
  test.each(['hold', 'eio'] as const)(
    'the service fires, tells and lists alerts (DuckDB, %s)',
    async (fault) => {
      await using service = await FaultyService.start(settings)
      const stream = await prepare(service.api)
      service.faults.begin(fault, 'time-series.duckdb')

      await live(stream)

      service.faults.end()
      await recovers(stream)
    },
  )
})

describe.skipIf(isQuestDbMissing)('without its QuestDB', () => {
  test('the service fires, tells and lists alerts, also after a start', async () => {
    await using questDb = await QuestDb.start()
    await using service = await ServiceWithQuestDb.start(questDb.port, settings)
    await questDb.kill()
    await service.restart()
    const stream = await prepare(service.api)

    await live(stream)

    await questDb.start()
    await recovers(stream)
  })
})
