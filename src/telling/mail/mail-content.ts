import { formatUs } from '../../core/time.ts'
import type { RecordedEvent } from '../../outbox/events/events.ts'
import { type EntryType, textOf } from '../notifications/inbox/inbox-entry.ts'
import type { MailLinks } from './mail-links.ts'

/** What a mail says, before it is put into text and HTML. Everything in it is on one line. */
export interface MailContent {
  readonly subject: string
  readonly heading: string
  readonly tone: EntryType
  /** What has to be said beyond the heading, as sentences. */
  readonly paragraphs: readonly string[]
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly link: { readonly label: string; readonly href: string }
  /** Why it was sent. */
  readonly reason: string
}

type Data = Readonly<Record<string, unknown>>

/** Longer texts of users are cut: a mail is for one glance, and leads to the resource. */
const charactersMax = 200

/** The words that a mail says of an event. */
export function eventContent(
  event: Pick<RecordedEvent, 'type' | 'atUs' | 'resourceId' | 'data'>,
  links: MailLinks,
): MailContent {
  const data = JSON.parse(event.data) as Data
  const { type: tone, title } = textOf(event)
  const severity = shown(data['severity'])
  const name = nameOf(data)
  const what = severity === undefined ? title : `${title} (${severity})`
  const heading = name === undefined ? what : `${what}: ${name}`
  const isWorst = event.type === 'stream.alert_triggered' && severity === 'critical'
  return {
    subject: heading,
    heading,
    tone: isWorst ? 'ERROR' : tone,
    paragraphs: [],
    facts: [
      ...factsOf(data),
      ['Happened at', shownTime(formatUs(event.atUs))],
      ['Event', event.type],
    ],
    link: { label: 'Look at it', href: links.to(pathOf(event, data)) },
    reason: 'You get this because this address was confirmed for notifications.',
  }
}

/**
 * What an address is asked before it is told anything. Nothing in it was written by a user: nobody can send
 * words of their own to strangers with it.
 */
export function verificationContent(
  address: string,
  { href, host }: { readonly href: string; readonly host: string },
): MailContent {
  return {
    subject: 'Confirm this address for notifications',
    heading: 'Confirm this address',
    tone: 'ACTION_REQUIRED',
    paragraphs: [
      `A user of the service at ${host} wants notifications to be sent to ${address}.`,
      'If that is you, confirm the address within three days. If it is not, do nothing: no notifications are sent to it.',
    ],
    facts: [],
    link: { label: 'Confirm this address', href },
    reason: 'You get this because a user has named this address.',
  }
}

/** A text of a user that can stand anywhere: one line, without what turns its order around, and not endless. */
function oneLine(text: string): string {
  const line = text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .replace(/[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g, '')
    .trim()
  const characters = Array.from(line)
  if (characters.length <= charactersMax) return line
  return `${characters.slice(0, charactersMax).join('')}…`
}

/**
 * Time for people: to the second, as nobody reads more. Anything but a time of ours stays as it is.
 */
function shownTime(text: string): string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{6}Z$/.exec(text) ?? []
  return day === undefined || time === undefined ? text : `${day} ${time} UTC`
}

function shown(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') return undefined
  const line = oneLine(value)
  return line === '' ? undefined : line
}

/** The name of the resource, or what it has instead of one. Of a URL it is the host: its path can be secret. */
function nameOf(data: Data): string | undefined {
  const named = ['name', 'asset_code', 'streamName', 'email', 'username'].map((key) =>
    shown(data[key]),
  )
  return named.find((name) => name !== undefined) ?? hostIn(data)
}

function hostIn({ url }: Data): string | undefined {
  return typeof url === 'string' && URL.canParse(url) ? oneLine(new URL(url).host) : undefined
}

const factNames: Readonly<Record<string, string>> = {
  ruleId: 'Rule',
  field: 'Field',
  value: 'Value',
  threshold: 'Threshold',
  triggeredAt: 'Since',
  clearedAt: 'Cleared at',
  sequence: 'Sequence',
  status: 'Status',
  ledger: 'Ledger',
  anchors_left: 'Anchors it can pay for',
  supply: 'Supply',
  type: 'Type',
  permission: 'Permission',
  username: 'User',
  role: 'Role',
  expires_at: 'Until',
  consecutive_failures: 'Failures in a row',
  id: 'Id',
  alertId: 'Alert',
  streamId: 'Stream',
  vaultId: 'Vault',
}

function factsOf(data: Data): readonly (readonly [string, string])[] {
  return Object.entries(factNames).flatMap(([key, name]) => {
    const value = shown(data[key])
    return value === undefined ? [] : [[name, shownTime(value)] as const]
  })
}

/** Where the console shows a resource, by the beginning of the name of an event. */
const places: Readonly<Record<string, string>> = {
  vault: '/console/vaults/',
  stream: '/console/streams/',
  data_attachment: '/console/record/attachment/',
  'security.key': '/console/record/key/',
  'security.webhook': '/console/record/webhook/',
  'security.email': '/console/record/email/',
}

const assetPlace = '/console/record/asset-stream/'

function pathOf({ type, resourceId }: Pick<RecordedEvent, 'type' | 'resourceId'>, data: Data) {
  if (type.startsWith('stream.alert_')) {
    return `/console/record/alert/${inPath(String(data['alertId']))}`
  }
  const last = Math.max(type.lastIndexOf('.'), type.search(/_(?:created|disabled|revoked)$/))
  const subject = type.slice(0, last)
  if (/\.permission[._]/.test(type)) return placeOfPermission(type, data)
  // Events of both kinds of streams begin alike: only those of assets have a code.
  const isAsset = subject === 'stream' && data['asset_code'] !== undefined
  const place = isAsset ? assetPlace : places[subject]
  // What is gone has no place any more; signatures and assets have none yet.
  if (place === undefined || /\.deleted$|_revoked$/.test(type)) return '/console/inbox'
  return place + inPath(resourceId)
}

/** What is shared: those from whom it was taken see it no more. */
function placeOfPermission(type: string, { vault_id: vaultId, stream_id: streamId }: Data): string {
  if (type.endsWith('.revoked')) return '/console/inbox'
  if (typeof vaultId === 'string') return `${places['vault']}${inPath(vaultId)}`
  return typeof streamId === 'string' ? assetPlace + inPath(streamId) : '/console/inbox'
}

function inPath(id: string): string {
  return encodeURIComponent(id.toWellFormed())
}
