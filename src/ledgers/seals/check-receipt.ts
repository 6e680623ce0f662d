import { canonicalJson } from '../../core/canonical-json.ts'
import { parseJson } from '../../core/parse-json.ts'
import { formatUs } from '../../core/time.ts'
import type { Verdict } from '../proofs/check-proof.ts'
import { Contradiction } from '../proofs/exact-members.ts'
import { isObject, membersOf } from '../proofs/transaction-text.ts'
import { checkedSealProof, leadsTo, verdictOfSealProof } from './check-seal-proof.ts'
import {
  parseReceipt,
  type Receipt,
  type ReceiptEvent,
  type ReceiptReading,
  type ReceiptSeal,
  receiptCharsMax,
} from './parse-receipt.ts'
import { readingText } from './reading-text.ts'
import { type Outcome, receiptFormat } from './receipt-format.ts'
import { sealProofFormat } from './seal-proof.ts'
import { parseSealText, type SealContent, sealText } from './seal-text.ts'

/** What a receipt shows of one of its readings, or what the proof of a seal shows. */
export interface CheckedReading {
  readonly verdict: Verdict
  /** Undefined for the proof of a seal, which is of no reading. */
  readonly outcome: Outcome | undefined
  /** The canonical text of the reading, once it is known to be that of its fields. */
  readonly text: string | undefined
  /** The seal that it is in, once that is known to say so. */
  readonly seal: SealContent | undefined
  /** Its place among the readings of the seal, from 0. */
  readonly index: number | undefined
}

export interface ReceiptVerdict {
  /** The worst of those of the readings that can have a seal. */
  readonly verdict: Verdict
  /** In the order of the receipt; empty where it is contradicted as such. */
  readonly readings: readonly CheckedReading[]
}

/** From the best to the worst. */
const ranks: readonly Verdict['is'][] = [
  'proven',
  'proven_under_key',
  'not_found',
  'unreachable',
  'contradicted',
]

/** How bad a verdict is, beside another. */
export function rankOf({ is }: Verdict): number {
  return ranks.indexOf(is)
}

/** These were never stored, so no seal can have them. */
const unstored: ReadonlySet<Outcome | undefined> = new Set<Outcome>([
  'quarantined',
  'filtered',
  'unchanged',
  'duplicate',
])

/** By the names that a service gives: what it says beside them is not repeated. */
const whyPathless = new Map([
  ['neighbours_gone', 'readings beside it in the seal are not stored any more'],
  ['too_many_at_once', 'too many readings of the seal have one time'],
  ['not_sealed_yet', 'it came in after the seal, and waits for the next one'],
  ['not_stored', 'it is not stored any more'],
])

/**
 * What a receipt shows that someone brings as text, or the proof of a seal alone. Never throws: each text gets a verdict.
 *
 * @param trustedKeys ids of keys of ledgers that someone got in another way than by the receipt
 */
export async function checkReceiptText(
  given: string,
  trustedKeys: ReadonlySet<string>,
): Promise<ReceiptVerdict> {
  try {
    return await receiptVerdictOf(given, trustedKeys)
  } catch (error) {
    return { verdict: verdictOfFailure(error), readings: [] }
  }
}

async function receiptVerdictOf(
  given: string,
  trustedKeys: ReadonlySet<string>,
): Promise<ReceiptVerdict> {
  const value = valueOf(given)
  const format = isObject(value) ? value['format'] : undefined
  if (format === sealProofFormat) {
    const { verdict, seal } = await checkedSealProof(value, trustedKeys)
    const checked = { verdict, seal, outcome: undefined, text: undefined, index: undefined }
    return { verdict: checked.verdict, readings: [checked] }
  }
  // An answer of another operation, or an error.
  if (format !== receiptFormat) {
    throw new Contradiction('it is neither a receipt nor the proof of a seal')
  }
  const receipt = parseReceipt(value)
  checkPlaces(receipt)
  const readings: CheckedReading[] = []
  for (const [at, reading] of receipt.readings.entries()) {
    readings.push(await checkedReading(receipt, reading, { where: `readings[${at}]`, trustedKeys }))
  }
  const sealable = readings.filter(({ outcome }) => !unstored.has(outcome))
  const counted = sealable.length > 0 ? sealable : readings
  const contradicted = readings.filter(({ verdict }) => verdict.is === 'contradicted')
  return { verdict: worstOf([...contradicted, ...counted]), readings }
}

