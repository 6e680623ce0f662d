import { randomBytes } from 'node:crypto'
import type { ForeignTopics } from '../../access/auth/foreign-topics.ts'
import { devicePrefix } from '../../access/auth/limited-key.ts'
import type { StreamId, UserId, VaultId } from '../../core/ids.ts'

/** Streams of one device: a gateway that has more gets a key of its user. */
export const streamsOfDeviceMax = 16

/** Devices that one request makes: all of them in one transaction. */
export const bulkMax = 1_000

/** Readings in a second, over time; `burst` may come at once. */
export interface RateLimit {
  readonly readingsPerSecond: number
  readonly burst: number
}

export interface LastSeen {
  readonly atUs: number
  readonly address: string
  readonly protocol: string
}

export const deviceStates = ['active', 'expired', 'revoked'] as const

type DeviceState = (typeof deviceStates)[number]

/** What its owner decides about a device. */
export interface DeviceSettings {
  readonly name: string
  readonly streamIds: readonly StreamId[]
  /** The only MQTT client id that it may connect with. */
  readonly clientId: string | undefined
  /** Common name of the certificates that stand for it. */
  readonly certificateName: string | undefined
  readonly rateLimit: RateLimit | undefined
  readonly expiresAtUs: number | undefined
  /** What becomes of what it does over MQTT on topics that are none of its own. */
  readonly foreignTopics: ForeignTopics
}

/** A device as its owner sees it. */
export interface Device extends DeviceSettings {
  readonly id: string
  readonly ownerId: UserId
  readonly createdAtUs: number
  readonly revokedAtUs: number | undefined
  readonly rotatedAtUs: number | undefined
  /** Until when the secret before the last rotation is good, too. */
  readonly previousSecretUntilUs: number | undefined
  readonly lastSeen: LastSeen | undefined
  /** Set where it registered itself. */
  readonly registered: { readonly vaultId: VaultId; readonly serial: string } | undefined
  readonly mayRegisterAgain: boolean
}

/** An id that is a key as well. */
export function newDeviceId(): string {
  return `${devicePrefix}${randomBytes(12).toString('hex')}`
}

/**
 * 256 random bits. It never begins with a hyphen: that would be an option on a command line, and a
 * formula in a spreadsheet.
 */
export function newDeviceSecret(): string {
  for (;;) {
    const secret = randomBytes(32).toString('base64url')
    if (!secret.startsWith('-')) return secret
  }
}

export function stateOf(device: Device, nowUs: number): DeviceState {
  if (device.revokedAtUs !== undefined) return 'revoked'
  return (device.expiresAtUs ?? Number.POSITIVE_INFINITY) <= nowUs ? 'expired' : 'active'
}

/** The part of its user's space that is a device's own: commands to it go there. */
export function commandTopic({ ownerId, id }: Pick<Device, 'ownerId' | 'id'>): string {
  return `users/${ownerId}/devices/${id}/`
}
