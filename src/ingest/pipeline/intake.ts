import { inflated, isCompressed } from '../../../processors/content-coding.ts'
import { readingsPerMessageMax } from '../../../processors/decode-batch.ts'
import { withEventType } from '../../../processors/event-type.ts'
import type { Acceptor, MessageOutcome, RawMessage, Settled } from '../../contracts/connector.ts'
import type {
  CompiledStream,
  DecodedMessage,
  KeptReading,
  Receipt,
  RefusedReading,
  UndecodableMessage,
  Verdict,
} from '../../contracts/reading.ts'
import type { ReceiptClock } from '../../core/clock.ts'
import type { DomainError } from '../../core/errors.ts'
import type { EntryWriter, ReceivedBytes } from './entry-writer.ts'
import { type GroupCommit, nothing } from './group-commit.ts'
import type { Listeners } from './listeners.ts'
import { contextOf, sharedContextOf, sourceTextOf } from './message-context.ts'
import { senderOf } from './sender.ts'
import { SparkplugNodes } from './sparkplug-nodes.ts'

/** How far ahead of the server a reading's clock may be (decisions.md#times-of-readings). */
const futureToleranceUs = 5 * 60 * 1_000_000

/**
 * Steps of about 0.1 microseconds that the expressions of a transform may take for all readings of
 * one message: nothing else gets a turn meanwhile.
 */
const stepsPerMessage = 5_000_000

export interface IntakeNeeds {
  readonly commits: GroupCommit
  readonly receipts: ReceiptClock
  /** Subscribers that want messages as they came. */
  readonly listeners?: Listeners
  /** Called with the error when a fault of ours keeps a message from being handled. */
  readonly onFault?: (error: unknown) => void
}

/**
 * Everything left of the journal: decode, judge, write the entry. It has no effect but the entry;
 * whoever handed the message in is told when that is on disk.
 */
export class Intake implements Acceptor {
  readonly sparkplug = new SparkplugNodes()
  readonly #needs: IntakeNeeds
  /** Messages that were quarantined for a fault of ours. */
  faults = 0

  constructor(needs: IntakeNeeds) {
    this.#needs = needs
  }

  accept(message: RawMessage, settled: Settled): MessageOutcome {
    try {
      return this.#accept(withItsType(message), settled)
    } catch (error) {
      this.faults++
      this.#needs.onFault?.(error)
      return this.refuse(message, 'the service could not handle it: a fault of ours', settled)
    }
  }

  refuse(message: RawMessage, problem: string, settled: Settled): MessageOutcome {
    const { commits, receipts } = this.#needs
    const receivedAtUs = message.receivedAtUs ?? receipts.reserve(1, spareOf(message))
    const refusal = malformed(problem)
    const received = receivedAs(message, receivedAtUs)
    const write = (writer: EntryWriter) => writer.quarantined(message.stream, refusal, received)
    commits.addReceived(receivedAtUs, write, settled)
    return { receivedAtUs, verdicts: [refusal] }
  }

