import { formatUs, parseRfc3339 } from '../../core/time.ts'
import type { MerklePath } from '../merkle/merkle.ts'
import {
  Contradiction,
  hash,
  list,
  members,
  merklePath,
  oneOf,
  orNull,
  text,
} from '../proofs/exact-members.ts'
import { isCount, isObject } from '../proofs/transaction-text.ts'
import { type Outcome, outcomes } from './receipt-format.ts'
import { sealProofFormat } from './seal-proof.ts'
import { type SealContent, sealCharsMax } from './seal-text.ts'

/** Characters of a receipt as text: many readings of one time, the largest that are accepted, each of them twice. */
export const receiptCharsMax = 32 * 1024 * 1024

/** More readings than a receipt answers for. */
const readingsMax = 1_000

/** More than there are of a reading: of windows, alerts, events, deliveries, attempts, and of what is missing. */
const itemsMax = 10_000

const nameCharsMax = 256
const messageCharsMax = 65_536

/** A receipt that someone brings, as far as it is one by its form. */
export interface Receipt {
  readonly streamId: string
  readonly timestampUs: number
  readonly readings: readonly ReceiptReading[]
}

export interface ReceiptReading {
  readonly outcome: Outcome
  /** Its time and its fields by their names; undefined where they are not known. */
  readonly fields: Readonly<Record<string, unknown>> | undefined
  /** The canonical text that a seal has the hash of. */
  readonly text: string | null
  readonly windows: readonly Span[]
  /** Ids of the events that its alerts name. */
  readonly alertEvents: readonly string[]
  readonly events: readonly ReceiptEvent[]
  /** Kinds of facts that are known no longer, or never were. */
  readonly missing: ReadonlySet<string>
  readonly seal: ReceiptSeal | null
}

/** [startUs, endUs): half open. */
export interface Span {
  readonly startUs: number
  readonly endUs: number
}

export interface ReceiptEvent {
  readonly eventId: string
  readonly deliveries: readonly { readonly id: string; readonly attempts: readonly number[] }[]
}

export interface ReceiptSeal extends Omit<SealContent, 'stream'> {
  readonly status: string
  readonly txHash: string | null
  /** From the text of the reading to the root of the seal. */
  readonly path: MerklePath | null
  /** Why there is no path. */
  readonly problem: string | undefined
  readonly proof: ParsedSealProof | null
}

/** What proves a seal by its form; the proof of the ledger itself is not looked at yet. */
export interface ParsedSealProof {
  readonly text: string
  readonly batchText: string
  readonly batchPath: MerklePath
  readonly proof: unknown
}

const readingMembers = [
  'outcome',
  'reading',
  'text',
  'digest',
  'arrival',
  'journal',
  'definition',
  'verdict',
  'windows',
  'alerts',
  'events',
  'seal',
  'missing',
]

const sealMembers = [
  'start',
  'end',
  'revision',
  'count',
  'root',
  'previous',
  'sealedAt',
  'status',
  'tx_hash',
  'path',
  'problem',
  'proof',
]

/** @throws Contradiction */
export function parseReceipt(value: unknown): Receipt {
  const names = ['format', 'streamId', 'timestamp', 'answeredAt', 'readings', 'hasMore']
  const said = members(value, 'the receipt', names)
  timeIn(said['answeredAt'], 'answeredAt')
  if (typeof said['hasMore'] !== 'boolean') throw new Contradiction('hasMore is not true or false')
  const readings = list(said['readings'], 'readings', readingsMax)
  return {
    streamId: text(said['streamId'], 'streamId', nameCharsMax),
    timestampUs: timeIn(said['timestamp'], 'timestamp'),
    readings: readings.map((one, at) => readingOf(one, `readings[${at}]`)),
  }
}

/** @throws Contradiction */
export function parseSealProof(value: unknown, where: string): ParsedSealProof {
  const said = members(value, where, ['format', 'text', 'batch', 'proof'])
  oneOf(said['format'], `${where}.format`, [sealProofFormat])
  const batch = members(said['batch'], `${where}.batch`, ['text', 'path'])
  return {
    text: text(said['text'], `${where}.text`, sealCharsMax),
    batchText: text(batch['text'], `${where}.batch.text`, sealCharsMax),
    batchPath: merklePath(batch['path'], `${where}.batch.path`),
    proof: said['proof'],
  }
}

