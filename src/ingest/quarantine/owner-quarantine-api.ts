import type { Static } from 'typebox'
import * as s from '../../requests/http/schema.ts'
import type { HeldOfStream } from './owner-quarantine.ts'
import { entryBody, entryFields, filterParameters, reason } from './quarantine-api.ts'

export const ownerListQuery = s.query({
  streamId: { ...s.uuid, description: 'Only entries of this stream.' },
  ...filterParameters,
  ...s.cursorQuery,
})

const entryOfStream = s.component(
  'QuarantineEntryOfStream',
  s.record({ streamId: s.uuid, streamName: s.text, ...entryFields }),
)

export const ownerListSchema = s.record({
  entries: s.listOf(entryOfStream),
  nextCursor: s.nullable(s.text),
})

export const ownerSummaryQuery = s.query({
  limit: s.integer(1, 1_000, { default: 100, description: 'Groups that are shown.' }),
})

export const reasonCounts = s.listOf(s.record({ reason, entries: s.integer(1) }))

export const groupSchema = s.record({
  streamId: s.uuid,
  streamName: s.text,
  reason,
  entries: s.integer(1),
})

export const ownerSummarySchema = s.record({
  entries: s.count,
  reasons: reasonCounts,
  groups: s.listOf(groupSchema, { description: 'The largest ones, the largest first.' }),
  groupCount: { ...s.count, description: 'How many groups there are, those left out included.' },
})

export function entryOfStreamBody(held: HeldOfStream): Static<typeof entryOfStream> {
  const { streamId, streamName } = held
  return { streamId, streamName, ...entryBody(held) }
}