function worstOf(readings: readonly CheckedReading[]): Verdict {
  const [worst] = readings.toSorted((one, other) => rankOf(other.verdict) - rankOf(one.verdict))
  if (!worst) throw new Contradiction('it has no reading')
  return worst.verdict
}

function valueOf(given: string): unknown {
  if (given.length > receiptCharsMax) throw new Contradiction('it is longer than any receipt')
  try {
    return parseJson(given)
  } catch {
    throw new Contradiction('it is not JSON')
  }
}

function verdictOfFailure(error: unknown): Verdict {
  const reason = error instanceof Contradiction ? error.message : 'it could not be read'
  return { is: 'contradicted', reason }
}

/** One leaf of a seal is one reading, also of several that are equal. */
function checkPlaces({ readings }: Receipt): void {
  const leaves = readings.flatMap(({ seal }) => {
    return seal?.path ? [`${seal.startUs} ${seal.endUs} ${seal.revision} ${seal.path.index}`] : []
  })
  if (new Set(leaves).size < leaves.length) {
    throw new Contradiction('two readings have the same place in a seal')
  }
}

interface Surroundings {
  readonly where: string
  readonly trustedKeys: ReadonlySet<string>
}

async function checkedReading(
  receipt: Receipt,
  reading: ReceiptReading,
  around: Surroundings,
): Promise<CheckedReading> {
  const { outcome, text, seal } = reading
  const nothing = { outcome, text: undefined, seal: undefined, index: undefined }
  try {
    checkText(receipt, reading, around.where)
    checkSurroundings(receipt, reading, around.where)
    const shown = { ...nothing, text: text ?? undefined }
    if (seal === null) return { ...shown, verdict: notFound(unsealed(reading)) }
    const content = contentOf(receipt, seal, around.where)
    checkPath(reading, seal, `${around.where}.seal`)
    const verdict = await verdictOfSeal(seal, content, around)
    const isOfSeal = seal.path !== null && verdict.is !== 'contradicted'
    return { ...shown, ...(isOfSeal && { seal: content, index: seal.path?.index }), verdict }
  } catch (error) {
    return { ...nothing, verdict: verdictOfFailure(error) }
  }
}

/** The text is that of the stream, the time and the fields, and the only one. */
function checkText({ streamId, timestampUs }: Receipt, reading: ReceiptReading, where: string) {
  const { fields, text, outcome } = reading
  const timestamp = formatUs(timestampUs)
  if (fields && fields['timestamp'] !== timestamp) {
    throw new Contradiction(`${where}.reading is of another time`)
  }
  if (text === null) {
    if (outcome === 'stored') throw new Contradiction(`${where} is stored, and has no text`)
    return
  }
  const values = membersOf(text)?.['values']
  if (!isObject(values) || readingText(streamId, { timestampUs, values }) !== text) {
    throw new Contradiction(`${where}.text is not the text of a reading of this stream and time`)
  }
  // The time takes the place of an undeclared field of that name.
  const shown = Object.fromEntries([...Object.entries(values), ['timestamp', timestamp]])
  if (!fields || canonicalJson(shown) !== canonicalJson(fields)) {
    throw new Contradiction(`${where}.text is not that of the fields of the reading`)
  }
}

