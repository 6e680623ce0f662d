import { randomUUID } from 'node:crypto'

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

export type UserId = Branded<'UserId'>
export type TemplateId = Branded<'TemplateId'>
export type VaultId = Branded<'VaultId'>
/** A data stream: a continuous flow of readings. (An asset stream is another thing, see the glossary.) */
export type StreamId = Branded<'StreamId'>
/** One definition for the data streams of many devices. */
export type FleetId = Branded<'FleetId'>
/** A record of an asset: code, issuer, wallet. */
export type AssetStreamId = Branded<'AssetStreamId'>
export type AttachmentId = Branded<'AttachmentId'>
export type FavoriteId = Branded<'FavoriteId'>
export type ExportId = Branded<'ExportId'>
export type ImportId = Branded<'ImportId'>
export type BackupId = Branded<'BackupId'>
export type EventId = Branded<'EventId'>
export type InboxEntryId = Branded<'InboxEntryId'>
export type WebhookId = Branded<'WebhookId'>
export type EmailRecipientId = Branded<'EmailRecipientId'>
export type AlertId = Branded<'AlertId'>
export type AlertRuleId = Branded<'AlertRuleId'>
/** Something that is put on a ledger. */
export type AnchorId = Branded<'AnchorId'>
export type VerificationId = Branded<'VerificationId'>
/** What an owner lets somebody else do with a vault or an asset stream. */
export type PermissionId = Branded<'PermissionId'>
/** What somebody says by a key about the content of an attachment. */
export type SignatureId = Branded<'SignatureId'>
/** What is issued for an asset stream. */
export type AssetId = Branded<'AssetId'>

type OwnId = UserId | TemplateId | VaultId | StreamId | FleetId | FavoriteId
type RecordId = AssetStreamId | AttachmentId | SignatureId | AssetId
type JobId = ExportId | ImportId | BackupId
/** An id of whatever kind. */
export type AnyId =
  | OwnId
  | RecordId
  | JobId
  | EventId
  | InboxEntryId
  | WebhookId
  | EmailRecipientId
  | AlertId
  | AlertRuleId
  | AnchorId
  | VerificationId
  | PermissionId
  | FleetId

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
  const bytes = Buffer.alloc(16)
  writeUuid(id, bytes, 0)
  return bytes
}

/** Writes the 16 bytes of a uuid: of one reading after the other, so nothing is made for it. */
export function writeUuid(id: AnyId, bytes: Uint8Array, offset: number): void {
  let place = 0
  for (let at = offset; at < offset + 16; at++) {
    if (id.charCodeAt(place) === hyphen) place++
    bytes[at] = (hexDigit(id.charCodeAt(place)) << 4) | hexDigit(id.charCodeAt(place + 1))
    place += 2
  }
}

const hyphen = 45

/** The value of one of 0-9 and a-f, as ids have them. */
function hexDigit(code: number): number {
  return code < 58 ? code - 48 : code - 87
}

/** The uuid of 16 bytes at an offset. */
export function uuidAt(bytes: Buffer, offset: number): string {
  const hex = bytes.toString('hex', offset, offset + 16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}
