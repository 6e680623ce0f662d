import type { Expression, SqlBool } from 'kysely'
import type { LimitedKeys } from '../../access/auth/limited-keys.ts'
import type { MasterKey } from '../../access/auth/master-key.ts'
import type { Clock } from '../../core/clock.ts'
import type { VaultId } from '../../core/ids.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { type Device, newDeviceSecret } from './device.ts'
import { devicesOf } from './device-rows.ts'
import type { PlannedRotation } from './device-store.ts'

export interface RegisteredDevicesNeeds {
  readonly state: StateDatabase
  readonly masterKey: Pick<MasterKey, 'digest'>
  readonly clock: Clock
  readonly keys: Pick<LimitedKeys, 'end'>
}

/** Devices that have registered themselves. */
export class RegisteredDevices {
  readonly #needs: RegisteredDevicesNeeds

  constructor(needs: RegisteredDevicesNeeds) {
    this.#needs = needs
  }

  /** The device that has registered itself in a vault as this. */
  async find(vaultId: VaultId, serial: string): Promise<Device | undefined> {
    const { state, clock } = this.#needs
    const rows = await state
      .selectFrom('devices')
      .selectAll()
      .where('vault_id', '=', vaultId)
      .where('serial', '=', serial)
      .execute()
    const [device] = await devicesOf(state, rows, clock.nowUs())
    return device
  }

  /**
   * Gives a device that may register again new credentials, once: the old ones end. The changes
   * cannot be made when it may not any more, or the condition does not hold.
   */
  planAgain(device: Device, when: Expression<SqlBool>): PlannedRotation {
    const { state, masterKey, clock, keys } = this.#needs
    const secret = newDeviceSecret()
    const nowUs = clock.nowUs()
    return {
      device: {
        ...device,
        rotatedAtUs: nowUs,
        previousSecretUntilUs: undefined,
        mayRegisterAgain: false,
      },
      secret,
      changes: [
        state
          .updateTable('devices')
          .set({
            secret_digest: masterKey.digest(secret),
            previous_digest: null,
            previous_until: null,
            rotated_at: nowUs,
            may_register_again: 0,
          })
          .where('id', '=', device.id)
          .where('revoked_at', 'is', null)
          .where('may_register_again', '=', 1)
          .where(when),
      ],
      afterwards: async () => keys.end(device.id),
    }
  }
}
