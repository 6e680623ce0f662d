import type { Static } from 'typebox'
import type { RuleMemory } from '../../processors/alert-memory.ts'
import { nextDueUs } from '../../processors/alert-memory.ts'
import type { AlertRule } from '../../processors/alert-rules.ts'
import { formatUs } from '../core/time.ts'
import type { StateDatabase } from '../storage/state/database.ts'
import type { AlertRow, HistoryRow } from './alert.ts'
import type { deliverySchema, explanationSchema } from './alert-api.ts'
import { alertBody, stepBody } from './alert-body.ts'
import type { AlertStore, NoticeDelivery } from './alert-store.ts'

/** How many steps are explained, the newest ones. */
const stepsMax = 100

/** Which reading moved an alert when, what was told of it, and what its rule waits for now. */
export async function explain(
  state: StateDatabase,
  alerts: AlertStore,
  alert: AlertRow,
): Promise<Static<typeof explanationSchema>> {
  const steps = await alerts.history(alert.id, {
    after: alert.steps - stepsMax - 1,
    limit: stepsMax,
  })
  const deliveries = Map.groupBy(
    await alerts.deliveries(steps.flatMap(({ event_id: id }) => (id === null ? [] : [id]))),
    ({ eventId }) => eventId,
  )
  const aheadUs = await aheadUsIn(state)
  const { isOurs, ...clocks } = await clocksOf(state, alert.stream_id, aheadUs)
  return {
    alert: alertBody(alert),
    ...clocks,
    now: nowOf(await memoryOf(state, alert), aheadUs, isOfSilence(alert) || isOurs),
    steps: steps.map((row) => ({
      sentence: sentenceOf(row),
      step: stepBody(row),
      told: row.event_id !== null,
      deliveries: (deliveries.get(row.event_id ?? '') ?? []).map(deliveryBody),
    })),
  }
}

/** A step of the history as a sentence. */
function sentenceOf(row: HistoryRow): string {
  const { cause, from_state: from, to_state: to } = row
  const at = formatUs(row.at)
  if (from === to) return `${row.user_id} did this at ${at}: ${cause}.`
  const what = `${from} became ${to} at ${at}`
  switch (cause) {
    case 'reading':
      return `${what}: the reading of entry ${row.journal_offset} gave ${row.value} against ${row.threshold}.`
    case 'timer':
      return `${what}: the time that the rule gives had passed.`
    case 'definition':
      return `${what}: the rule was changed, or is no more.`
    default:
      return `${what}: ${row.user_id} did this: ${cause}.`
  }
}

function deliveryBody({
  deliveryId,
  webhookId,
  recipientId,
  state,
  attempts,
  lastAttemptAtUs,
}: NoticeDelivery): Static<typeof deliverySchema> {
  const lastAttemptAt = shown(lastAttemptAtUs)
  const receiver = { webhookId: webhookId ?? null, recipientId: recipientId ?? null }
  return { deliveryId, ...receiver, state, attempts, lastAttemptAt }
}

async function clocksOf(state: StateDatabase, streamId: string, aheadUs: number) {
  const row = await state
    .selectFrom('stream_counters')
    .select(['alert_time', 'alert_received_at', 'late_for_alerts'])
    .where('stream_id', '=', streamId)
    .executeTakeFirst()
  const hasSeen = row !== undefined && row.alert_received_at > 0
  const isOurs = hasSeen && row.alert_time === row.alert_received_at
  return {
    // Readings have no time of their own: alert time is steady time.
    isOurs,
    alertTime: hasSeen ? formatUs(row.alert_time + (isOurs ? aheadUs : 0)) : null,
    lateForAlerts: row?.late_for_alerts ?? 0,
  }
}

async function memoryOf(
  state: StateDatabase,
  { stream_id: streamId, rule_id: ruleId }: AlertRow,
): Promise<RuleMemory | undefined> {
  const row = await state
    .selectFrom('alert_memories')
    .select('memories')
    .where('stream_id', '=', streamId)
    .executeTakeFirst()
  const memories = JSON.parse(row?.memories ?? '{}') as Readonly<Record<string, RuleMemory>>
  return Object.hasOwn(memories, ruleId) ? memories[ruleId] : undefined
}

/** How far the wall clock is ahead of steady time, which timers go by. */
async function aheadUsIn(state: StateDatabase): Promise<number> {
  const row = await state.selectFrom('alert_time').select('ahead').executeTakeFirst()
  return row?.ahead ?? 0
}

function isOfSilence({ rule }: AlertRow): boolean {
  return (JSON.parse(rule) as AlertRule).silentForUs !== undefined
}

/**
 * The present state of the rule, which may have begun another alert since. All that is shown is by
 * the wall clock.
 */
function nowOf(memory: RuleMemory | undefined, aheadUs: number, isSilence: boolean) {
  if (!memory) return { state: 'ok', since: null, clearSince: null, dueAt: null }
  const { state, sinceUs, clearSinceUs } = memory
  return {
    state,
    since: shown(sinceUs, isSilence ? aheadUs : 0),
    clearSince: shown(clearSinceUs, isSilence ? aheadUs : 0),
    dueAt: shown(nextDueUs(memory, aheadUs), aheadUs),
  }
}

function shown(us: number | null | undefined, aheadUs = 0): string | null {
  return us === null || us === undefined ? null : formatUs(us + aheadUs)
}
