import { boolean, dateTime, nullable, number, text, uuid } from '../../requests/http/schema.ts'

/**
 * What is said of every attempt to deliver, whatever channel it went by
 * (decisions.md#records-of-attempts).
 */
export const attemptFields = {
  id: uuid,
  created_at: dateTime,
  delivery_id: uuid,
  event_id: uuid,
  event_type: text,
  attempt: { type: 'integer', minimum: 1 },
  status_code: nullable({ type: 'integer' }),
  duration_ms: number,
  message: text,
  delivered: boolean,
  attempted_at: dateTime,
  next_attempt_at: nullable(dateTime),
} as const
