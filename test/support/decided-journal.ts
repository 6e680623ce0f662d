import { AlertWatch } from '../../src/alerts/alert-watch.ts'
import type { StreamId } from '../../src/core/ids.ts'
import { Decider } from '../../src/ingest/pipeline/decider.ts'
import { StateDecisionStore } from '../../src/ingest/pipeline/decision-store.ts'
import { EntryWriter } from '../../src/ingest/pipeline/entry-writer.ts'
import { insertStream, withoutVaults } from './inserted-stream.ts'
import type { TestState } from './test-state.ts'

/** A stream with rules, and the entries of one journal that are about it. */
export interface JournalOfStream {
  readonly streamId: StreamId
  /** The rules of each version, as definitions have them. */
  readonly versions: readonly (readonly object[])[]
  readonly entries: readonly ((writer: EntryWriter) => void)[]
}

/** A day in 2026, when all of it happens by the clock of the service. */
export const nowUs = 1_767_225_600_000_000

/** What the state has after the decider has taken a journal. */
export interface Decided {
  readonly alerts: readonly object[]
  readonly history: readonly object[]
  readonly told: readonly string[]
  /** What each rule told, in the order of its sequence. */
  readonly sequences: Readonly<Record<string, readonly (readonly [number, string])[]>>
  readonly late: number
}

/**
 * Takes a journal in batches of these sizes, over and over; each zero is a restart before the next one.
 *
 * @param onBatch sees the decider after each batch
 */
export async function decided(
  tests: TestState,
  { streamId, versions, entries }: JournalOfStream,
  sizes: readonly number[],
  onBatch: (decider: Decider) => void = () => undefined,
): Promise<Decided> {
  const { state } = tests
  await empty(tests)
  const ownerId = await tests.newUser()
  const schema = { temperature: { type: 'number' } }
  const processings = versions.map((rules) => ({ alerting: rules }))
  await insertStream(tests, { streamId, ownerId, name: 'heat', schema, versions: processings })
  const clock = { nowUs: () => nowUs }
  const open = async () => {
    const watches = new AlertWatch({ state, clock, notify: notifyNobody })
    const store = new StateDecisionStore({ state, onDiscard: () => undefined, alerts: watches })
    return await Decider.open(store, { watches })
  }
  let decider = await open()
  for (let at = 0, turn = 0; at < entries.length; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    if (size === 0) decider = await open()
    const taken = entries.slice(at, at + Math.max(1, size))
    const writer = new EntryWriter()
    for (const write of taken) write(writer)
    await decider.handle([{ firstOffset: at, count: taken.length, bytes: writer.take().bytes }])
    onBatch(decider)
    at += taken.length
  }
  const alerts = await state.selectFrom('alerts').selectAll().orderBy('id').execute()
  const history = await state
    .selectFrom('alert_history')
    .selectAll()
    .orderBy('alert_id')
    .orderBy('step')
    .execute()
  const events = await state.selectFrom('events').select(['type', 'resource_id', 'data']).execute()
  const counters = await state
    .selectFrom('stream_counters')
    .select('late_for_alerts')
    .executeTakeFirst()
  return {
    alerts: alerts.map((alert) => ({ ...alert, owner_id: undefined })),
    // Each event has an id of its own.
    history: history.map(({ event_id: id, ...step }) => ({ ...step, isTold: id !== null })),
    told: events.map(({ type, resource_id: id }) => `${type} ${id}`).toSorted(),
    sequences: sequencesOf(events),
    late: counters?.late_for_alerts ?? 0,
  }
}

function sequencesOf(events: readonly { readonly type: string; readonly data: string }[]) {
  const told = events.map(({ type, data }) => {
    const { ruleId, sequence } = JSON.parse(data) as { ruleId: string; sequence: number }
    return { ruleId, step: [sequence, type] as const }
  })
  const byRule = Map.groupBy(told, ({ ruleId }) => ruleId)
  return Object.fromEntries(
    [...byRule].map(([ruleId, all]) => {
      const steps = all.map(({ step }) => step)
      return [ruleId, steps.toSorted(([first], [second]) => first - second)]
    }),
  )
}

/** Takes away what the journal before has left. */
async function empty(tests: TestState): Promise<void> {
  const { state } = tests
  await withoutVaults(tests)
  const streams = ['data_streams', 'data_stream_versions', 'stream_counters'] as const
  const ofAlerts = ['alerts', 'alert_history', 'alert_memories', 'alert_messages'] as const
  const others = ['downtimes', 'alert_time', 'events', 'consumer_positions'] as const
  for (const table of [...streams, ...ofAlerts, ...others]) {
    await state.deleteFrom(table).execute()
  }
}

async function notifyNobody(): Promise<() => void> {
  return () => undefined
}
