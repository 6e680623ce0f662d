import * as fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { alertIdOf } from '../../src/alerts/alert.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import type { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { type Decided, decided, type JournalOfStream, nowUs } from '../support/decided-journal.ts'
import { TestState } from '../support/test-state.ts'
import { acceptedReading } from '../support/written-entries.ts'

const second = 1_000_000
const streamId = newId<StreamId>()

const tests = await TestState.open()
afterAll(async () => await tests[Symbol.asyncDispose]())

async function taken(
  { versions, entries }: Omit<JournalOfStream, 'streamId'>,
  sizes: readonly number[],
): Promise<Decided> {
  return await decided(tests, { streamId, versions, entries }, sizes)
}

const rules = [
  { id: 'hot', field: 'temperature', operator: '>', threshold: 80 },
  { id: 'long', field: 'temperature', operator: '>', threshold: 60, for: '5s', clearFor: '3s' },
  {
    id: 'mean',
    field: 'temperature',
    operator: '>',
    threshold: 50,
    function: 'avg',
    window: '10s',
  },
  { id: 'jump', field: 'temperature', operator: '>', threshold: 20, function: 'rate' },
  { id: 'silent', silentFor: '20s' },
] as const

const changed = [{ ...rules[0], threshold: 90 }, rules[1], rules[4]]

type Kind =
  | 'reading'
  | 'timer'
  | 'redriven'
  | 'imported'
  | 'filtered'
  | 'action'
  | 'fleet'
  | 'downtime'

interface Step {
  readonly kind: Kind
  readonly temperature: number
  /** Seconds: since the step before, and how late its reading is. */
  readonly passed: number
  readonly late: number
  readonly isOfNext: boolean
  readonly action: 'acknowledge' | 'clear' | 'mute' | 'unmute' | 'comment'
}

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    kind: fc.oneof(
      { weight: 12, arbitrary: fc.constant<Kind>('reading') },
      fc.constantFrom<Kind>(
        'timer',
        'redriven',
        'imported',
        'filtered',
        'action',
        'fleet',
        'downtime',
      ),
    ),
    temperature: fc.integer({ min: 0, max: 120 }),
    passed: fc.nat(8),
    late: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat(10)),
    isOfNext: fc.oneof({ weight: 20, arbitrary: fc.constant(false) }, fc.constant(true)),
    action: fc.constantFrom('acknowledge', 'clear', 'mute', 'unmute', 'comment'),
  }),
  { minLength: 1, maxLength: 80 },
)

const fleetRule = {
  id: 'fleet',
  severity: 'info',
  field: 'temperature',
  operator: '<',
  threshold: 10,
}

/** The stream lacks what the last two are about. */
const fleetRules = [
  fleetRule,
  { id: 'damp', severity: 'info', condition: 'humidity > 3' },
  { id: 'wet', severity: 'info', field: 'humidity', operator: '>', threshold: 80 },
].map((rule) => ({ ...rule, forUs: 0, clearForUs: 0 }))

/** The entries of the steps; what people do is about the alert that a reading a few entries before began. */
function entriesOf(all: readonly Step[]): readonly ((writer: EntryWriter) => void)[] {
  let atUs = nowUs
  let version = 1
  return all.map((step, offset) => {
    const beforeUs = atUs
    // Some downtimes are longer than anybody may be silent.
    atUs += step.passed * second * (step.kind === 'downtime' ? 6 : 1)
    if (step.isOfNext) version = 2
    const stream = { streamId, version }
    const receivedAtUs = atUs
    const timestampUs = atUs - step.late * second
    const values = `{"temperature":${step.temperature}}`
    const digest = offset.toString(16).padStart(16, '0')
    const reading = acceptedReading({ timestampUs, values, digest })
    return (writer: EntryWriter) => {
      switch (step.kind) {
        case 'reading':
          writer.accepted(stream, reading, receivedAtUs)
          return
        case 'redriven':
          writer.accepted(stream, reading, receivedAtUs, { offset: 0, index: 1 })
          return
        case 'imported':
          writer.imported(stream, reading, receivedAtUs)
          return
        case 'filtered':
          writer.filtered(
            stream,
            { accepted: true, isFiltered: true, timestampUs, digest },
            receivedAtUs,
          )
          return
        case 'timer':
          writer.alertTimer(stream, receivedAtUs, receivedAtUs)
          return
        case 'fleet':
          writer.fleetRules(stream, step.temperature % 2 === 0 ? [] : fleetRules, receivedAtUs)
          return
        case 'downtime':
          writer.downtime(beforeUs, receivedAtUs)
          return
        case 'action':
          writer.alertAction(stream, actionOf(step, offset), receivedAtUs)
          return
        default:
          step.kind satisfies never
      }
    }
  })
}

