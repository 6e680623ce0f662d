import { randomUUID } from 'node:crypto'

/**
 * What the attempts of a delivery are: those right after the event, which are counted when all of them
 * fail; those of later passes; those that somebody asked for again; and the one of a test.
 */
export type Phase = 'inline' | 'background' | 'repeat' | 'test'

export type DeliveryState = 'pending' | 'delivered' | 'failed' | 'cancelled' | 'skipped'

/** How receivers are told: what they are, and who keeps them. */
export type DeliveryChannel = 'webhook' | 'mail'

/** A delivery that is to be attempted now. */
export interface DueDelivery {
  readonly id: string
  readonly eventId: string
  readonly receiverId: string
  readonly ownerId: string
  readonly eventType: string
  readonly resourceId: string
  readonly phase: Phase
  /** Number of recorded attempts. */
  readonly attempts: number
  readonly attemptsMax: number
  /** Time of the last attempt, in steady time. */
  readonly lastAttemptAtUs: number | undefined
  /** Whether it stands for several events, and its body is that of none of them. */
  readonly hasOwnBody: boolean
}

/**
 * How an attempt has ended: `retry` for what may be better in some seconds, `stop` for what another
 * attempt right away would not mend (decisions.md#attempts-and-passes), `skipped` where there is no
 * way to any receiver.
 */
export type Outcome = 'delivered' | 'retry' | 'stop' | 'skipped'

/** What is known of an attempt that has ended. */
export interface AttemptResult {
  readonly outcome: Outcome
  /** Status of the answer; none when there was no answer. */
  readonly statusCode: number | undefined
  readonly message: string
  /** Headers with marks in place of what may be secret. */
  readonly requestHeaders: Readonly<Record<string, string>>
  readonly responseExcerpt: string
}

/** What follows from an attempt. */
export interface Consequence {
  readonly state: DeliveryState
  readonly phase: Phase
  /** When the next attempt is due, in steady time; undefined: there is none. */
  readonly dueAtUs: number | undefined
  /**
   * What happens to the failures that the receiver has had in a row
   * (decisions.md#failures-in-a-row).
   */
  readonly failures: 'same' | 'reset' | 'add'
}

export interface RetryRules {
  /** Wait before the second attempt of the loop; twice as much before each further one. */
  readonly retryDelayUs: number
  /** Attempts of a loop after the first one. */
  readonly retryCount: number
  /** Time between the passes that send what has failed again. */
  readonly resendEveryUs: number
}

/**
 * Deliveries whose last attempt is older than this are given up (decisions.md#attempts-and-passes).
 */
export const givenUpAfterUs = 24 * 3_600 * 1_000_000

/** What follows from an attempt that has ended at this steady time: each channel has rules of its own. */
export type ConsequenceOf = (
  delivery: Pick<DueDelivery, 'phase' | 'attempts' | 'attemptsMax'>,
  outcome: Outcome,
  endedUs: number,
  rules: RetryRules,
) => Consequence

/** The rules of webhooks (decisions.md#attempts-and-passes, decisions.md#failures-in-a-row). */
export const consequenceOf: ConsequenceOf = (
  { phase, attempts, attemptsMax },
  outcome,
  endedUs,
  { retryDelayUs, retryCount, resendEveryUs },
) => {
  if (outcome === 'delivered') {
    const failures = phase === 'test' ? 'same' : 'reset'
    return { state: 'delivered', phase, dueAtUs: undefined, failures }
  }
  const left = attemptsMax - attempts - 1
  const isLoop = phase === 'inline' || phase === 'repeat'
  if (isLoop && outcome === 'retry' && left > 0) {
    const waits = Math.max(0, retryCount - left)
    const dueAtUs = endedUs + retryDelayUs * 2 ** waits
    return { state: 'pending', phase, dueAtUs, failures: 'same' }
  }
  const failures = phase === 'inline' ? 'add' : 'same'
  if (left <= 0) return { state: 'failed', phase, dueAtUs: undefined, failures }
  const dueAtUs = nextPassUs(endedUs, resendEveryUs)
  return { state: 'pending', phase: 'background', dueAtUs, failures }
}

/** Passes are at the same times in every process, and after every restart. */
function nextPassUs(afterUs: number, everyUs: number): number {
  return (Math.floor(afterUs / everyUs) + 1) * everyUs
}

/**
 * An id whose last two digits are zeros: with the number of an attempt in their place it is the id of
 * that attempt, so that attempts need no ids of their own.
 */
export function newDeliveryId(): string {
  return `${randomUUID().slice(0, -2)}00`
}

/** Attempts that a delivery can have: as many as two hex digits tell apart. */
export const attemptsOfDeliveryMax = 255

export function attemptIdOf(deliveryId: string, attempt: number): string {
  return deliveryId.slice(0, -2) + attempt.toString(16).padStart(2, '0')
}

/** The delivery that an id means, be it the id of one or of one of its attempts. */
export function deliveryIdOf(id: string): string {
  return `${id.slice(0, -2)}00`
}
