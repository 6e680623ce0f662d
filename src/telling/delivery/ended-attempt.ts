import type { MadeAttempt } from './attempt.ts'
import type { ConsequenceOf, DueDelivery } from './delivery.ts'
import type { EndedAttempt } from './desk.ts'

/** Attempt that was not made because of a fault of ours: it is followed by the next. */
export const faultyAttempt: MadeAttempt = {
  result: {
    outcome: 'retry',
    statusCode: undefined,
    message: 'the attempt could not be made: a fault of this service',
    requestHeaders: {},
    responseExcerpt: '',
  },
  retryCount: 2,
  retryDelayUs: 2_000_000,
}

/** An attempt as it is written down, with what follows from it. */
export function endedAttempt(
  delivery: DueDelivery,
  { result, ...rules }: MadeAttempt,
  follow: {
    readonly attemptedAtUs: number
    readonly endedAtUs: number
    readonly durationUs: number
    /** The end in steady time. */
    readonly endedUs: number
    readonly resendEveryUs: number
    readonly consequenceOf: ConsequenceOf
  },
): EndedAttempt {
  const { id, receiverId, ownerId, eventId, eventType } = delivery
  const { outcome, statusCode, message, requestHeaders, responseExcerpt } = result
  const { attemptedAtUs, endedAtUs, durationUs, endedUs, resendEveryUs, consequenceOf } = follow
  const consequence = consequenceOf(delivery, outcome, endedUs, { ...rules, resendEveryUs })
  const { dueAtUs } = consequence
  return {
    deliveryId: id,
    receiverId,
    ownerId,
    eventId,
    eventType,
    attemptedAtUs,
    endedAtUs,
    durationUs,
    endedUs,
    nextAttemptAtUs: dueAtUs === undefined ? undefined : endedAtUs + dueAtUs - endedUs,
    statusCode,
    delivered: outcome === 'delivered',
    message,
    requestHeaders: JSON.stringify(requestHeaders),
    responseExcerpt,
    ...consequence,
  }
}
