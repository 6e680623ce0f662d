import { type Compilable, type Expression, type SqlBool, sql } from 'kysely'
import type { Actor, AuditLog } from '../../access/audit/audit-log.ts'
import type { LimitedKeys } from '../../access/auth/limited-keys.ts'
import type { MasterKey } from '../../access/auth/master-key.ts'
import type { Clock } from '../../core/clock.ts'
import { conflict } from '../../core/conflict.ts'
import { DomainError } from '../../core/errors.ts'
import type { UserId } from '../../core/ids.ts'
import { optional, type StateDatabase, type StateWriter } from '../../storage/state/database.ts'
import { countChange, isBelow, totalOf } from '../../storage/state/totals.ts'
import { type Device, type DeviceSettings, newDeviceId, newDeviceSecret } from './device.ts'
import { devicesOf, insertDevice, insertStreams, settingColumns } from './device-rows.ts'

/** Devices of one user: a fleet. Each is about 1 KiB in the state, and none is kept in memory. */
export const devicesOfUserMax = 100_000

export interface DeviceStoreNeeds {
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly masterKey: Pick<MasterKey, 'digest'>
  readonly clock: Clock
  readonly audit: AuditLog
  readonly keys: Pick<LimitedKeys, 'end' | 'forget'>
}

/** A device with its secret, which is known here for the last time. */
export interface DeviceWithSecret {
  readonly device: Device
  readonly secret: string
}

interface PlannedDevices {
  readonly made: readonly DeviceWithSecret[]
  /** None can be made when something came in between. */
  readonly changes: readonly Compilable[]
}

export interface PlannedRotation extends DeviceWithSecret {
  readonly changes: readonly Compilable[]
  readonly afterwards: () => Promise<void>
}

/** Makes, changes, rotates and ends devices. Each change counts before anybody hears of it. */
export class DeviceStore {
  readonly #needs: DeviceStoreNeeds

  constructor(needs: DeviceStoreNeeds) {
    this.#needs = needs
  }

  /** New devices: all or none. */
  plan(actor: Actor, ownerId: UserId, wanted: readonly DeviceSettings[]): PlannedDevices {
    const { state, audit } = this.#needs
    const when = sql<SqlBool>`(${this.#isUser(ownerId)} and ${this.#isKey(actor.apiKeyId)}
      and ${isBelow('devices', ownerId, devicesOfUserMax + 1 - wanted.length)})`
    const planned = wanted.map((settings) => this.planOne(ownerId, settings, actor.apiKeyId))
    const [only] = planned
    const details = { devices: wanted.length, name: wanted[0]?.name ?? '' }
    return {
      made: planned,
      changes: [
        ...planned.flatMap(({ insertions }) => insertions(when)),
        countChange(state, 'devices', ownerId, wanted.length),
        audit.entry({
          action: 'device.created',
          actor,
          // One line for all: a fleet would wash away what else is told of its owner.
          subjectId: wanted.length === 1 ? only?.device.id : undefined,
          userId: ownerId,
          details,
        }),
      ],
    }
  }

  /** A new device, and what inserts it where a condition holds; it is not counted yet. */
  planOne(ownerId: UserId, settings: DeviceSettings, madeBy: string) {
    const { state, masterKey, clock } = this.#needs
    const id = newDeviceId()
    const secret = newDeviceSecret()
    const createdAtUs = clock.nowUs()
    const row = {
      id,
      owner_id: ownerId,
      secret_digest: masterKey.digest(secret),
      created_at: createdAtUs,
      created_by: madeBy,
      ...settingColumns(settings),
    }
    const device: Device = { ...settings, ...neverUsed, id, ownerId, createdAtUs }
    return {
      device,
      secret,
      insertions: (
        when: Expression<SqlBool>,
        registered?: { readonly vault_id: string; readonly serial: string },
      ) => [insertDevice(state, { ...row, ...registered }, when), ...insertStreams(state, device)],
    }
  }

  async find(id: string): Promise<Device | undefined> {
    const { state, clock } = this.#needs
    const rows = await state.selectFrom('devices').selectAll().where('id', '=', id).execute()
    const [device] = await devicesOf(state, rows, clock.nowUs())
    return device
  }