function actionOf({ action: kind, temperature }: Step, offset: number) {
  const begun = Math.max(0, offset - 1 - (temperature % 3))
  return {
    id: `request ${offset}`,
    kind,
    alertId: alertIdOf(streamId, 'hot', begun),
    ruleId: 'hot',
    userId: 'ada',
    apiKeyId: 'key',
    ...(kind === 'mute' && { untilUs: nowUs + temperature * second }),
  }
}

describe('a journal that is played once more', () => {
  test('gives the same alerts, in batches of any size and with restarts', async () => {
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.array(fc.nat(12), { minLength: 1, maxLength: 5 }),
        async (all, sizes) => {
          const journal = { versions: [rules, changed], entries: entriesOf(all) }
          const atOnce = await taken(journal, [all.length])
          expect(await taken(journal, sizes)).toEqual(atOnce)
          expect(await taken(journal, [0])).toEqual(atOnce)
        },
      ),
      { numRuns: 40 },
    )
  })

  test('numbers what each rule tells: 1, 2, 3 and so on, beginnings and ends in turn', async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.array(fc.nat(9), { minLength: 1 }), async (all, sizes) => {
        const journal = { versions: [rules, changed], entries: entriesOf(all) }
        const { sequences } = await taken(journal, sizes)
        for (const told of Object.values(sequences)) {
          const expected = told.map((_, index) => [
            index + 1,
            `stream.alert_${index % 2 === 0 ? 'triggered' : 'cleared'}`,
          ])
          expect(told).toEqual(expected)
        }
      }),
      { numRuns: 40 },
    )
  })

  test('goes on with the numbers of a rule that was changed, or away for a while', async () => {
    const hot = { ...plainStep('reading'), temperature: 100, passed: 1 }
    const cool = { ...hot, temperature: 20 }
    const away = { ...plainStep('reading'), passed: 1, isOfNext: true }
    const entries = entriesOf([hot, cool, hot, away, hot, cool])
    const { sequences } = await taken(
      { versions: [[rules[0]], [{ ...rules[0], threshold: 90 }]], entries },
      [2, 0, 1],
    )
    expect(sequences['hot']?.map(([sequence]) => sequence)).toEqual([1, 2, 3, 4, 5, 6])
  })

  test('has at most one alert that goes on for each rule, whatever comes', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const journal = { versions: [rules, changed], entries: entriesOf(all) }
        const { alerts, told } = await taken(journal, [7])
        const open = (alerts as readonly { state: string; rule_id: string }[])
          .filter(({ state }) => state !== 'cleared')
          .map(({ rule_id: id }) => id)
        expect(new Set(open).size).toBe(open.length)
        expect(new Set(told).size).toBe(told.length)
      }),
      { numRuns: 25 },
    )
  })
})

describe('what moves no alert', () => {
  const hot = { ...plainStep('reading'), temperature: 100 }

  test.each(['redriven', 'imported', 'filtered'] as const)('is what is %s', async (kind) => {
    const entries = entriesOf([
      { ...hot, kind },
      { ...hot, kind },
    ])
    const { alerts, late } = await taken({ versions: [rules], entries }, [10])
    expect([alerts, late]).toEqual([[], 0])
  })

  test('is what is older than the newest reading, which is counted', async () => {
    const cool = { ...hot, temperature: 20, passed: 5 }
    const entries = entriesOf([cool, { ...hot, late: 1 }, { ...hot, late: 2 }, cool])
    const { alerts, late } = await taken({ versions: [[rules[0]]], entries }, [2, 0])
    expect([alerts, late]).toEqual([[], 2])
  })

  test('is the next of a thousand breaches', async () => {
    const entries = entriesOf(Array.from({ length: 1_000 }, () => hot))
    const { alerts, history } = await taken({ versions: [[rules[0]]], entries }, [100])
    expect(alerts).toMatchObject([{ rule_id: 'hot', state: 'firing' }])
    expect(history).toHaveLength(1)
  })
})

function plainStep(kind: Kind): Step {
  return { kind, temperature: 0, passed: 0, late: 0, isOfNext: false, action: 'comment' }
}
