import type { Selectable } from 'kysely'
import type { RecordedEvent } from '../../../outbox/events/events.ts'
import type { StateSchema } from '../../../storage/state/schema.ts'

export const entryTypes = ['INFO', 'SUCCESS', 'WARNING', 'ERROR', 'ACTION_REQUIRED'] as const

export type EntryType = (typeof entryTypes)[number]

/** What an inbox says of an event. */
export interface EntryText {
  readonly type: EntryType
  readonly title: string
  readonly message: string
}

/** Longer names are cut: an entry is for one glance, and points to the resource. */
const nameCharactersMax = 200

interface Phrase {
  readonly type: EntryType
  readonly title: string
}

/** Phrases by the last word of the name of an event. */
const phrases: Readonly<Record<string, Phrase>> = {
  created: { type: 'INFO', title: 'created' },
  deleted: { type: 'INFO', title: 'deleted' },
  completed: { type: 'SUCCESS', title: 'completed' },
  deployed: { type: 'SUCCESS', title: 'deployed' },
  failed: { type: 'ERROR', title: 'failed' },
  error: { type: 'ERROR', title: 'stopped by an error' },
  granted: { type: 'INFO', title: 'granted' },
  revoked: { type: 'WARNING', title: 'revoked' },
  updated: { type: 'INFO', title: 'changed' },
  permission_changed: { type: 'INFO', title: 'permission changed' },
  alert_triggered: { type: 'WARNING', title: 'alert' },
  alert_cleared: { type: 'SUCCESS', title: 'alert cleared' },
  key_created: { type: 'WARNING', title: 'API key created' },
  key_revoked: { type: 'WARNING', title: 'API key revoked' },
  webhook_disabled: { type: 'ACTION_REQUIRED', title: 'Webhook disabled after repeated failures' },
  email_disabled: { type: 'ACTION_REQUIRED', title: 'Address disabled after repeated failures' },
  ledger_funds_low: { type: 'ACTION_REQUIRED', title: 'Account of a ledger is nearly empty' },
}

/** How a verification has ended is in its data: only one of its ends is a good one. */
const verifications: Readonly<Record<string, Phrase>> = {
  proven: { type: 'SUCCESS', title: 'verified' },
  contradicted: { type: 'ERROR', title: 'contradicted by what is kept or on the ledger' },
  not_found: { type: 'WARNING', title: 'not found on the ledger' },
  unreachable: { type: 'WARNING', title: 'not verified: the ledger was not reached' },
}

const notVerified: Phrase = { type: 'WARNING', title: 'not verified' }

const subjects: Readonly<Record<string, string>> = {
  vault: 'Vault',
  stream: 'Stream',
  data_attachment: 'Data attachment',
  signature: 'Signature',
  asset: 'Asset',
  'vault.permission': 'Permission of a vault',
  'stream.permission': 'Permission of a stream',
}

/** @throws Error for a type that has no words yet: the catalogue and this have to agree */
export function textOf({ type, data }: Pick<RecordedEvent, 'type' | 'data'>): EntryText {
  const last = type.lastIndexOf('.')
  const resource = JSON.parse(data) as Resource
  const phrase = phraseOf(type.slice(last + 1), resource)
  if (phrase === undefined) throw new Error(`the inbox has no words for ${type}`)
  const subject = subjects[type.slice(0, last)]
  const title = subject === undefined ? phrase.title : `${subject} ${phrase.title}`
  const name = nameIn(resource)
  const message = name === undefined ? title : `${title}: ${name}`
  return { type: phrase.type, title, message: message + findingIn(resource) }
}

type Resource = Readonly<Record<string, unknown>>

/** @param word the last one of the name of an event */
function phraseOf(word: string, { result }: Resource): Phrase | undefined {
  if (word !== 'verification_complete') return phrases[word]
  return verifications[String(result)] ?? notVerified
}

/** The name of the resource, or what it has instead of one. */
function nameIn(resource: Resource): string | undefined {
  for (const key of ['name', 'asset_code', 'url', 'email', 'streamName', 'username']) {
    const name = resource[key]
    if (typeof name === 'string' && name !== '') return cut(name)
  }
  return undefined
}

/** Which rule of an alert has found what: beside the name of its stream, it is why somebody looks at all. */
function findingIn({ ruleId, value, threshold }: Resource): string {
  if (typeof ruleId !== 'string') return ''
  const found = isScalar(value) ? `: ${cut(String(value))}` : ''
  const limit = isScalar(threshold) ? `, limit ${cut(String(threshold))}` : ''
  return ` (${cut(ruleId)}${found}${limit})`
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

function cut(name: string): string {
  const characters = Array.from(name)
  if (characters.length <= nameCharactersMax) return name
  return `${characters.slice(0, nameCharactersMax).join('')}…`
}

/** An entry as it is stored, and whether it counts as read and archived. */
export interface InboxEntry extends Selectable<StateSchema['inbox_entries']> {
  readonly isRead: boolean
  readonly isArchived: boolean
}