  #accept(message: RawMessage, settled: Settled): MessageOutcome {
    const { format = 'json', decode, map, scan } = message.stream
    if (format === 'sparkplug' && message.topic !== undefined) {
      return this.#acceptSparkplug(message, message.topic, settled)
    }
    const read = uncompressed(message)
    if (!read.ok) return this.refuse(message, read.problem, settled)
    const { payload } = read
    const decoded = decode(payload, scan)
    if (!decoded.ok) return this.refuse(message, decoded.problem, settled)
    const mapped = map?.(decoded, message) ?? decoded
    return this.#acceptRead(message, { payload, decoded: mapped }, settled)
  }

  /** What such a message means depends on those before it; it may hold nothing to be kept. */
  #acceptSparkplug(message: RawMessage, topic: string, settled: Settled): MessageOutcome {
    const { commits, receipts, listeners } = this.#needs
    const nowUs = message.receivedAtUs ?? receipts.reserve(1, spareOf(message))
    const { decoded: heard, problem, request } = this.sparkplug.hear(message, topic, nowUs)
    const decoded = heard && (message.stream.map?.(heard, message) ?? heard)
    const sender = senderOf(message)
    const { stream } = message
    const verdicts = decoded === undefined ? [] : judgeMessage(stream, decoded, nowUs, { sender })
    const refusal = problem === undefined ? undefined : malformed(problem)
    const received = receivedAs(message, nowUs + verdicts.length)
    const { payload } = message
    const judged = decoded && { message, payload, decoded, receivedAtUs: nowUs, verdicts, sender }
    const published =
      judged && listeners?.want(message) ? this.#publishing(judged, settled) : settled
    commits.addReceived(
      nowUs,
      (writer) => {
        if (judged !== undefined) writeEntries(writer, judged)
        if (refusal !== undefined) writer.quarantined(message.stream, refusal, received)
      },
      published,
    )
    const all = refusal === undefined ? verdicts : [...verdicts, refusal]
    const outcome = { receivedAtUs: nowUs, verdicts: all }
    return request === undefined ? outcome : { ...outcome, request }
  }

  acceptDecoded(message: RawMessage, decoded: DecodedMessage, settled: Settled): MessageOutcome {
    return this.#acceptRead(message, { payload: message.payload, decoded }, settled)
  }

  /** @param read what it says once nothing of it is compressed: its readings are kept as they stand there */
  #acceptRead(message: RawMessage, read: ReadMessage, settled: Settled): MessageOutcome {
    const { decoded, payload } = read
    const { commits, receipts, listeners } = this.#needs
    const receivedAtUs = message.receivedAtUs ?? receipts.reserve(decoded.readings.length)
    const sender = senderOf(message)
    const verdicts = judgeMessage(message.stream, decoded, receivedAtUs, { sender })
    // By another mapping what was refused may be several readings.
    if (verdicts.some(({ accepted }) => !accepted)) {
      receipts.reserve(0, readingsWithin({ ...message, payload }))
    }
    const judged = { message, payload, decoded, receivedAtUs, verdicts, sender }
    const published = listeners?.want(message) ? this.#publishing(judged, settled) : settled
    commits.addReceived(receivedAtUs, (writer) => writeEntries(writer, judged), published)
    if (decoded.readingsAt === undefined) return { receivedAtUs, verdicts }
    return { receivedAtUs, verdicts, countsFromReceipt: true }
  }

  /** Tells those who listen of a message, once it is durable, and of which something was accepted. */
  #publishing({ message, decoded, verdicts }: JudgedMessage, settled: Settled): Settled {
    const { listeners } = this.#needs
    return (error) => {
      settled(error)
      if (error !== undefined || !verdicts.some(({ accepted }) => accepted)) return
      if (decoded.places === undefined) listeners?.publish(message)
      else for (const part of partsOf(message, decoded, verdicts)) listeners?.publish(part)
    }
  }

  together(work: () => void): void {
    this.#needs.commits.together(work)
  }

  async togetherInTurns(steps: Iterable<() => void>): Promise<void> {
    await this.#needs.commits.togetherInTurns(steps)
  }

  keepPosition(stream: CompiledStream, position: string, settled: Settled): void {
    const { commits, receipts } = this.#needs
    const atUs = receipts.reserve(1)
    commits.add((writer) => writer.position(stream, position, atUs), settled)
  }

  reserve(payload: Uint8Array): number {
    return this.#needs.receipts.reserve(1, spareOf({ payload }))
  }

  judge(stream: CompiledStream, decoded: DecodedMessage): readonly Verdict[] {
    return judgeMessage(stream, decoded, this.#needs.receipts.reserve(decoded.readings.length))
  }

  settleInOrder(settled: Settled, failure?: DomainError): void {
    this.#needs.commits.add(nothing, failure === undefined ? settled : () => settled(failure))
  }
}

/**
 * One verdict for each reading of a message, in its order.
 *
 * @param sent who sent it, and the server's time, where it is not judged at its receipt
 */
export function judgeMessage(
  { judge, transform }: CompiledStream,
  { readings, readingsAt, unreadable, refused, places }: DecodedMessage,
  receivedAtUs: number,
  { judgedAtUs, sender, senders }: SentReadings = {},
): readonly Verdict[] {
  const allowance = transform && { left: stepsPerMessage }
  // One microsecond apart: readings of a batch without times of their own stay distinct
  // (decisions.md#times-of-readings).
  return (readingsAt?.(receivedAtUs) ?? readings).map((reading, index) => {
    const problem = unreadable?.get(index)
    if (problem !== undefined) return malformed(problem)
    const refusal = refused?.get(index)
    if (refusal !== undefined) return refusal
    const atUs = receivedAtUs + (places?.[index] ?? index)
    const from = senders === undefined ? sender : senders[index]
    const receipt = { receivedAtUs: atUs, judgedAtUs, futureToleranceUs, sender: from, allowance }
    return judge(reading, receipt)
  })
}

