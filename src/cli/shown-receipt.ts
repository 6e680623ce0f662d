import { cutText } from '../core/cut-text.ts'
import { formatUs } from '../core/time.ts'
import type { Verdict } from '../ledgers/proofs/check-proof.ts'
import { inWords, sandboxLimits } from '../ledgers/proofs/in-words.ts'
import { type CheckedReading, checkReceiptText } from '../ledgers/seals/check-receipt.ts'
import { shownText } from './shown-text.ts'

/** What was found out of a receipt, for programs and for people. */
export interface ShownReceipt {
  readonly verdict: Verdict
  /** One for each reading. */
  readonly json: readonly Readonly<Record<string, unknown>>[]
  readonly lines: readonly string[]
  /** What is not shown even so; empty where nothing is shown. */
  readonly limits: string
}

/** Characters of a reading in a line for people. */
const textCharsMax = 200

const limits =
  'It does not show that a device sent this, that it is true, or that no other reading was there: readings that were ' +
  'removed before the seal are in no seal. Arrival, windows, alerts, events and deliveries are what the service says: ' +
  `a receipt is checked for contradictions in them, and no ledger has them. ${sandboxLimits}`

/**
 * What a receipt shows, or the proof of a seal.
 *
 * @param bodyOf the members of a verdict for programs
 */
export async function shownReceipt(
  receipt: string,
  trustedKeys: ReadonlySet<string>,
  bodyOf: (verdict: Verdict) => Readonly<Record<string, unknown>>,
): Promise<ShownReceipt> {
  const { verdict, readings } = await checkReceiptText(receipt, trustedKeys)
  const lines = readings.map((one) => lineOf(one))
  return {
    verdict,
    json: readings.map((one, at) => ({ ...bodyOf(one.verdict), ...jsonOf(one), says: lines[at] })),
    lines: lines.length === 0 ? [`${inWords(verdict).result}.`] : lines,
    limits: readings.some((one) => !('reason' in one.verdict)) ? limits : '',
  }
}

function jsonOf({ outcome, text, seal, index }: CheckedReading): Readonly<Record<string, unknown>> {
  return {
    ...(outcome !== undefined && { outcome }),
    ...(text !== undefined && { text }),
    ...(seal && {
      seal: {
        stream: seal.stream,
        start: formatUs(seal.startUs),
        end: formatUs(seal.endUs),
        revision: seal.revision,
        count: seal.count,
        ...(index !== undefined && { index }),
      },
    }),
  }
}

function lineOf({ verdict, outcome, text, seal, index }: CheckedReading): string {
  const what = outcome === undefined ? 'this seal existed' : 'this reading was stored'
  const { result } = inWords(verdict, what)
  const shown = text === undefined ? '' : ` ${shownText(cutText(text, textCharsMax))}`
  const begin = outcome === undefined ? '' : `${outcome}:${shown}\n  `
  if (!seal) return `${begin}${result}.`
  const { stream, startUs, endUs, revision, count } = seal
  const place = index === undefined ? `${count} readings` : `reading ${index + 1} of ${count}`
  const stretch = `${formatUs(startUs)} to ${formatUs(endUs)}`
  return `${begin}${result}.\n  The seal: revision ${revision} of ${stretch} of the stream ${stream}; ${place}.`
}
