import type { FleetId, StreamId, UserId, VaultId } from '../../core/ids.ts'
import type { TokenBucket } from '../../core/token-bucket.ts'
import type { ForeignTopics } from './foreign-topics.ts'

/** Whose credentials came: a user's, a device's, or those that new devices register with. */
export type CallerKind = 'user' | 'device' | 'registration'

interface KeyOfUser {
  readonly id: string
  /** Whose device it is, or whose vault devices register for. */
  readonly userId: UserId
  /** Space-separated. */
  readonly scope: string
  readonly expiresAtUs: number | undefined
  readonly foreignTopics: ForeignTopics
}

/** A device: it sends readings of its own streams, and can do nothing else. */
export interface DeviceKey extends KeyOfUser {
  readonly kind: 'device'
  readonly streamIds: ReadonlySet<StreamId>
  /** The fleet that one of its streams is of. */
  readonly fleetId: FleetId | undefined
  /** The only MQTT client id that it may connect with. Undefined: any. */
  readonly clientId: string | undefined
  readonly certificateName: string | undefined
  /** When all secrets before this one had ended: tokens that are older were got with one of those. */
  readonly tokensFromUs: number
  /** How many readings it may send. Undefined: as many as anybody. */
  readonly bucket: TokenBucket | undefined
}

/**
 * New devices of one vault register themselves with it, and can do nothing else; where it names a fleet, they may also
 * send their readings to that fleet.
 */
export interface ProvisioningKey extends KeyOfUser {
  readonly kind: 'registration'
  readonly vaultId: VaultId
  readonly fleetId: FleetId | undefined
}

/** A key that is not a user's. It is never changed: a change makes a new one. */
export type LimitedKey = DeviceKey | ProvisioningKey

export const devicePrefix = 'sv_dev_'
export const provisioningPrefix = 'sv_prov_'

/** Whether an id is one that only limited keys can have. */
export function isLimitedId(id: string): boolean {
  return id.startsWith(devicePrefix) || id.startsWith(provisioningPrefix)
}

/** What is limited by a key: nothing by that of a user. */
export function limitsOf(key: KeyOfUser | LimitedKey): {
  readonly device?: DeviceKey
  readonly registration?: ProvisioningKey
} {
  if (!('kind' in key)) return {}
  return key.kind === 'device' ? { device: key } : { registration: key }
}
