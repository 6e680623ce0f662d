import type { ConsequenceOf } from '../delivery/delivery.ts'

/**
 * A mail that is not taken for now is tried again after 5 s, then after twice as long each time, and at last
 * once an hour: for almost a day. A server that has gone for a moment costs seconds, and one that
 * wants to see us again (greylisting) some minutes.
 */
const firstDelayUs = 5_000_000
const delayUsMax = 3_600_000_000

export const mailAttemptsMax = 33

/**
 * The rules of mail (decisions.md#mail): a refusal for good (5xx) ends the delivery and counts;
 * what may be better later (4xx, no connection, no answer) is retried and counts for nothing,
 * however long it lasts.
 */
export const mailConsequenceOf: ConsequenceOf = ({ phase, attempts }, outcome, endedUs) => {
  switch (outcome) {
    case 'delivered':
      return { state: 'delivered', phase, dueAtUs: undefined, failures: 'reset' }
    case 'skipped':
      return { state: 'skipped', phase, dueAtUs: undefined, failures: 'same' }
    case 'stop':
      return { state: 'failed', phase, dueAtUs: undefined, failures: 'add' }
    case 'retry': {
      if (attempts + 1 >= mailAttemptsMax) {
        return { state: 'failed', phase, dueAtUs: undefined, failures: 'same' }
      }
      const dueAtUs = endedUs + Math.min(firstDelayUs * 2 ** attempts, delayUsMax)
      return { state: 'pending', phase, dueAtUs, failures: 'same' }
    }
    default:
      return outcome satisfies never
  }
}
