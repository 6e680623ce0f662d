import { formatUs } from '../core/time.ts'
import { type EventType, formatOf } from './event-types.ts'

export interface EventInBody {
  readonly id: string
  readonly type: EventType
  readonly atUs: number
  /** JSON object. */
  readonly data: string
}

/**
 * The body of the request that tells of an event, the same for every receiver and attempt (D36). The
 * emitted format has a naive timestamp: UTC, six decimals, no suffix. Empty for what is never sent.
 */
export function bodyOf({ id, type, atUs, data }: EventInBody): string {
  const timestamp = formatUs(atUs)
  switch (formatOf(type)) {
    case 'emitted':
      return `{"event_type":"${type}","timestamp":"${timestamp.slice(0, -1)}","data":${data}}`
    case 'forthcoming':
      return `{"eventType":"${type}","eventId":"${id}","timestamp":"${timestamp}","data":${data}}`
    case 'none':
      return ''
    default:
      throw new Error(`no format of ${type}`)
  }
}
