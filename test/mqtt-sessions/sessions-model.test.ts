import * as fc from 'fast-check'
import { connectAsync } from 'mqtt'
import { expect, test } from 'vitest'
import { SessionBroker } from '../support/session-broker.ts'
import { SessionSubscriber } from '../support/session-subscriber.ts'

type Step =
  | { readonly kind: 'publish'; readonly qos: 1 | 2; readonly count: number }
  | { readonly kind: 'connect'; readonly who: number; readonly isSilent: boolean }
  | { readonly kind: 'disconnect'; readonly who: number }
  | { readonly kind: 'crash' }

const who = fc.integer({ min: 0, max: 1 })
const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('publish' as const),
        qos: fc.constantFrom(1 as const, 2 as const),
        count: fc.integer({ min: 1, max: 30 }),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('connect' as const), who, isSilent: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('disconnect' as const), who }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
  ),
  { maxLength: 12 },
)

/** Only its first delivery counts of a message that may come more than once. */
function first(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}

test('whatever happens, sessions get what was acknowledged, in order, with QoS 2 once', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (history) => {
      await using broker = await SessionBroker.start()
      // What comes with QoS 1 reaches both with QoS 1.
      const subscribers = [new SessionSubscriber('one'), new SessionSubscriber('two')]
      const [one, two] = subscribers as [SessionSubscriber, SessionSubscriber]
      await one.subscribe(broker.port, 'commands/#', 1)
      await two.subscribe(broker.port, 'commands/+', 2)
      await two.subscribe(broker.port, 'commands/boiler', 1)
      const published = { 1: [] as string[], 2: [] as string[] }

      for (const step of history) {
        if (step.kind === 'publish') await publish(broker, step, published[step.qos])
        else if (step.kind === 'connect') await subscribers[step.who]?.connect(broker.port, step)
        else if (step.kind === 'disconnect') subscribers[step.who]?.disconnect()
        else await broker.crash()
      }

      for (const subscriber of subscribers) await subscriber.connect(broker.port)
      await expect.poll(() => broker.sessions.stats().queued).toBe(0)
      for (const { delivered } of subscribers) {
        for (const qos of [1, 2] as const) {
          const got = delivered.filter((text) => text.startsWith(`${qos}-`))
          expect(first(got)).toEqual(published[qos])
        }
      }
      expect(two.delivered.filter((text) => text.startsWith('2-'))).toEqual(published[2])
      for (const subscriber of subscribers) subscriber.disconnect()
    }),
    { numRuns: 25 },
  )
})

async function publish(
  { port }: SessionBroker,
  { qos, count }: Extract<Step, { kind: 'publish' }>,
  published: string[],
): Promise<void> {
  const client = await connectAsync({ host: '127.0.0.1', port, reconnectPeriod: 0 })
  const texts = Array.from({ length: count }, (_, at) => `${qos}-${published.length + at}`)
  await Promise.all(texts.map((text) => client.publishAsync('commands/boiler', text, { qos })))
  published.push(...texts)
  await client.endAsync(true)
}
