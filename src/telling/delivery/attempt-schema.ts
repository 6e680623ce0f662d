import * as s from '../../requests/http/schema.ts'

/**
 * What is said of every attempt to deliver, whatever channel it went by
 * (decisions.md#records-of-attempts).
 */
export const attemptFields = {
  id: s.uuid,
  created_at: s.dateTime,
  delivery_id: s.uuid,
  event_id: s.uuid,
  event_type: s.text,
  attempt: s.integer(1),
  status_code: s.typed<number | null>({ type: ['integer', 'null'] }),
  duration_ms: s.number,
  message: s.text,
  delivered: s.boolean,
  attempted_at: s.dateTime,
  next_attempt_at: s.nullable(s.dateTime),
}
