import * as fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { newId, type StreamId } from '../../src/core/ids.ts'
import type { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { decided, nowUs } from '../support/decided-journal.ts'
import { HandClock } from '../support/hand-clock.ts'
import { TestState } from '../support/test-state.ts'
import { acceptedReading } from '../support/written-entries.ts'

const secondUs = 1_000_000
const daySeconds = 86_400

const tests = await TestState.open()
afterAll(async () => await tests[Symbol.asyncDispose]())

const stream = { streamId: newId<StreamId>(), version: 1 }
const rules = [
  { id: 'hot', field: 'temperature', operator: '>', threshold: 80, for: '4s', clearFor: '2s' },
  { id: 'silent', silentFor: '3s' },
  { id: 'few', field: 'temperature', function: 'count', window: '5s', operator: '<', threshold: 2 },
]

interface Second {
  /** What the reading says that comes in it, if one does. */
  readonly temperature: number | undefined
  /** How the wall clock is set at its beginning, in milliseconds. */
  readonly stepMs: number
}

const seconds: fc.Arbitrary<readonly Second[]> = fc.array(
  fc.record({
    temperature: fc.constantFrom(undefined, undefined, 20, 99, 99),
    stepMs: fc.oneof(
      { weight: 6, arbitrary: fc.constant(0) },
      {
        weight: 1,
        arbitrary: fc.integer({ min: -daySeconds * 1_000, max: daySeconds * 1_000 }),
      },
      { weight: 1, arbitrary: fc.integer({ min: -2_000, max: 2_000 }) },
    ),
  }),
  { minLength: 5, maxLength: 40 },
)

/** What has happened in which second, as the network thread would have written it. */
async function happened(some: readonly Second[], hasOwnTime: boolean, sizes: readonly number[]) {
  const clock = new HandClock()
  clock.atUs = nowUs
  const entries: ((writer: EntryWriter) => void)[] = []
  const secondOf: number[] = []
  const write = (second: number, entry: (writer: EntryWriter) => void) => {
    entries.push(entry)
    secondOf.push(second)
  }
  for (const [second, { temperature, stepMs }] of some.entries()) {
    clock.atUs += secondUs
    if (stepMs !== 0) {
      clock.step(stepMs * 1_000)
      const [steadyUs, wallUs] = [clock.steadyUs(), clock.nowUs()]
      write(second, (writer) => writer.clock(steadyUs, wallUs))
    }
    const [steadyUs, wallUs] = [clock.steadyUs(), clock.nowUs()]
    write(second, (writer) => writer.alertTimer(stream, steadyUs, wallUs))
    if (temperature === undefined) continue
    const reading = acceptedReading({
      // A device with a clock of its own, which nobody sets.
      timestampUs: hasOwnTime ? steadyUs - 1_000 : wallUs,
      values: `{"temperature":${temperature}}`,
      digest: second.toString(16).padStart(16, '0'),
    })
    write(second, (writer) => writer.accepted(stream, reading, wallUs))
  }
  const journal = { streamId: stream.streamId, versions: [rules], entries }
  const { history, late } = await decided(tests, journal, sizes)
  const steps = history as readonly Readonly<Record<string, unknown>>[]
  const moves = steps.map((step) => {
    const { from_state: from, to_state: to, cause, journal_offset: offset } = step
    return `${secondOf[Number(offset)]}: ${String(from)} to ${String(to)} by ${String(cause)}`
  })
  return { moves: moves.toSorted(), late }
}

test('however the wall clock is set, rules are moved in the same seconds', async () => {
  await fc.assert(
    fc.asyncProperty(seconds, fc.boolean(), async (some, hasOwnTime) => {
      const never = some.map(({ temperature }) => ({ temperature, stepMs: 0 }))
      const wanted = await happened(never, hasOwnTime, [1_000])

      expect(await happened(some, hasOwnTime, [1_000])).toEqual(wanted)
      // After a restart behind each entry, too.
      expect(await happened(some, hasOwnTime, [1, 0, 0])).toEqual(wanted)
    }),
    { numRuns: 25 },
  )
})
