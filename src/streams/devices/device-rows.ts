import {
  type Compilable,
  type Expression,
  type Insertable,
  type RawBuilder,
  type Selectable,
  type SqlBool,
  sql,
} from 'kysely'
import { foreignTopicsColumn, foreignTopicsIn } from '../../access/auth/foreign-topics.ts'
import type { StreamId, UserId, VaultId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import type { Device, DeviceSettings } from './device.ts'

type NewRow = Insertable<StateSchema['devices']>

/** Streams that are looked for in one statement. */
const idsPerStatement = 500

/** The columns that a device's settings are stored in. */
export function settingColumns(settings: DeviceSettings) {
  const { name, clientId, certificateName, rateLimit, expiresAtUs, foreignTopics } = settings
  return {
    name,
    name_folded: name.toLowerCase(),
    client_id: clientId ?? null,
    certificate_name: certificateName ?? null,
    readings_per_second: rateLimit?.readingsPerSecond ?? null,
    burst: rateLimit?.burst ?? null,
    expires_at: expiresAtUs ?? null,
    foreign_topics: foreignTopicsColumn(foreignTopics),
  }
}

/** A row that is inserted only where a condition holds, and nothing unique is taken. */
export function insertDevice(
  state: StateDatabase,
  row: NewRow,
  when: Expression<SqlBool>,
): Compilable {
  const names = Object.keys(row) as (keyof NewRow)[]
  const values = names.map((name) => typed(name, row[name]).as(name))
  return state
    .insertInto('devices')
    .columns(names)
    .expression(state.selectNoFrom(values).where(when))
    .onConflict((conflict) => conflict.doNothing())
}

/** Each finds nothing to insert where the stream is not there, or not the owner's. */
export function insertStreams(
  state: StateDatabase,
  { id, ownerId, streamIds }: Pick<Device, 'id' | 'ownerId' | 'streamIds'>,
): readonly Compilable[] {
  return streamIds.map((streamId) =>
    state
      .insertInto('device_streams')
      .columns(['device_id', 'stream_id'])
      .expression(
        sql`SELECT cast(${id} as text), id FROM data_streams
              WHERE id = ${streamId} AND owner_id = ${ownerId}`,
      ),
  )
}

const integers: ReadonlySet<string> = new Set<keyof NewRow>([
  'created_at',
  'expires_at',
  'burst',
  'may_register_again',
])

/** A value with its type: PostgreSQL does not find it out where a row is selected. */
function typed(name: keyof NewRow, value: unknown): RawBuilder<unknown> {
  if (name === 'readings_per_second') return sql`cast(${value} as double precision)`
  return integers.has(name) ? sql`cast(${value} as bigint)` : sql`cast(${value} as text)`
}

/** Rows as devices, with their streams, in the same order. */
export async function devicesOf(
  state: StateDatabase,
  rows: readonly Selectable<StateSchema['devices']>[],
  nowUs: number,
): Promise<readonly Device[]> {
  const streams = new Map<string, StreamId[]>(rows.map(({ id }) => [id, []]))
  const ids = [...streams.keys()]
  for (let from = 0; from < ids.length; from += idsPerStatement) {
    const found = await state
      .selectFrom('device_streams')
      .selectAll()
      .where('device_id', 'in', ids.slice(from, from + idsPerStatement))
      .orderBy('stream_id')
      .execute()
    for (const row of found) streams.get(row.device_id)?.push(row.stream_id as StreamId)
  }
  return rows.map((row) => fromRow(row, streams.get(row.id) ?? [], nowUs))
}

function fromRow(
  row: Selectable<StateSchema['devices']>,
  streamIds: readonly StreamId[],
  nowUs: number,
): Device {
  const { readings_per_second: readingsPerSecond, burst, vault_id: vaultId, serial } = row
  const previousUntilUs = row.previous_until ?? 0
  return {
    id: row.id,
    ownerId: row.owner_id as UserId,
    name: row.name,
    streamIds,
    clientId: row.client_id ?? undefined,
    certificateName: row.certificate_name ?? undefined,
    rateLimit:
      readingsPerSecond === null || burst === null ? undefined : { readingsPerSecond, burst },
    createdAtUs: row.created_at,
    expiresAtUs: row.expires_at ?? undefined,
    foreignTopics: foreignTopicsIn(row.foreign_topics),
    revokedAtUs: row.revoked_at ?? undefined,
    rotatedAtUs: row.rotated_at ?? undefined,
    previousSecretUntilUs: previousUntilUs > nowUs ? previousUntilUs : undefined,
    lastSeen: lastSeenOf(row),
    registered:
      vaultId === null || serial === null ? undefined : { vaultId: vaultId as VaultId, serial },
    mayRegisterAgain: row.may_register_again === 1,
  }
}

function lastSeenOf(row: Selectable<StateSchema['devices']>): Device['lastSeen'] {
  const { last_seen_at: atUs, last_seen_address: address, last_seen_protocol: protocol } = row
  return atUs === null ? undefined : { atUs, address: address ?? '', protocol: protocol ?? '' }
}
