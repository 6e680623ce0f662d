import { type Expression, type Selectable, type SqlBool, sql } from 'kysely'
import type { Actor, AuditLog } from '../../access/audit/audit-log.ts'
import { foreignTopicsColumn, foreignTopicsIn } from '../../access/auth/foreign-topics.ts'
import type { LimitedKeys } from '../../access/auth/limited-keys.ts'
import type { MasterKey } from '../../access/auth/master-key.ts'
import type { Clock } from '../../core/clock.ts'
import type { FleetId, UserId, VaultId } from '../../core/ids.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'
import { newDeviceSecret } from './device.ts'
import { newProvisioningKeyId, type ProvisioningKey } from './provisioning-key.ts'

/** Provisioning keys of one vault, revoked ones included. */
export const provisioningKeysMax = 100

export interface ProvisioningStoreNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly masterKey: Pick<MasterKey, 'digest'>
  readonly clock: Clock
  readonly audit: AuditLog
  readonly keys: Pick<LimitedKeys, 'end'>
}

export type NewProvisioningKey = Omit<
  ProvisioningKey,
  'id' | 'createdAtUs' | 'devicesRegistered' | 'revokedAtUs'
>

export class ProvisioningStore {
  readonly #needs: ProvisioningStoreNeeds

  constructor(needs: ProvisioningStoreNeeds) {
    this.#needs = needs
  }

  /** A new key. Its changes cannot be made when the vault is gone, or has too many. */
  plan(actor: Actor, wanted: NewProvisioningKey) {
    const { state, masterKey, clock, audit } = this.#needs
    const { ownerId, vaultId, rateLimit } = wanted
    const id = newProvisioningKeyId()
    const secret = newDeviceSecret()
    const createdAtUs = clock.nowUs()
    const key = { ...wanted, id, createdAtUs, devicesRegistered: 0, revokedAtUs: undefined }
    const count = sql`(SELECT count(*) FROM provisioning_keys WHERE vault_id = ${vaultId})`
    const insertion = state
      .insertInto('provisioning_keys')
      .columns([
        'id',
        'owner_id',
        'vault_id',
        'name',
        'definition',
        'secret_digest',
        'created_at',
        'created_by',
        'expires_at',
        'devices_max',
        'readings_per_second',
        'burst',
        'registrations_per_minute',
        'foreign_topics',
        'fleet_id',
      ])
      .expression(
        sql`SELECT ${id}, ${ownerId}, id, ${wanted.name}, ${JSON.stringify(wanted.definition ?? {})},
              ${masterKey.digest(secret)}, cast(${createdAtUs} as bigint), ${actor.apiKeyId},
              cast(${wanted.expiresAtUs ?? null} as bigint), cast(${wanted.devicesMax} as bigint),
              cast(${rateLimit?.readingsPerSecond ?? null} as double precision),
              cast(${rateLimit?.burst ?? null} as bigint),
              cast(${wanted.registrationsPerMinute} as bigint),
              cast(${foreignTopicsColumn(wanted.foreignTopics)} as text),
              cast(${wanted.fleetId ?? null} as text)
            FROM vaults WHERE id = ${vaultId} AND owner_id = ${ownerId}
              AND ${count} < ${provisioningKeysMax}`,
      )
    const { devicesMax } = wanted
    const details = { name: wanted.name, devicesMax, expiresAtUs: wanted.expiresAtUs ?? null }
    const event = { action: 'provisioning_key.created', actor, subjectId: id } as const
    return {
      key,
      secret,
      changes: [insertion, audit.entry({ ...event, userId: ownerId, details })],
    }
  }

  /** The keys of a vault, in the order of their creation: all there can be. */
  async list(vaultId: VaultId): Promise<readonly ProvisioningKey[]> {
    const rows = await this.#needs.state
      .selectFrom('provisioning_keys')
      .selectAll()
      .where('vault_id', '=', vaultId)
      .orderBy('created_at')
      .orderBy('id')
      .execute()
    return rows.map(fromRow)
  }

  async find(id: string): Promise<ProvisioningKey | undefined> {
    const row = await this.#needs.state
      .selectFrom('provisioning_keys')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirst()
    return row && fromRow(row)
  }

  /** Ends a key: no device registers with it any more. Those that have stay. */
  async revoke(actor: Actor, { id, ownerId }: ProvisioningKey): Promise<void> {
    const { state, writer, clock, audit, keys } = this.#needs
    await writer.attempt(
      state
        .updateTable('provisioning_keys')
        .set({ revoked_at: clock.nowUs() })
        .where('id', '=', id)
        .where('revoked_at', 'is', null),
      audit.entry({
        action: 'provisioning_key.revoked',
        actor,
        subjectId: id,
        userId: ownerId,
      }),
    )
    keys.end(id)
  }

  /** Takes one of the places for devices: finds none when there is none, or the key has ended. */
  taking(id: string) {
    const { state, clock } = this.#needs
    return state
      .updateTable('provisioning_keys')
      .set({ devices_registered: sql<number>`devices_registered + 1` })
      .where('id', '=', id)
      .where(isGood(clock.nowUs()))
      .where(sql<SqlBool>`devices_registered < devices_max`)
  }

  /** Whether devices may register with a key, for a change that is made only then. */
  isGood(id: string): Expression<SqlBool> {
    const { state, clock } = this.#needs
    const found = state
      .selectFrom('provisioning_keys')
      .select('id')
      .where('id', '=', id)
      .where(isGood(clock.nowUs()))
    return sql<SqlBool>`exists ${found}`
  }
}

function isGood(nowUs: number): Expression<SqlBool> {
  return sql<SqlBool>`(revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${nowUs}))`
}

function fromRow(row: Selectable<StateSchema['provisioning_keys']>): ProvisioningKey {
  const { readings_per_second: readingsPerSecond, burst } = row
  return {
    id: row.id,
    ownerId: row.owner_id as UserId,
    vaultId: row.vault_id as VaultId,
    name: row.name,
    definition:
      row.fleet_id === null
        ? (JSON.parse(row.definition) as ProvisioningKey['definition'])
        : undefined,
    fleetId: (row.fleet_id ?? undefined) as FleetId | undefined,
    devicesMax: row.devices_max,
    devicesRegistered: row.devices_registered,
    registrationsPerMinute: row.registrations_per_minute,
    foreignTopics: foreignTopicsIn(row.foreign_topics),
    rateLimit:
      readingsPerSecond === null || burst === null ? undefined : { readingsPerSecond, burst },
    createdAtUs: row.created_at,
    expiresAtUs: row.expires_at ?? undefined,
    revokedAtUs: row.revoked_at ?? undefined,
  }
}
