import { hash } from 'node:crypto'
import type { Judge, Receipt, RefusedReading, Verdict } from '../src/contracts/reading.ts'
import type { StreamSchema } from '../src/contracts/stream-schema.ts'
import type { TransformStep } from '../src/contracts/transform-step.ts'
import type { ErrorDetail } from '../src/core/errors.ts'
import type { RefusalReason } from '../src/core/refusal-catalogue.ts'
import type { TimeProblem } from '../src/core/time.ts'
import { canonicaliserOf, unwritable } from './canonical.ts'
import { judgeOfEvents } from './events.ts'
import { MappedReading, membersOf } from './mapped-reading.ts'
import { ScannedReading } from './scan.ts'
import { timeClaimsOf } from './timestamp.ts'
import { transforming } from './transforming.ts'
import { validatorOf } from './validate.ts'

/**
 * Every stage between a decoded reading and its verdict, in order: shape, schema, time, canonical
 * text, digest, transform. Pure: the same reading and receipt always give the same verdict.
 */
export function judgeOf(schema: StreamSchema, transform: readonly TransformStep[] = []): Judge {
  const { events } = schema
  const judge =
    events === undefined ? judgeAsSent(schema) : judgeOfEvents(schema, events, judgeAsSent)
  return transform.length === 0 ? judge : transforming(judge, schema.fields, transform)
}

function judgeAsSent(schema: StreamSchema): Judge {
  const validator = validatorOf(schema)
  const canonicalise = canonicaliserOf(schema)
  const claimOf = timeClaimsOf(schema)

  return (sent, receipt) => {
    if (sent instanceof ScannedReading) return scannedVerdict(sent, schema, receipt)
    const reading = membersOf(sent)
    if (!isObject(reading)) return refused('malformed', 'a reading must be an object')
    const problem = unwritable(reading)
    if (problem !== undefined) return refused('malformed', problem)
    const claimedUs = sent instanceof MappedReading ? sent.claimedUs : claimOf(reading)
    const problems = validator.problems(reading)
    if (problems !== undefined) {
      const at = typeof claimedUs === 'number' ? claimedUs : undefined
      return refused('schema_mismatch', summaryOf(problems), problems, at)
    }
    const refusal = timeRefusal(claimedUs, schema)
    if (refusal !== undefined) return refusal
    const timestampUs = (claimedUs as number | undefined) ?? receipt.receivedAtUs
    if (isInFuture(timestampUs, receipt)) return inFuture(timestampUs, schema, receipt)
    const { values, extra, all } = canonicalise(reading)
    const flagged = validator.flagged(reading)
    const { sender } = receipt
    const digest = digestOf(all, sender)
    const verdict = { accepted: true, timestampUs, values, extra, flagged, digest } as const
    return sender === undefined ? verdict : { ...verdict, sender }
  }
}

/** Why a reading is refused for the time that it claims, or for claiming none. */
function timeRefusal(
  claimedUs: number | TimeProblem | undefined,
  { timestampField: path, time }: StreamSchema,
): RefusedReading | undefined {
  if (claimedUs === undefined && time?.isRequired === true) {
    const detail = { path, message: 'is missing: the stream takes no reading without its time' }
    return refused('timestamp_missing', summaryOf([detail]), [detail])
  }
  if (typeof claimedUs !== 'object') return undefined
  const detail = { path, message: claimedUs.problem }
  const isImplausible = claimedUs.isImplausible === true
  const reason = isImplausible ? 'timestamp_implausible' : 'timestamp_invalid'
  return refused(reason, summaryOf([detail]), [detail])
}

/** The verdict on what a scan has already found to fit. */
function scannedVerdict(
  { claimedUs, values, extra, all }: ScannedReading,
  schema: StreamSchema,
  receipt: Receipt,
): Verdict {
  const refusal = timeRefusal(claimedUs, schema)
  if (refusal !== undefined) return refusal
  const timestampUs = claimedUs ?? receipt.receivedAtUs
  if (isInFuture(timestampUs, receipt)) return inFuture(timestampUs, schema, receipt)
  const { sender } = receipt
  const digest = digestOf(all, sender)
  const flagged = nothingFlagged
  const verdict = { accepted: true, timestampUs, values, extra, flagged, digest } as const
  return sender === undefined ? verdict : { ...verdict, sender }
}

const nothingFlagged: readonly string[] = []

function isInFuture(timestampUs: number, receipt: Receipt): boolean {
  const serverUs = receipt.judgedAtUs ?? receipt.receivedAtUs
  return timestampUs > serverUs + receipt.futureToleranceUs
}

function inFuture(
  timestampUs: number,
  { timestampField }: StreamSchema,
  { futureToleranceUs }: Receipt,
): RefusedReading {
  const message = `is more than ${futureToleranceUs / 1_000_000} s ahead of the server`
  const detail = { path: timestampField, message }
  return refused('timestamp_in_future', summaryOf([detail]), [detail], timestampUs)
}

/**
 * Identity of a reading's content, and of its sender where the stream has several
 * (decisions.md#identity-of-a-reading): the first 64 bits, in hex, of a SHA-256. They are enough,
 * because they only tell apart readings of one stream that carry the same microsecond.
 *
 * @param canonical JSON of all fields, as they were sent
 */
function digestOf(canonical: string, sender: string | undefined): string {
  // It was exported, and comes with what it was known by.
  if (sender?.startsWith(':')) return sender.slice(1)
  // Canonical JSON has no line feed in it.
  const text = sender === undefined ? canonical : `${canonical}\n${sender}`
  return hash('sha256', text, 'hex').slice(0, 16)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The first problems in one sentence; all of them are in the details. */
function summaryOf(details: readonly ErrorDetail[]): string {
  const named = details.slice(0, 3).map(({ path, message }) => `${path} ${message}`)
  const rest = details.length - named.length
  return named.join('; ') + (rest > 0 ? `; and ${rest} more` : '')
}

function refused(
  reason: RefusalReason,
  message: string,
  details: readonly ErrorDetail[] = [],
  timestampUs?: number,
): RefusedReading {
  return { accepted: false, reason, message, details, timestampUs }
}
