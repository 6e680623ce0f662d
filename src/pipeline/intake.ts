import { arrayElementTexts, decodeJson } from '../../processors/decode.ts'
import type { ReceiptClock } from '../core/clock.ts'
import type { Acceptor, MessageOutcome, RawMessage, Settled } from './connector.ts'
import type { EntryWriter } from './entry.ts'
import { type GroupCommit, nothing } from './group-commit.ts'
import type { DecodedMessage, RefusedReading, Verdict } from './reading.ts'

/** How far ahead of the server a reading's clock may be (D19). */
const futureToleranceUs = 5 * 60 * 1_000_000

export interface IntakeNeeds {
  readonly commits: GroupCommit
  readonly receipts: ReceiptClock
}

/**
 * Everything left of the journal: decode, judge, write the entry. It has no effect but the entry;
 * whoever handed the message in is told when that is on disk.
 */
export class Intake implements Acceptor {
  readonly #commits: GroupCommit
  readonly #receipts: ReceiptClock

  /** Readings that are on disk since the start, by verdict. */
  readonly stats: IntakeStats = { accepted: 0, quarantined: 0 }

  constructor({ commits, receipts }: IntakeNeeds) {
    this.#commits = commits
    this.#receipts = receipts
  }

  accept(message: RawMessage, settled: Settled): MessageOutcome {
    const decoded = decodeJson(message.payload)
    if (decoded.ok) return this.acceptDecoded(message, decoded, settled)
    const receivedAtUs = message.receivedAtUs ?? this.#receipts.reserve(1)
    const refusal = malformed(decoded.problem)
    const received = { atUs: receivedAtUs, source: message.source, payload: message.payload }
    const verdicts = [refusal]
    this.#commits.add(
      (writer) => writer.quarantined(message.stream, refusal, received),
      this.#counting(verdicts, settled),
    )
    return { receivedAtUs, verdicts }
  }

  acceptDecoded(message: RawMessage, decoded: DecodedMessage, settled: Settled): MessageOutcome {
    const { readings } = decoded
    const receivedAtUs = message.receivedAtUs ?? this.#receipts.reserve(readings.length)
    const { judge } = message.stream
    // One microsecond apart: readings of a batch without times of their own stay distinct (D18).
    const verdicts = readings.map((reading, index) =>
      judge(reading, { receivedAtUs: receivedAtUs + index, futureToleranceUs }),
    )
    const judged = { message, decoded, receivedAtUs, verdicts }
    this.#commits.add((writer) => writeEntries(writer, judged), this.#counting(verdicts, settled))
    return { receivedAtUs, verdicts }
  }

  settleInOrder(settled: Settled): void {
    this.#commits.add(nothing, settled)
  }

  /**
   * Counts what is on disk: what was refused whole, or failed, was not received (D21). It keeps
   * numbers and not verdicts: what waits for the disk outlives young memory, and is dear.
   */
  #counting(verdicts: readonly Verdict[], settled: Settled): Settled {
    const { stats } = this
    const accepted = verdicts.reduce((sum, verdict) => sum + (verdict.accepted ? 1 : 0), 0)
    return countingOn(stats, { accepted, quarantined: verdicts.length - accepted }, settled)
  }
}

interface IntakeStats {
  accepted: number
  quarantined: number
}

/** A function of its own, so that the callback keeps nothing alive but what it is given here. */
function countingOn(stats: IntakeStats, added: Readonly<IntakeStats>, settled: Settled): Settled {
  return (error) => {
    if (error === undefined) {
      stats.accepted += added.accepted
      stats.quarantined += added.quarantined
    }
    settled(error)
  }
}

/** A message with what was found of it. */
interface JudgedMessage {
  readonly message: RawMessage
  readonly decoded: DecodedMessage
  readonly receivedAtUs: number
  readonly verdicts: readonly Verdict[]
}

function writeEntries(writer: EntryWriter, judged: JudgedMessage): void {
  const { stream, payload, source } = judged.message
  let elements: readonly string[] | undefined
  for (const [index, verdict] of judged.verdicts.entries()) {
    const atUs = judged.receivedAtUs + index
    if (verdict.accepted) {
      writer.accepted(stream, verdict, atUs)
      continue
    }
    if (judged.decoded.isBatch) elements ??= arrayElementTexts(Buffer.from(payload).toString())
    const original = elements === undefined ? payload : Buffer.from(elements[index] ?? '')
    writer.quarantined(stream, verdict, { atUs, source, payload: original })
  }
}

function malformed(problem: string): RefusedReading {
  return {
    accepted: false,
    reason: 'malformed',
    message: problem,
    details: [],
    timestampUs: undefined,
  }
}
