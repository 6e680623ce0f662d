import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { LocalPipeline, type LocalVersion } from '../support/local-pipeline.ts'

/** Refuses levels of 2 and 3 at first, and nothing later. */
const versions: readonly LocalVersion[] = [1, 3].map((max) => ({
  fields: { level: { type: 'number', min: 0, max } },
  validation: 'strict',
  distinguishesSenders: true,
}))
const [first, later] = versions as [LocalVersion, LocalVersion]

/** On which topic a reading comes: that of a device, that of the stream itself, or none. */
const ways = ['plants/one', 'plants/two', 'plants/one/a', 'own', 'http'] as const

const step = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      kind: fc.constant('sent' as const),
      way: fc.constantFrom(...ways),
      second: fc.nat(2),
      level: fc.nat(3),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'shipped' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'redriven' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restarted' as const }) },
)

interface Reading {
  readonly way: (typeof ways)[number]
  readonly second: number
  readonly level: number
}

/** Readings are the same when their time, content and sender are; the stream's own topic is nobody's. */
function identityOf({ way, second, level }: Reading): string {
  return `${way === 'own' || way === 'http' ? '' : way} ${second} ${level}`
}

test('a reading is stored once for each of its senders, whatever happens on its way', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
      await using pipeline = await LocalPipeline.open(first)
      const stored = new Set<string>()
      let [received, duplicates, isLater] = [0, 0, false]
      const held: string[] = []
      const store = (identity: string) => {
        if (stored.has(identity)) duplicates++
        stored.add(identity)
      }
      const send = async (one: Reading) => {
        const timestamp = `2026-01-01T00:00:0${one.second}Z`
        const topic = one.way === 'own' ? `streams/${pipeline.streamId}/data` : one.way
        const payload = Buffer.from(JSON.stringify({ timestamp, level: one.level }))
        await pipeline.publish(topic === 'http' ? undefined : topic, payload)
        received++
        if (one.level <= 1 || isLater) store(identityOf(one))
        else held.push(identityOf(one))
      }
      const redrive = async () => {
        await pipeline.parts.reviews.redrive(pipeline.streamId, everything)
        if (!isLater) return
        for (const identity of held.splice(0)) store(identity)
      }
      for (const one of steps) {
        if (one.kind === 'sent') await send(one)
        else if (one.kind === 'shipped') await pipeline.ship()
        else if (one.kind === 'restarted') await pipeline.restart()
        else await redrive()
      }
      pipeline.change(later)
      isLater = true
      await redrive()
      // All that came before comes again.
      for (const one of steps) if (one.kind === 'sent') await send(one)
      await pipeline.decide()
      await pipeline.ship()

      expect(await pipeline.counters()).toMatchObject({
        received,
        stored: stored.size,
        duplicates,
        quarantined: 0,
        pending: 0,
      })
      const points = await pipeline.stored()
      expect(points).toHaveLength(stored.size)
      expect(
        new Set(points.map(({ timestampUs, digest }) => `${timestampUs} ${digest}`)).size,
      ).toBe(stored.size)
    }),
    { numRuns: 10 },
  )
})

const everything = { ids: [], reasons: [], startUs: undefined, endUs: undefined }
