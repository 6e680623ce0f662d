import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { RuledStream, tooHot } from '../support/alerting.ts'
import { answering } from '../support/receiver.ts'
import { runningService } from '../support/running-service.ts'
import { testReceiver } from '../support/test-receiver.ts'

interface AlertEvent {
  readonly eventType: string
  readonly data: {
    readonly streamId: string
    readonly ruleId: string
    readonly alertId: string
    readonly sequence: number
  }
}

const receiver = await testReceiver()
const service = runningService({ STREAMVAULT_EGRESS_ALLOW: receiver.destination })

/** The code that docs/alerts.md shows, as a receiver would copy it. */
function documented(): { isNews: (event: AlertEvent) => boolean } {
  const page = readFileSync('docs/alerts.md', 'utf8')
  const [, code = ''] = /```js\n(const newest[\s\S]*?)```/.exec(page) ?? []
  expect(code).toContain('function isNews')
  return runInNewContext(`${code}; ({ isNews })`) as ReturnType<typeof documented>
}

/** Who is told what: rules of streams, each with what is so at the end. */
function takeAll(events: readonly AlertEvent[]): ReadonlyMap<string, string> {
  const { isNews } = documented()
  const states = new Map<string, string>()
  for (const event of events) {
    if (isNews(event)) states.set(`${event.data.streamId} ${event.data.ruleId}`, event.eventType)
  }
  return states
}

describe('the receiver of docs/alerts.md', () => {
  test('ends where the rules do, in whichever order and how often events come', () => {
    const lengths = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 })
    const cases = lengths.chain((all) => {
      const events = all.flatMap((length, rule) => eventsOf(`rule-${rule}`, length))
      const repeated = [...events, ...events]
      return fc
        .shuffledSubarray(repeated, { minLength: repeated.length, maxLength: repeated.length })
        .map((order) => ({ all, order }))
    })
    fc.assert(
      fc.property(cases, ({ all, order }) => {
        const expected = all.map((length, rule) => [`stream rule-${rule}`, typeOf(length)] as const)
        expect(takeAll(order)).toEqual(new Map(expected))
      }),
    )
  })
})

function eventsOf(ruleId: string, length: number): readonly AlertEvent[] {
  return Array.from({ length }, (_, index) => ({
    eventType: typeOf(index + 1),
    data: { streamId: 'stream', ruleId, alertId: `${Math.floor(index / 2)}`, sequence: index + 1 },
  }))
}

function typeOf(sequence: number): string {
  return sequence % 2 === 1 ? 'stream.alert_triggered' : 'stream.alert_cleared'
}

describe('after a failed delivery', () => {
  beforeEach(() => {
    receiver.behaviour = answering(200)
  })

  test('an end can come behind the next beginning, and its sequence tells', async () => {
    const events = ['stream.alert_triggered', 'stream.alert_cleared']
    await service.api.withToken('POST', '/webhooks', { url: receiver.url, events })
    const stream = await RuledStream.make(service.api, tooHot)
    let failures = 0
    receiver.behaviour = (response, request) => {
      const isFirstEnd = request.body.toString().includes('alert_cleared') && failures++ === 0
      answering(isFirstEnd ? 503 : 200)(response, request)
    }

    await stream.push(90)
    await stream.push(20)
    await receiver.requests(2)
    await stream.push(95)
    const received = await receiver.requests(4)

    const told = received.map(({ body }) => JSON.parse(body.toString()) as AlertEvent)
    expect(told.map(({ eventType, data }) => [eventType, data.sequence])).toEqual([
      ['stream.alert_triggered', 1],
      ['stream.alert_cleared', 2],
      ['stream.alert_triggered', 3],
      ['stream.alert_cleared', 2],
    ])
    expect(takeAll(told)).toEqual(new Map([[`${stream.id} too-hot`, 'stream.alert_triggered']]))
    const alerts = (await stream.alerts()) as readonly { readonly sequence?: number }[]
    expect(alerts.map(({ sequence }) => sequence)).toEqual([3, 2])
  })
})
