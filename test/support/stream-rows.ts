import type { StreamId, UserId, VaultId } from '../../src/core/ids.ts'
import type { StateDatabase } from '../../src/storage/state/database.ts'

/** A data stream as the state has it, with what was counted of it. */
export interface StreamRow {
  readonly id: StreamId
  readonly ownerId: UserId
  readonly vaultId: VaultId
  readonly name: string
  readonly createdAtUs: number
  readonly tags: Readonly<Record<string, string>>
  readonly isPaused: boolean
  /** Nothing for a stream that nobody has counted yet. */
  readonly counters:
    | {
        readonly received: number
        readonly lastReceivedAtUs: number
        readonly quarantined: number
      }
    | undefined
  /** States of its alerts, each of a rule of its own. */
  readonly alerts: readonly { readonly state: string; readonly severity: string }[]
  readonly definition?: object
}

/** Inserts users with vaults, as far as streams have to have them. */
export async function insertVaults(
  state: StateDatabase,
  vaults: readonly { readonly ownerId: UserId; readonly id: VaultId }[],
): Promise<void> {
  for (const ownerId of new Set(vaults.map((vault) => vault.ownerId))) {
    await state
      .insertInto('users')
      .values({ id: ownerId, username: ownerId, created_at: 0, deleted_at: null })
      .execute()
    await state
      .insertInto('templates')
      .values({ ...named(ownerId), hint: '', author: null, required_streams: '[]' })
      .execute()
  }
  for (const { ownerId, id } of vaults) {
    const ledger = { ledger: 'XRPL', network: '', template_id: `of ${ownerId}` }
    const row = { ...named(ownerId), id, ...ledger, json_payload: null, progress: '[]' }
    await state
      .insertInto('vaults')
      .values({ ...row, kept_raw: null, kept_aggregated: null, failure: null })
      .execute()
  }
}

function named(ownerId: UserId) {
  const name = `of ${ownerId}`
  const common = { owner_id: ownerId, created_at: 0, description: null, status: '', public: 0 }
  return { id: name, name, name_folded: name, ...common }
}

export async function insertStream(state: StateDatabase, row: StreamRow): Promise<void> {
  const { id, ownerId, name, createdAtUs, tags, isPaused, counters, alerts } = row
  const tagsText = JSON.stringify(tags)
  await state
    .insertInto('data_streams')
    .values({
      id,
      owner_id: ownerId,
      vault_id: row.vaultId,
      name,
      name_folded: name.toLowerCase(),
      tags: tagsText,
      type: 'iot_sensor',
      created_at: createdAtUs,
      version: 1,
      paused_at: isPaused ? 1 : null,
      last_event_at: null,
      kept_raw: null,
      kept_aggregated: null,
    })
    .execute()
  const definition = JSON.stringify(row.definition ?? { source: {}, schema: {}, processing: {} })
  const version = { stream_id: id, version: 1, name, tags: tagsText, definition }
  await state
    .insertInto('data_stream_versions')
    .values({ ...version, created_at: createdAtUs, created_by: null })
    .execute()
  for (const [key, value] of Object.entries(tags)) {
    const tag = { stream_id: id, owner_id: ownerId, key, value }
    await state.insertInto('data_stream_tags').values(tag).execute()
  }
  if (counters) await insertCounters(state, id, counters)
  for (const [index, alert] of alerts.entries()) await insertAlert(state, row, { ...alert, index })
}

async function insertCounters(
  state: StateDatabase,
  id: StreamId,
  { received, lastReceivedAtUs, quarantined }: NonNullable<StreamRow['counters']>,
): Promise<void> {
  const nothing = { accepted: 0, filtered: 0, discarded: 0, is_discarding: 0, quarantine_bytes: 0 }
  await state
    .insertInto('stream_counters')
    .values({
      ...nothing,
      stream_id: id,
      received,
      quarantined,
      last_received_at: lastReceivedAtUs,
      day: 0,
      received_on_day: 0,
    })
    .execute()
}

async function insertAlert(
  state: StateDatabase,
  { id, ownerId, vaultId }: StreamRow,
  alert: { readonly state: string; readonly severity: string; readonly index: number },
): Promise<void> {
  const times = { created_at: 0, triggered_at: 0, cleared_at: null, ended_at: null }
  const acknowledged = { acknowledged_at: null, acknowledged_by: null, muted_until: null }
  await state
    .insertInto('alerts')
    .values({
      ...times,
      ...acknowledged,
      id: `${id} ${alert.index}`,
      stream_id: id,
      owner_id: ownerId,
      vault_id: vaultId,
      rule_id: String(alert.index),
      rule: '{}',
      field: null,
      severity: alert.severity,
      state: alert.state,
      value: '1',
      threshold: '1',
      is_flapping: 0,
      steps: 1,
      sequence: null,
    })
    .execute()
}

/** Takes a stream away, as deleting it does at once. */
export async function removeStream(state: StateDatabase, id: StreamId): Promise<void> {
  await state.deleteFrom('data_stream_tags').where('stream_id', '=', id).execute()
  await state.deleteFrom('data_streams').where('id', '=', id).execute()
}