/** What is known of the readings of a message beside what they say. */
interface SentReadings extends Pick<Receipt, 'judgedAtUs' | 'sender'> {
  /** One for each reading, where they may differ. */
  readonly senders?: readonly (string | undefined)[]
}

/** What a message says, as bytes and as readings. */
interface ReadMessage {
  readonly payload: Uint8Array
  readonly decoded: DecodedMessage
}

/** A message with what was found of it. */
interface JudgedMessage extends ReadMessage {
  readonly message: RawMessage
  readonly receivedAtUs: number
  readonly verdicts: readonly Verdict[]
  readonly sender: string | undefined
}

function writeEntries(writer: EntryWriter, judged: JudgedMessage): void {
  const { message, decoded, sender } = judged
  const { stream } = message
  const refused = judged.verdicts.reduce((sum, { accepted }) => (accepted ? sum : sum + 1), 0)
  const kept = refused === 0 ? undefined : keptBy(decoded, judged.payload)
  const context = refused === 0 ? undefined : sharedContextOf(message, refused)
  const source = refused === 0 ? '' : sourceTextOf(message)
  for (const [index, verdict] of judged.verdicts.entries()) {
    const atUs = judged.receivedAtUs + (decoded.places?.[index] ?? index)
    if (verdict.accepted) {
      if (verdict.isFiltered) writer.filtered(stream, verdict, atUs)
      else writer.accepted(stream, verdict, atUs)
      continue
    }
    const received = { atUs, source, ...(kept as KeptOf)(index), sender, context }
    writer.quarantined(stream, verdict, received)
  }
}

type KeptOf = (index: number) => KeptReading

/** What the quarantine keeps of each reading: its element of a batch, or what a mapping says. */
export function keptBy(decoded: DecodedMessage, payload: Uint8Array): KeptOf {
  const { kept, elementFormats, isBatch, format } = decoded
  if (kept !== undefined) return (index) => kept(index, payload)
  const elements = decoded.elements?.(payload)
  return (index) => ({
    payload: elements?.[index] ?? payload,
    format: elementFormats?.get(index) ?? format,
    isElement: isBatch,
  })
}

/** What was sent, of a message that could not be taken apart. */
function receivedAs(message: RawMessage, atUs: number): ReceivedBytes {
  const { stream, payload } = message
  const source = sourceTextOf(message)
  const { format = 'json' } = stream
  const [sender, context] = [senderOf(message), contextOf(message)]
  return { atUs, source, payload, format, isElement: false, sender, context }
}

/** What was accepted for this stream, of a message for several. */
function partsOf(
  message: RawMessage,
  decoded: DecodedMessage,
  verdicts: readonly Verdict[],
): readonly RawMessage[] {
  const elements = decoded.elements?.(message.payload) ?? []
  // Several readings of one element have the same bytes: these are told once.
  const accepted = new Set(elements.filter((_, index) => verdicts[index]?.accepted))
  return [...accepted].map((payload) => ({ ...message, payload }))
}

/** The payload of a message as its definition reads it. */
function uncompressed({
  payload,
  stream: { formatOptions },
}: RawMessage): { readonly ok: true; readonly payload: Uint8Array } | UndecodableMessage {
  const coding = formatOptions?.contentCoding
  if (coding === undefined) return { ok: true, payload }
  const read = inflated(payload, coding)
  return read.ok ? { ok: true, payload: read.content } : read
}

/** It may turn out to be a batch, whose readings take at least a byte each and a time of receipt. */
function spareOf({ payload }: Pick<RawMessage, 'payload'>): number {
  if (isCompressed(payload)) return readingsPerMessageMax
  return Math.min(payload.byteLength, readingsPerMessageMax)
}

const comma = 44

/** How many readings more than one there may be in a message that was decoded: between two of JSON is a comma. */
function readingsWithin(message: Pick<RawMessage, 'payload' | 'stream'>): number {
  const { payload, stream } = message
  const most = spareOf(message)
  if ((stream.format ?? 'json') !== 'json') return most
  let count = 0
  for (let at = payload.indexOf(comma); at >= 0 && count < most; ) {
    count++
    at = payload.indexOf(comma, at + 1)
  }
  return count
}

function withItsType(message: RawMessage): RawMessage {
  const { payload, eventType, stream } = message
  if (eventType === undefined) return message
  return { ...message, payload: withEventType(payload, eventType, stream) }
}

/** The verdict on what cannot be taken apart. */
export function malformed(problem: string): RefusedReading {
  return {
    accepted: false,
    reason: 'malformed',
    message: problem,
    details: [],
    timestampUs: undefined,
  }
}