  async hasRoom(ownerId: UserId, count: number): Promise<boolean> {
    const total = await totalOf(this.#needs.state, 'devices', ownerId)
    return total + count <= devicesOfUserMax
  }

  /** Which of these names the certificates of a device have already. */
  async takenNames(names: readonly string[], exceptId = ''): Promise<ReadonlySet<string>> {
    if (names.length === 0) return new Set()
    const rows = await this.#needs.state
      .selectFrom('devices')
      .select('certificate_name')
      .where('certificate_name', 'in', names)
      .where('id', '!=', exceptId)
      .execute()
    return new Set(rows.map((row) => row.certificate_name ?? ''))
  }

  /**
   * Gives a device other settings; its sessions end, so that they begin anew with what it may do
   * now. False when it was changed meanwhile: nothing has happened then.
   */
  async change(
    actor: Actor,
    device: Device,
    changed: DeviceSettings & { readonly mayRegisterAgain: boolean | undefined },
  ): Promise<boolean> {
    const { state, writer, audit, keys } = this.#needs
    const { id, ownerId } = device
    const { mayRegisterAgain } = changed
    const isSame = String(device.streamIds) === String(changed.streamIds)
    const streams = isSame
      ? []
      : [
          optional(state.deleteFrom('device_streams').where('device_id', '=', id)),
          ...insertStreams(state, { id, ownerId, streamIds: changed.streamIds }),
        ]
    const isChanged = await writer.attempt(
      this.#present(id)
        .set({
          ...settingColumns(changed),
          // Otherwise as it is: the device may have registered itself since it was looked at.
          ...(mayRegisterAgain !== undefined && { may_register_again: mayRegisterAgain ? 1 : 0 }),
        })
        .where(this.#isFree(changed.certificateName, id)),
      ...streams,
      audit.entry({ action: 'device.changed', actor, subjectId: id, userId: ownerId }),
    )
    if (isChanged) keys.end(id)
    return isChanged
  }

  /**
   * Gives a device a new secret. The one before stays good for `overlapS` seconds, and with it the
   * sessions that were opened; without an overlap they end.
   *
   * @throws DomainError `conflict` when it has been revoked
   */
  async planRotation(actor: Actor, device: Device, overlapS: number): Promise<PlannedRotation> {
    const { state, masterKey, clock, audit, keys } = this.#needs
    const { id, ownerId } = device
    const before = await state
      .selectFrom('devices')
      .select(['secret_digest', 'revoked_at'])
      .where('id', '=', id)
      .executeTakeFirst()
    if (before?.revoked_at !== null) throw hasEnded()
    const secret = newDeviceSecret()
    const nowUs = clock.nowUs()
    const untilUs = overlapS === 0 ? undefined : nowUs + overlapS * 1_000_000
    return {
      device: { ...device, rotatedAtUs: nowUs, previousSecretUntilUs: untilUs },
      secret,
      changes: [
        this.#present(id)
          .set({
            secret_digest: masterKey.digest(secret),
            previous_digest: overlapS === 0 ? null : before.secret_digest,
            previous_until: untilUs ?? null,
            rotated_at: nowUs,
          })
          .where('secret_digest', '=', before.secret_digest)
          .where(this.#isKey(actor.apiKeyId)),
        audit.entry({
          action: 'device.rotated',
          actor,
          subjectId: id,
          userId: ownerId,
          details: { overlapS },
        }),
      ],
      afterwards: async () => {
        if (overlapS === 0) keys.end(id)
        else keys.forget(id)
      },
    }
  }

  /** Ends a device for good: what revokes it is idempotent, and it stays in the list. */
  planRevocation(actor: Actor, { id, ownerId }: Device) {
    const { state, clock, audit, keys } = this.#needs
    const nowUs = clock.nowUs()
    const isPresent = sql<SqlBool>`exists ${state
      .selectFrom('devices')
      .select('id')
      .where('id', '=', id)
      .where('revoked_at', 'is', null)}`
    return {
      changes: [
        optional(
          audit.entry(
            { action: 'device.revoked', actor, subjectId: id, userId: ownerId },
            isPresent,
          ),
        ),
        optional(this.#present(id).set({ revoked_at: nowUs, previous_digest: null })),
      ],
      afterwards: async () => keys.end(id),
    }
  }

  /** Takes a device away, as if it had never been; what it has sent stays. */
  async remove(actor: Actor, { id, ownerId }: Device): Promise<void> {
    const { state, writer, audit, keys } = this.#needs
    await writer.attempt(
      state.deleteFrom('devices').where('id', '=', id),
      optional(state.deleteFrom('device_streams').where('device_id', '=', id)),
      countChange(state, 'devices', ownerId, -1),
      audit.entry({ action: 'device.deleted', actor, subjectId: id, userId: ownerId }),
    )
    keys.end(id)
  }

  #present(id: string) {
    return this.#needs.state
      .updateTable('devices')
      .where('id', '=', id)
      .where('revoked_at', 'is', null)
  }

  #isUser(id: UserId): Expression<SqlBool> {
    const users = this.#needs.state.selectFrom('users').select('id').where('id', '=', id)
    return sql<SqlBool>`exists ${users.where('deleted_at', 'is', null)}`
  }

  #isKey(id: string): Expression<SqlBool> {
    const keys = this.#needs.state.selectFrom('api_keys').select('id').where('id', '=', id)
    return sql<SqlBool>`exists ${keys.where('revoked_at', 'is', null)}`
  }

  #isFree(certificateName: string | undefined, id: string): Expression<SqlBool> {
    if (certificateName === undefined) return sql<SqlBool>`1 = 1`
    const others = this.#needs.state
      .selectFrom('devices')
      .select('id')
      .where('certificate_name', '=', certificateName)
      .where('id', '!=', id)
    return sql<SqlBool>`not exists ${others}`
  }
}

const neverUsed = {
  revokedAtUs: undefined,
  rotatedAtUs: undefined,
  previousSecretUntilUs: undefined,
  lastSeen: undefined,
  registered: undefined,
  mayRegisterAgain: false,
}

export function hasEnded(): DomainError {
  return conflict(
    'the device is revoked',
    'Make another device with POST /devices: one that is revoked stays so.',
  )
}
