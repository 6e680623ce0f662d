import { expect, test } from 'vitest'
import { RuledStream, tooHot } from '../support/alerting.ts'
import { runningService } from '../support/running-service.ts'
import { testReceiver } from '../support/test-receiver.ts'

const receiver = await testReceiver()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: receiver.destination })

interface Told {
  readonly eventType: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What the receiver was told, once it is so much. */
async function told(count: number): Promise<readonly Told[]> {
  const received = await receiver.requests(count)
  return received.map(({ body }) => JSON.parse(body.toString()) as Told)
}

async function webhook(...events: readonly string[]): Promise<void> {
  const body = { url: receiver.url, events }
  const { status } = await service.api.withToken('POST', '/webhooks', body)
  expect(status).toBe(201)
}

test('D31: a rule that is broken fires once, and ends once', async () => {
  await webhook('stream.alert_triggered', 'stream.alert_cleared')
  const stream = await RuledStream.make(service.api, tooHot)

  await stream.push(20, 81, 90, 85)
  const firing = await stream.alerts()
  await stream.push(79, 20)
  const cleared = await stream.alerts()

  expect(firing).toMatchObject([
    { ruleId: 'too-hot', streamId: stream.id, state: 'firing', value: 81, threshold: 80 },
  ])
  expect(cleared).toMatchObject([
    { alertId: firing[0]?.alertId, state: 'cleared', clearedAt: '2026-01-01T00:00:04.000000Z' },
  ])
  const { alertId } = firing[0] ?? { alertId: '' }
  expect(await told(2)).toMatchObject([
    { eventType: 'stream.alert_triggered', data: { alertId, state: 'firing', value: 81 } },
    { eventType: 'stream.alert_cleared', data: { alertId, state: 'cleared', value: 79 } },
  ])
})
