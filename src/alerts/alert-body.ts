import type { Static } from 'typebox'
import type { AlertRule, Scalar } from '../../processors/alert-rules.ts'
import { parseJson } from '../core/parse-json.ts'
import { formatUs } from '../core/time.ts'
import type { AlertRow, HistoryRow } from './alert.ts'
import type { alertSchema, stepSchema } from './alert-api.ts'
import { ruleBody } from './rule-body.ts'

/*
 * Bodies stand apart from their shapes, because the decider makes some as well: its thread has no use for what
 * HTTP checks and documents.
 */

/** An alert as the API and events show it. */
export function alertBody(alert: AlertRow): Static<typeof alertSchema> {
  return {
    alertId: alert.id,
    streamId: alert.stream_id,
    vaultId: alert.vault_id,
    ruleId: alert.rule_id,
    field: alert.field,
    severity: alert.severity,
    state: alert.state,
    value: JSON.parse(alert.value) as Scalar | null,
    threshold: JSON.parse(alert.threshold) as Scalar | null,
    createdAt: formatUs(alert.created_at),
    triggeredAt: timeOrNull(alert.triggered_at),
    clearedAt: timeOrNull(alert.cleared_at),
    acknowledgedAt: timeOrNull(alert.acknowledged_at),
    acknowledgedBy: alert.acknowledged_by,
    mutedUntil: timeOrNull(alert.muted_until),
    flapping: alert.is_flapping === 1,
    sequence: alert.sequence,
    rule: ruleBody(JSON.parse(alert.rule) as AlertRule),
  }
}

/** A step of the history as the API shows it. */
export function stepBody(row: HistoryRow): Static<typeof stepSchema> {
  return {
    step: row.step,
    cause: row.cause,
    from: row.from_state,
    to: row.to_state,
    at: formatUs(row.at),
    receivedAt: formatUs(row.received_at),
    offset: row.journal_offset,
    value: JSON.parse(row.value) as Scalar | null,
    threshold: JSON.parse(row.threshold) as Scalar | null,
    reading: row.reading === null ? null : (parseJson(row.reading) as object),
    userId: row.user_id,
    comment: row.comment,
    mutedUntil: timeOrNull(row.muted_until),
    eventId: row.event_id,
  }
}

function timeOrNull(us: number | null): string | null {
  return us === null ? null : formatUs(us)
}