/** What no ledger says is at least one thing. */
function checkSurroundings({ timestampUs }: Receipt, reading: ReceiptReading, where: string): void {
  const { windows, alertEvents, events, missing } = reading
  for (const [at, { startUs, endUs }] of windows.entries()) {
    if (timestampUs < startUs || timestampUs >= endUs) {
      throw new Contradiction(`${where}.windows[${at}] does not have the time of the reading`)
    }
  }
  const ids = new Set(events.map(({ eventId }) => eventId))
  if (ids.size < events.length) throw new Contradiction(`${where}.events has an event twice`)
  if (!missing.has('events') && alertEvents.some((id) => !ids.has(id))) {
    throw new Contradiction(`${where}.alerts has an event that is not in events`)
  }
  checkDeliveries(events, where)
}

function checkDeliveries(events: readonly ReceiptEvent[], where: string): void {
  const deliveries = events.flatMap((event) => event.deliveries)
  if (new Set(deliveries.map(({ id }) => id)).size < deliveries.length) {
    throw new Contradiction(`${where}.events has a delivery twice`)
  }
  for (const { attempts } of deliveries) {
    if (attempts.some((one, at) => at > 0 && one <= (attempts[at - 1] ?? 0))) {
      throw new Contradiction(`${where}.events has attempts that are not in their order`)
    }
  }
}

function contentOf({ streamId, timestampUs }: Receipt, seal: ReceiptSeal, where: string) {
  const { startUs, endUs, revision, count, root, previous } = seal
  if (timestampUs < startUs || timestampUs >= endUs) {
    throw new Contradiction(`${where}.seal is of a stretch without the time of the reading`)
  }
  const content = { stream: streamId, startUs, endUs, revision, count, root, previous }
  if (!parseSealText(sealText(content))) {
    throw new Contradiction(`${where}.seal is not what a seal can be`)
  }
  return content
}

function checkPath(
  { outcome, text }: ReceiptReading,
  { path, problem, root, count }: ReceiptSeal,
  where: string,
): void {
  if ((path === null) !== (problem !== undefined)) {
    throw new Contradiction(`${where} has neither a path nor a problem, or both`)
  }
  if (path === null) return
  if (unstored.has(outcome))
    throw new Contradiction(`${where} has the path of a reading that was not stored`)
  if (text === null) throw new Contradiction(`${where} has the path of a reading that has no text`)
  if (!leadsTo(text, path, { root, count })) {
    throw new Contradiction(`${where}.path does not lead from the reading to the root`)
  }
}

async function verdictOfSeal(
  { proof, status, txHash, path, problem }: ReceiptSeal,
  content: SealContent,
  { where, trustedKeys }: Surroundings,
): Promise<Verdict> {
  if (proof === null) {
    if (status !== 'SERVICE_RECEIVED' || txHash !== null) {
      throw new Contradiction(`${where}.seal has the status of a seal with a proof, and no proof`)
    }
    return notFound('its seal is on no ledger yet: ask for a later receipt')
  }
  if (proof.text !== sealText(content)) {
    throw new Contradiction(`${where}.seal.proof is the proof of another seal`)
  }
  const verdict = await verdictOfSealProof(proof, trustedKeys, `${where}.seal.proof`)
  if (verdict.is === 'contradicted') return verdict
  const said = proof.proof as { readonly status: string; readonly tx_hash: string | null }
  if (said.status !== status)
    throw new Contradiction(`${where}.seal.status is not that of its proof`)
  if (txHash !== null && said.tx_hash !== txHash) {
    throw new Contradiction(`${where}.seal.tx_hash is not that of its proof`)
  }
  return path === null ? notFound(pathless(problem)) : verdict
}

function notFound(reason: string): Verdict {
  return { is: 'not_found', reason }
}

function unsealed({ outcome }: ReceiptReading): string {
  if (unstored.has(outcome)) return 'it was not stored, so no seal has it'
  return outcome === 'pending' ? 'it is not stored yet' : 'no seal has it, or not yet'
}

function pathless(problem = ''): string {
  const why = whyPathless.get(problem)
  return `the receipt has no path from it to the root of its seal${why === undefined ? '' : `: ${why}`}`
}
