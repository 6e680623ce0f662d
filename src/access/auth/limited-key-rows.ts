import { type Selectable, sql } from 'kysely'
import type { FleetId, StreamId, UserId, VaultId } from '../../core/ids.ts'
import { TokenBucket } from '../../core/token-bucket.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { foreignTopicsIn } from './foreign-topics.ts'
import { type DeviceKey, type LimitedKey, provisioningPrefix } from './limited-key.ts'

/** A key, and what a secret is compared with. */
export interface StoredKey {
  readonly key: LimitedKey
  readonly digest: string
  readonly previousDigest: string | undefined
  readonly previousUntilUs: number
}

interface LoadNeeds {
  readonly state: StateDatabase
}

/** The key of this id, unless it was revoked. To find none takes as many steps as to find one. */
export async function loadLimitedKey(needs: LoadNeeds, id: string): Promise<StoredKey | undefined> {
  return id.startsWith(provisioningPrefix)
    ? await loadProvisioningKey(needs, id)
    : await loadDevice(needs, id)
}

async function loadDevice(needs: LoadNeeds, id: string): Promise<StoredKey | undefined> {
  const { state } = needs
  // One row in any case, so that to find none takes as long as to find one.
  const { rows } = await sql<DeviceRow>`
    SELECT ${sql.join(columns.map((name) => sql.ref(`devices.${name}`)))}
    FROM (SELECT 1) AS always LEFT JOIN devices
      ON devices.id = ${id} AND devices.revoked_at IS NULL`.execute(state)
  const streams = await streamsOf(state, id)
  const found = rows.map((row) => storedDevice(row, streams))
  return found.find(({ key }) => key.id === id)
}

/** The device that certificates of this common name stand for, unless it was revoked. */
export async function loadByCertificate(
  needs: LoadNeeds,
  name: string,
): Promise<StoredKey | undefined> {
  const { state } = needs
  const row = await present(state).where('certificate_name', '=', name).executeTakeFirst()
  return row && storedDevice(row, await streamsOf(state, row.id))
}

async function loadProvisioningKey(
  { state }: LoadNeeds,
  id: string,
): Promise<StoredKey | undefined> {
  const row = await state
    .selectFrom('provisioning_keys')
    .select(['id', 'owner_id', 'vault_id', 'secret_digest', 'expires_at', 'fleet_id'])
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return (
    row && {
      key: {
        kind: 'registration',
        id: row.id,
        userId: row.owner_id as UserId,
        scope: row.fleet_id === null ? '' : 'data:write',
        expiresAtUs: row.expires_at ?? undefined,
        // It connects to no broker.
        foreignTopics: 'refuse',
        vaultId: row.vault_id as VaultId,
        fleetId: (row.fleet_id ?? undefined) as FleetId | undefined,
      },
      digest: row.secret_digest,
      previousDigest: undefined,
      previousUntilUs: 0,
    }
  )
}

const columns = [
  'id',
  'owner_id',
  'secret_digest',
  'previous_digest',
  'previous_until',
  'rotated_at',
  'expires_at',
  'client_id',
  'certificate_name',
  'readings_per_second',
  'burst',
  'foreign_topics',
] as const

type DeviceRow = Pick<Selectable<StateSchema['devices']>, (typeof columns)[number]>

function present(state: StateDatabase) {
  return state.selectFrom('devices').select(columns).where('revoked_at', 'is', null)
}

/** What a device may send to. */
interface Streams {
  readonly streamIds: ReadonlySet<StreamId>
  readonly fleetId: FleetId | undefined
}

async function streamsOf(state: StateDatabase, deviceId: string): Promise<Streams> {
  const rows = await state
    .selectFrom('device_streams as own')
    .leftJoin('fleet_devices as place', 'place.stream_id', 'own.stream_id')
    .select(['own.stream_id', 'place.fleet_id'])
    .where('own.device_id', '=', deviceId)
    .execute()
  const fleetId = rows.find(({ fleet_id }) => fleet_id !== null)?.fleet_id ?? undefined
  return {
    streamIds: new Set(rows.map(({ stream_id }) => stream_id as StreamId)),
    fleetId: fleetId as FleetId | undefined,
  }
}

function storedDevice(row: DeviceRow, { streamIds, fleetId }: Streams): StoredKey {
  const key: DeviceKey = {
    kind: 'device',
    id: row.id,
    userId: row.owner_id as UserId,
    scope: 'data:write',
    expiresAtUs: row.expires_at ?? undefined,
    streamIds,
    fleetId,
    clientId: row.client_id ?? undefined,
    certificateName: row.certificate_name ?? undefined,
    tokensFromUs: row.previous_digest === null ? (row.rotated_at ?? 0) : 0,
    bucket: bucketOf(row),
    foreignTopics: foreignTopicsIn(row.foreign_topics),
  }
  return {
    key,
    digest: row.secret_digest,
    previousDigest: row.previous_digest ?? undefined,
    previousUntilUs: row.previous_until ?? 0,
  }
}

function bucketOf({ readings_per_second: perSecond, burst }: DeviceRow): TokenBucket | undefined {
  if (perSecond === null || burst === null) return undefined
  return new TokenBucket({ perSecond, burst })
}
