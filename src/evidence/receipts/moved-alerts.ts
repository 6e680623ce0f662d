import { sql } from 'kysely'
import { canonicalJson } from '../../core/canonical-json.ts'
import { parseJson } from '../../core/parse-json.ts'
import type { StateDatabase } from '../../storage/state/database.ts'

/** Steps that one answer has at most: a reading moves few alerts, each by a step or two. */
const stepsMax = 500

/** A step of an alert. */
export interface AlertStep {
  readonly alertId: string
  readonly ruleId: string
  readonly step: number
  readonly cause: string
  readonly from: string
  readonly to: string
  readonly atUs: number
  readonly journalOffset: number
  readonly receivedAtUs: number
  /** Canonical JSON of the declared fields of the reading; null for a step without a reading. */
  readonly reading: string | null
  readonly eventId: string | null
}

export interface MovedAlerts {
  /** In the order of the journal. */
  readonly steps: readonly AlertStep[]
  readonly hasMore: boolean
}

/** Steps of alerts that readings of one time have caused. */
export async function stepsAt(
  state: StateDatabase,
  streamId: string,
  timestampUs: number,
): Promise<MovedAlerts> {
  const rows = await ofAlerts(state)
    .where('history.stream_id', '=', streamId)
    .where('history.at', '=', timestampUs)
    .where('history.cause', '=', 'reading')
    .orderBy('history.journal_offset')
    .orderBy('history.alert_id')
    .orderBy('history.step')
    .limit(stepsMax + 1)
    .execute()
  const steps = rows.slice(0, stepsMax)
  return { steps, hasMore: rows.length > stepsMax }
}

/**
 * The steps that follow from these without another reading: a timer runs out, and a condition has held for as long as
 * its rule says.
 */
export async function followingSteps(
  state: StateDatabase,
  steps: readonly AlertStep[],
): Promise<readonly AlertStep[]> {
  const following: AlertStep[] = []
  for (const { alertId, step } of steps) {
    const next = await ofAlerts(state)
      .where('history.alert_id', '=', alertId)
      .where('history.step', '=', step + 1)
      .where('history.cause', '=', 'timer')
      .executeTakeFirst()
    if (next) following.push(next)
  }
  return following
}

/** Whether a step was caused by a reading with these fields. */
export function isOfValues({ reading }: AlertStep, values: Readonly<Record<string, unknown>>) {
  return reading !== null && canonicalJson(parseJson(reading)) === canonicalJson(values)
}

function ofAlerts(state: StateDatabase) {
  return state
    .selectFrom('alert_history as history')
    .innerJoin('alerts as alert', 'alert.id', 'history.alert_id')
    .select(['history.alert_id as alertId', 'alert.rule_id as ruleId', 'history.step'])
    .select(['history.cause', 'history.from_state as from', 'history.to_state as to'])
    .select(['history.at as atUs', 'history.journal_offset as journalOffset'])
    .select(['history.received_at as receivedAtUs', 'history.event_id as eventId'])
    .select(sql<string | null>`history.reading`.as('reading'))
}
