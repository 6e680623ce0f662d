import type { Json } from '../../contracts/definitions/problems.ts'
import type { FieldMap } from '../../contracts/stream-schema.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import type { ErrorDetail } from '../../core/errors.ts'
import { lifecycleFields } from '../../outbox/lifecycle/lifecycle-event.ts'

/**
 * Keys that would change events, or keep some of them out; and alerts, which are events
 * themselves: one about events could bring about the next.
 */
const refusedProcessing: readonly string[] = [
  'validation',
  'transform',
  'deduplicate',
  'alerting',
  'alertThresholds',
]

/**
 * The schema of a stream of the service's own events
 * (decisions.md#streams-of-the-services-own-events). It may be sent as reading the stream answers
 * it, or be left out.
 */
export function serviceSchema(schema: unknown, found: ErrorDetail[]): FieldMap {
  const isOurs = canonicalJson(schema ?? lifecycleFields) === canonicalJson(lifecycleFields)
  if (!isOurs) {
    found.push({ path: 'schema', message: 'is given by the service: leave it out' })
  }
  return lifecycleFields
}

export function refuseServiceProcessing(processing: Json, found: ErrorDetail[]): void {
  for (const key of refusedProcessing) {
    if (processing[key] === undefined) continue
    found.push({ path: `processing.${key}`, message: 'is not for streams of the type service' })
  }
}

/** Names what is right, and cannot be done with the service's own events. */
export function unsupportedOfService({ seal }: Json): readonly ErrorDetail[] {
  if (seal === undefined) return []
  return [{ path: 'processing.seal', message: 'is not for streams of the type service' }]
}
