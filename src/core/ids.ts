import { randomUUID } from 'node:crypto'

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

export type UserId = Branded<'UserId'>
export type TemplateId = Branded<'TemplateId'>
export type VaultId = Branded<'VaultId'>
/** A data stream: a continuous flow of readings. (An asset stream is another thing, see the glossary.) */
export type StreamId = Branded<'StreamId'>
export type FavoriteId = Branded<'FavoriteId'>
export type ExportId = Branded<'ExportId'>
export type ImportId = Branded<'ImportId'>
export type BackupId = Branded<'BackupId'>
export type EventId = Branded<'EventId'>
export type InboxEntryId = Branded<'InboxEntryId'>
export type WebhookId = Branded<'WebhookId'>
export type AlertId = Branded<'AlertId'>
export type AlertRuleId = Branded<'AlertRuleId'>

type OwnId = UserId | TemplateId | VaultId | StreamId | FavoriteId
type JobId = ExportId | ImportId | BackupId
type AnyId = OwnId | JobId | EventId | InboxEntryId | WebhookId | AlertId | AlertRuleId

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

export function newId<Id extends AnyId>(): Id {
  return randomUUID() as Id
}

/** The only place where text from outside becomes an id. Upper-case hex is folded, as RFC 9562 asks. */
export function parseId<Id extends AnyId>(text: string): Id | undefined {
  const folded = text.toLowerCase()
  return uuidPattern.test(folded) ? (folded as Id) : undefined
}

/** The 16 bytes of a uuid. */
export function uuidBytes(id: AnyId): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex')
}

/** The uuid of 16 bytes at an offset. */
export function uuidAt(bytes: Buffer, offset: number): string {
  const hex = bytes.toString('hex', offset, offset + 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
