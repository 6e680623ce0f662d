import { askedTime } from '../../requests/http/asked-range.ts'
import * as s from '../../requests/http/schema.ts'

/** Both ends have to be said: nobody removes all by leaving one out. */
export const removalQuery = s.record({
  start: askedTime('Included.'),
  end: askedTime('Excluded.'),
})

export const acceptedRemovalSchema = s.record(
  { streamId: s.uuid, start: s.dateTime, end: s.dateTime, status: { const: 'accepted' } },
  { description: 'Durable, and done as soon as the store can.' },
)
