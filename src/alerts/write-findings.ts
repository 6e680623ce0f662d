import { sql } from 'kysely'
import type { Clock } from '../core/clock.ts'
import type { UserId } from '../core/ids.ts'
import { Events, type NewEvent } from '../outbox/events/events.ts'
import type { StateDatabase } from '../storage/state/database.ts'
import { portionsOf } from '../storage/state/portions.ts'
import type { AlertRow } from './alert.ts'
import type { AlertedStream, AlertNotice, Findings } from './findings.ts'

/** Writes what a stretch of the journal has made of alerts, as a part of its transaction. */
export async function writeFindings(
  transaction: StateDatabase,
  findings: Findings,
  clock: Clock,
): Promise<void> {
  const { alerts, dropped, history, notices, touched } = findings
  await drop(transaction, [...dropped])
  await putAlerts(transaction, [...alerts.values()])
  const steps = history.filter((row) => !dropped.has(row.alert_id))
  for (const rows of portionsOf(steps)) {
    await transaction.insertInto('alert_history').values(rows).execute()
  }
  await putMemories(transaction, [...touched])
  await new Events(transaction, clock).recordAll(notices.map(eventOf))
}

/** Takes away alerts that were pending, and came to nothing. First: others may follow of their rules. */
async function drop(transaction: StateDatabase, ids: readonly string[]): Promise<void> {
  for (const some of portionsOf(ids)) {
    await transaction.deleteFrom('alert_history').where('alert_id', 'in', some).execute()
    await transaction.deleteFrom('alerts').where('id', 'in', some).execute()
  }
}

/**
 * Columns of an alert that stay as they began: what is not written again costs no look into their
 * indexes.
 */
const lasting: ReadonlySet<string> = new Set([
  'id',
  'stream_id',
  'owner_id',
  'vault_id',
  'rule_id',
  'rule',
  'field',
  'severity',
  'created_at',
])

async function putAlerts(transaction: StateDatabase, alerts: readonly AlertRow[]): Promise<void> {
  const [first] = alerts
  if (!first) return
  const changing = Object.keys(first).filter((column) => !lasting.has(column))
  for (const rows of portionsOf(alerts)) {
    await transaction
      .insertInto('alerts')
      .values(rows)
      .onConflict((conflict) => conflict.column('id').doUpdateSet(excluded(changing)))
      .execute()
  }
}

async function putMemories(
  transaction: StateDatabase,
  streams: readonly AlertedStream[],
): Promise<void> {
  const saved = streams.map((stream) => {
    const { of, fleetRules, memories, sequences } = stream.saved()
    return {
      stream_id: stream.facts.id,
      version: of.version,
      newest_version: of.version,
      fleet_rules: JSON.stringify(fleetRules),
      memories: JSON.stringify(memories),
      digests: JSON.stringify(stream.clock.digests),
      sequences,
      due_at: stream.dueUs ?? null,
      muted_until: stream.mutedUntilUs ?? null,
    }
  })
  const changing = [
    'version',
    'fleet_rules',
    'memories',
    'digests',
    'sequences',
    'due_at',
    'muted_until',
  ]
  for (const rows of portionsOf(saved)) {
    await transaction
      .insertInto('alert_memories')
      .values(rows)
      .onConflict((conflict) => conflict.column('stream_id').doUpdateSet(excluded(changing)))
      .execute()
  }
}

/** Takes over what could not be inserted. */
function excluded(columns: readonly string[]): object {
  return Object.fromEntries(columns.map((column) => [column, sql.ref(`excluded.${column}`)]))
}

function eventOf({ id, type, facts, alert, data }: AlertNotice): NewEvent {
  return {
    id,
    type,
    ownerId: facts.ownerId as UserId,
    resourceType: 'alert',
    resourceId: alert.id,
    vaultId: facts.vaultId,
    streamId: facts.id,
    severity: alert.severity,
    data,
  }
}
