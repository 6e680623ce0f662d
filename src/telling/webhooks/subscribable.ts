import {
  emittedTypes,
  forthcomingTypes,
  isNeverEmitted,
  neverEmittedTypes,
} from '../../outbox/events/event-types.ts'

/**
 * What `/notifications/webhooks` takes: 33 types, of which 27 happen
 * (decisions.md#types-of-events).
 */
export const notificationTypes: readonly string[] = [...emittedTypes, ...neverEmittedTypes]

/**
 * What `/webhooks` takes: these, and those that exist in the token interface only
 * (decisions.md#two-views-of-one-table).
 */
export const bearerTypes: readonly string[] = [...notificationTypes, ...forthcomingTypes]

/** What whoever subscribes to these should know. */
export function warningsOf(eventTypes: readonly string[]): readonly string[] {
  return eventTypes
    .filter(isNeverEmitted)
    .map((type) => `${type} is accepted, and never emitted: it delivers nothing`)
}
