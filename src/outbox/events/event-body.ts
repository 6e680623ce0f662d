import { formatUs } from '../../core/time.ts'
import { type EventType, formatOf } from './event-types.ts'

export interface EventInBody {
  readonly id: string
  readonly type: EventType
  readonly atUs: number
  /** JSON object. */
  readonly data: string
}

/**
 * The body of the request that tells of an event. It is made anew for each attempt out of what is
 * stored, so nothing else may go into it: it has to be the same bytes for every receiver and
 * attempt (decisions.md#events-and-their-changes). The emitted format has a naive timestamp: UTC,
 * six decimals, no suffix.
 *
 * @throws Error for what goes to inbox and mail only
 */
export function bodyOf({ id, type, atUs, data }: EventInBody): string {
  const timestamp = formatUs(atUs)
  const format = formatOf(type)
  if (format === 'none') throw new Error(`${type} is sent to no webhook`)
  return format === 'emitted'
    ? `{"event_type":"${type}","timestamp":"${timestamp.slice(0, -1)}","data":${data}}`
    : `{"eventType":"${type}","eventId":"${id}","timestamp":"${timestamp}","data":${data}}`
}
