import { askedTime } from '../../requests/http/asked-range.ts'
import * as s from '../../requests/http/schema.ts'

export const tailHeaders = {
  type: 'object',
  properties: {
    'last-event-id': {
      ...s.text,
      description: 'A position; goes before `from`, `start` and `last`.',
    },
  },
}

export const tailQuery = s.query({
  from: { ...s.text, description: 'A position from a tail of this stream: go on from there.' },
  start: askedTime('First what is stored from then on, then what arrives.'),
  last: s.integer(0, 10_000, {
    description: 'First the newest so many stored readings, then what arrives.',
  }),
  include: {
    enum: ['quarantined'],
    description: 'Also refused readings, as events of the name `quarantined`.',
  } as const,
})

export const tailAnswer = {
  description: 'Events until either side ends it; the last one says why the service did.',
  content: {
    'text/event-stream': {
      schema: {
        ...s.text,
        examples: [
          'id: MSAxMjM\ndata: {"timestamp":"2026-01-31T10:00:00.000000Z","temperature":21.5}\n\n',
        ],
      },
    },
  },
}
