import { randomBytes } from 'node:crypto'
import type { AuthenticatedCaller } from '../../access/auth/authenticate.ts'
import type { ForeignTopics } from '../../access/auth/foreign-topics.ts'
import type { ApiKey } from '../../access/auth/key-directory.ts'
import { missingScopes, type Permission, type Scope, scopesOf } from '../../access/auth/scopes.ts'
import { DomainError, invalidParameter, lackingPermission } from '../../core/errors.ts'
import { expiryOf } from '../../core/expiry.ts'
import type { UserId } from '../../core/ids.ts'

/**
 * Test keys anchor on the sandbox ledger, live keys on the configured network (decisions.md#keys).
 */
export const kinds = ['test', 'live'] as const

export type KeyKind = (typeof kinds)[number]

/** A key as its user sees it. */
export interface Key {
  readonly id: string
  readonly userId: UserId
  readonly name: string
  readonly permission: string
  readonly scopes: readonly string[]
  readonly createdAtUs: number
  readonly expiresAtUs: number | undefined
  readonly rotatedAtUs: number | undefined
  /** Until when the secret before the last rotation is good, too. */
  readonly previousSecretUntilUs: number | undefined
  readonly lastUsedAtUs: number | undefined
  /** Over MQTT, to what is none of its user's, since the service was started. */
  readonly droppedPublishes: number
  readonly foreignTopics: ForeignTopics
}

/** What somebody asks for. */
export interface KeyRequest {
  readonly name: string
  readonly kind: KeyKind
  readonly permission: Permission
  readonly scopes?: readonly Scope[] | undefined
  readonly expiresAt?: string | null | undefined
}

/** Who makes a key, with what. */
export interface Maker {
  readonly caller: AuthenticatedCaller
  readonly key: ApiKey
}

/** What a new key will be able to do, and until when. */
export interface KeyGrant {
  readonly scopes: readonly Scope[]
  readonly expiresAtUs: number | undefined
}

/**
 * What may be granted of what was asked for.
 *
 * @throws DomainError `insufficient_permissions` for more than the maker has, in scope or in time;
 *   `invalid_request` for what makes no sense
 */
export function grantOf({ caller, key }: Maker, request: KeyRequest, nowUs: number): KeyGrant {
  const { permission, scopes } = request
  if ((permission === 'custom') !== (scopes !== undefined)) {
    throw invalidParameter('scopes', 'are listed with the permission custom, and only with it')
  }
  const wanted = permission === 'custom' ? [...new Set(scopes ?? [])] : scopesOf(permission)
  assertHolds(caller, wanted)
  const expiresAtUs = expiryOf('expiresAt', request.expiresAt, nowUs)
  if (expiresAtUs !== undefined) assertOutlives(key, expiresAtUs)
  return { scopes: wanted, expiresAtUs: expiresAtUs ?? key.expiresAtUs }
}

/** @throws DomainError `insufficient_permissions`, naming what is missing */
export function assertHolds(maker: AuthenticatedCaller, wanted: readonly string[]): void {
  const missing = missingScopes(maker.scope, wanted)
  if (missing.length === 0) return
  throw lackingPermission(missing.join(', '))
}

/**
 * A key ends no later than the one that made or rotated it: else whoever was let in for a day could
 * stay. A token's own hour does not count, as a new token is to be had while the key lives.
 *
 * @throws DomainError `insufficient_permissions`
 */
export function assertOutlives(maker: ApiKey, expiresAtUs: number | undefined): void {
  const latestUs = maker.expiresAtUs ?? Number.POSITIVE_INFINITY
  if ((expiresAtUs ?? Number.POSITIVE_INFINITY) <= latestUs) return
  const message = 'the other key would outlive the one in use'
  const remedy = 'Give an expiresAt that is no later than that of the key in use (GET /keys).'
  throw new DomainError('insufficient_permissions', message, { remedy })
}

export function kindOf(id: string): KeyKind {
  return id.startsWith('sv_test_') ? 'test' : 'live'
}

/** An id, and 256 random bits as its secret (decisions.md#keys). */
export function newKeyAndSecret(kind: KeyKind): { readonly id: string; readonly secret: string } {
  return { id: `sv_${kind}_${randomBytes(12).toString('hex')}`, secret: newSecret() }
}

export function newSecret(): string {
  return randomBytes(32).toString('base64url')
}
