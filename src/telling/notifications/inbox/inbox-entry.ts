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
  verification_complete: { type: 'SUCCESS', title: 'verified' },
  alert_triggered: { type: 'WARNING', title: 'alert' },
  alert_cleared: { type: 'SUCCESS', title: 'alert cleared' },
  key_created: { type: 'WARNING', title: 'API key created' },
  key_revoked: { type: 'WARNING', title: 'API key revoked' },
  webhook_disabled: { type: 'ACTION_REQUIRED', title: 'Webhook disabled after repeated failures' },
  email_disabled: { type: 'ACTION_REQUIRED', title: 'Address disabled after repeated failures' },
}

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
  const phrase = phrases[type.slice(last + 1)]
  if (phrase === undefined) throw new Error(`the inbox has no words for ${type}`)
  const subject = subjects[type.slice(0, last)]
  const title = subject === undefined ? phrase.title : `${subject} ${phrase.title}`
  const name = nameIn(data)
  return { type: phrase.type, title, message: name === undefined ? title : `${title}: ${name}` }
}

/** The name of the resource, or what it has instead of one. */
function nameIn(data: string): string | undefined {
  const resource = JSON.parse(data) as Readonly<Record<string, unknown>>
  for (const key of ['name', 'asset_code', 'url', 'email', 'streamName']) {
    const name = resource[key]
    if (typeof name === 'string' && name !== '') return cut(name)
  }
  return undefined
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
