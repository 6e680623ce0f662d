import { randomBytes } from 'node:crypto'
import type { ForeignTopics } from '../../access/auth/foreign-topics.ts'
import { provisioningPrefix } from '../../access/auth/limited-key.ts'
import type { FleetId, UserId, VaultId } from '../../core/ids.ts'
import type { RateLimit } from './device.ts'

/** A key that new devices of a vault register themselves with. */
export interface ProvisioningKey {
  readonly id: string
  readonly ownerId: UserId
  readonly vaultId: VaultId
  readonly name: string
  /**
   * The definition of the stream that each device gets, as it was sent: without a name and a vault. Undefined where
   * the fleet has it.
   */
  readonly definition: Readonly<Record<string, unknown>> | undefined
  /** The fleet that each device is of. */
  readonly fleetId: FleetId | undefined
  readonly devicesMax: number
  readonly devicesRegistered: number
  readonly registrationsPerMinute: number
  readonly rateLimit: RateLimit | undefined
  /** Setting that each device gets. */
  readonly foreignTopics: ForeignTopics
  readonly createdAtUs: number
  readonly expiresAtUs: number | undefined
  readonly revokedAtUs: number | undefined
}

export function newProvisioningKeyId(): string {
  return `${provisioningPrefix}${randomBytes(12).toString('hex')}`
}
