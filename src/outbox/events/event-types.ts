/**
 * The events that webhooks get in the emitted format (decisions.md#types-of-events), by what they
 * are about.
 */
export const emittedTypes = [
  'vault.created',
  'vault.completed',
  'vault.failed',
  'vault.error',
  'vault.deleted',
  'stream.created',
  'stream.completed',
  'stream.failed',
  'stream.error',
  'stream.deleted',
  'data_attachment.created',
  'data_attachment.completed',
  'data_attachment.failed',
  'data_attachment.deleted',
  'signature.created',
  'signature.completed',
  'signature.failed',
  'signature.error',
  'asset.created',
  'asset.deployed',
  'asset.error',
  'vault.permission.granted',
  'vault.permission.revoked',
  'vault.permission.updated',
  'stream.permission.granted',
  'stream.permission.revoked',
  'stream.permission.updated',
] as const

/** Can be subscribed to, and never happen (decisions.md#types-of-events). */
export const neverEmittedTypes = [
  'vault.updated',
  'stream.updated',
  'data_attachment.updated',
  'data_attachment.received',
  'signature.updated',
  'asset.updated',
] as const

/** The events that webhooks get in the forthcoming format; `stream.alert_cleared` is ours. */
export const forthcomingTypes = [
  'vault.data_updated',
  'vault.permission_changed',
  'vault.verification_complete',
  'vault.accessed',
  'stream.data_received',
  'stream.alert_triggered',
  'stream.alert_cleared',
] as const

/** Ours, for inbox and mail only (decisions.md#types-of-events). */
export const securityTypes = [
  'security.key_created',
  'security.key_revoked',
  'security.webhook_disabled',
  'security.email_disabled',
  'security.ledger_funds_low',
] as const

export type EmittedType = (typeof emittedTypes)[number]
export type ForthcomingType = (typeof forthcomingTypes)[number]
export type SecurityType = (typeof securityTypes)[number]

/** All that can happen. */
export type EventType = EmittedType | ForthcomingType | SecurityType

/** All that can be asked for: also what never happens. */
export type KnownType = EventType | (typeof neverEmittedTypes)[number]

export const knownTypes: readonly KnownType[] = [
  ...emittedTypes,
  ...neverEmittedTypes,
  ...forthcomingTypes,
  ...securityTypes,
]

const coalescedTypes: ReadonlySet<string> = new Set<KnownType>([
  'stream.data_received',
  'vault.data_updated',
  'vault.accessed',
])

const neverEmitted: ReadonlySet<string> = new Set(neverEmittedTypes)

/** Whether it can be asked for, and never happens (decisions.md#types-of-events). */
export function isNeverEmitted(type: string): boolean {
  return neverEmitted.has(type)
}

/**
 * Whether an unsent one is replaced by the next (decisions.md#events-that-are-coalesced): these
 * happen too often for a person to be told.
 */
export function isCoalesced(type: string): boolean {
  return coalescedTypes.has(type)
}

/** Each of these says something of its own: of an alert, of what somebody has asked for, or what a permission says now. */
const unrepeated: ReadonlySet<KnownType> = new Set([
  'stream.alert_triggered',
  'stream.alert_cleared',
  'vault.verification_complete',
  'vault.permission_changed',
])

/**
 * Whether a second one within minutes is taken for the first one again
 * (decisions.md#repetitions-of-an-event).
 */
export function isDeduplicated(type: KnownType): boolean {
  return !isCoalesced(type) && !unrepeated.has(type)
}

/** How an event is put into the body of a request: each type has one format, or none. */
export type EventFormat = 'emitted' | 'forthcoming' | 'none'

const formats: ReadonlyMap<string, EventFormat> = new Map([
  ...emittedTypes.map((type) => [type, 'emitted'] as const),
  ...neverEmittedTypes.map((type) => [type, 'emitted'] as const),
  ...forthcomingTypes.map((type) => [type, 'forthcoming'] as const),
  ...securityTypes.map((type) => [type, 'none'] as const),
])

export function formatOf(type: KnownType): EventFormat {
  return formats.get(type) ?? 'none'
}
