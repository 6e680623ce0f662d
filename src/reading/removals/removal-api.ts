import * as s from '../../requests/http/schema.ts'

/** Both ends have to be said: nobody removes all by leaving one out. */
export const removalQuery = s.record({
  start: { ...s.text, description: 'RFC 3339; included.', examples: ['2026-01-31T00:00:00Z'] },
  end: { ...s.text, description: 'RFC 3339; excluded.', examples: ['2026-02-01T00:00:00Z'] },
})

export const acceptedRemovalSchema = s.record(
  { streamId: s.uuid, start: s.dateTime, end: s.dateTime, status: { const: 'accepted' } },
  { description: 'Durable, and done as soon as the store can.' },
)