function readingOf(value: unknown, where: string): ReceiptReading {
  const said = members(value, where, readingMembers)
  const outcome = oneOf(said['outcome'], `${where}.outcome`, outcomes) as Outcome
  const reading = orNull(said['reading'], (one) => fieldsOf(one, `${where}.reading`))
  const digest = orNull(said['digest'], (one) => text(one, `${where}.digest`, nameCharsMax))
  if (digest !== null && !/^[0-9a-f]{16}$/.test(digest)) {
    throw new Contradiction(`${where}.digest is not 64 bits in hex`)
  }
  for (const name of ['arrival', 'journal', 'definition', 'verdict']) {
    if (!isObject(said[name])) throw new Contradiction(`${where}.${name} is not an object`)
  }
  return {
    outcome,
    fields: reading ?? undefined,
    text: orNull(said['text'], (one) => text(one, `${where}.text`, receiptCharsMax)),
    windows: itemsOf(said, 'windows', where).map((one, at) => {
      return spanOf(one, `${where}.windows[${at}]`)
    }),
    alertEvents: itemsOf(said, 'alerts', where).flatMap(({ eventId }, at) => {
      const event = `${where}.alerts[${at}].eventId`
      return orNull(eventId, (one) => text(one, event, nameCharsMax)) ?? []
    }),
    events: itemsOf(said, 'events', where).map((one, at) => {
      return eventOf(one, `${where}.events[${at}]`)
    }),
    missing: new Set(
      itemsOf(said, 'missing', where).map(({ what }, at) => {
        return text(what, `${where}.missing[${at}].what`, nameCharsMax)
      }),
    ),
    seal: orNull(said['seal'], (one) => sealOf(one, `${where}.seal`)),
  }
}

function fieldsOf(value: unknown, where: string) {
  if (!isObject(value)) throw new Contradiction(`${where} is not an object`)
  timeIn(value['timestamp'], `${where}.timestamp`)
  return value
}

/** @param within the object that has the list */
function itemsOf(within: Readonly<Record<string, unknown>>, name: string, where: string) {
  return list(within[name], `${where}.${name}`, itemsMax).map((one, at) => {
    if (isObject(one)) return one
    throw new Contradiction(`${where}.${name}[${at}] is not an object`)
  })
}

function spanOf(value: Readonly<Record<string, unknown>>, where: string): Span {
  const startUs = timeIn(value['start'], `${where}.start`)
  const endUs = timeIn(value['end'], `${where}.end`)
  if (endUs <= startUs) throw new Contradiction(`${where} ends before it begins`)
  return { startUs, endUs }
}

function eventOf(value: Readonly<Record<string, unknown>>, where: string): ReceiptEvent {
  return {
    eventId: text(value['eventId'], `${where}.eventId`, nameCharsMax),
    deliveries: itemsOf(value, 'deliveries', where).map((delivery, at) => {
      const here = `${where}.deliveries[${at}]`
      const attempts = itemsOf(delivery, 'attempts', here)
      return {
        id: text(delivery['deliveryId'], `${here}.deliveryId`, nameCharsMax),
        attempts: attempts.map(({ attempt }, number) => {
          return countIn(attempt, `${here}.attempts[${number}].attempt`)
        }),
      }
    }),
  }
}

function sealOf(value: unknown, where: string): ReceiptSeal {
  const said = members(value, where, sealMembers)
  timeIn(said['sealedAt'], `${where}.sealedAt`)
  const problem = orNull(said['problem'], (one) => {
    const { error, message } = members(one, `${where}.problem`, ['error', 'message'])
    text(message, `${where}.problem.message`, messageCharsMax)
    return text(error, `${where}.problem.error`, nameCharsMax)
  })
  return {
    ...spanOf(said, where),
    revision: countIn(said['revision'], `${where}.revision`),
    count: countIn(said['count'], `${where}.count`),
    root: hash(said['root'], `${where}.root`),
    previous: orNull(said['previous'], (one) => hash(one, `${where}.previous`)),
    status: text(said['status'], `${where}.status`, nameCharsMax),
    txHash: orNull(said['tx_hash'], (one) => text(one, `${where}.tx_hash`, nameCharsMax)),
    path: orNull(said['path'], (one) => merklePath(one, `${where}.path`)),
    problem: problem ?? undefined,
    proof: orNull(said['proof'], (one) => parseSealProof(one, `${where}.proof`)),
  }
}

function countIn(value: unknown, where: string): number {
  if (isCount(value)) return value
  throw new Contradiction(`${where} is not an integer from 1 on`)
}

/** Microseconds. A receipt writes a time in one way, so that none can be changed without a trace. */
function timeIn(value: unknown, where: string): number {
  const written = text(value, where, nameCharsMax)
  const time = parseRfc3339(written)
  if (typeof time === 'number' && formatUs(time) === written) return time
  throw new Contradiction(`${where} is not a time in UTC with six decimals`)
}
