import type { Static } from 'typebox'
import { parseJson } from '../../core/parse-json.ts'
import { formatUs } from '../../core/time.ts'
import * as s from '../../requests/http/schema.ts'
import type { RefusedReadingNote } from '../../storage/time-series/refused-readings.ts'

const refusedReading = s.component(
  'RefusedReading',
  s.record({
    id: { ...s.count, description: 'Offset of the reading in the journal.' },
    timestamp: s.dateTime,
    values: s.typed<unknown>({
      type: 'object',
      additionalProperties: true,
      description: 'Its declared fields.',
    }),
    message: { ...s.text, description: 'What the server said.' },
  }),
)

export const refusedQuery = s.query(s.cursorQuery)

export const refusedSchema = s.record({
  streamId: s.uuid,
  readings: s.listOf(refusedReading),
  nextCursor: s.nullable(s.text),
})

export function refusedBody(note: RefusedReadingNote): Static<typeof refusedReading> {
  const { entry, timestampUs, values, message } = note
  return {
    id: entry,
    timestamp: formatUs(timestampUs),
    values: parseJson(values),
    message,
  }
}
