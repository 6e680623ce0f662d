import { idParams, integer, query, text } from '../../requests/http/schema.ts'

export const tailStream = {
  operationId: 'tailStream',
  summary: 'Follow the readings of a data stream as they arrive.',
  description: [
    'Server-Sent Events; with `Upgrade: websocket` the same as messages of a WebSocket. Each reading',
    'carries a position, from which one can go on later, in `from` or in `Last-Event-ID`: nothing is',
    'missing then, and nothing comes twice. See docs/live.md.',
  ].join(' '),
  tags: ['Readings'],
  params: idParams('streamId'),
  headers: {
    type: 'object',
    properties: {
      'last-event-id': {
        ...text,
        description: 'A position; goes before `from`, `start` and `last`.',
      },
    },
  },
  querystring: query({
    from: { ...text, description: 'A position from a tail of this stream: go on from there.' },
    start: {
      ...text,
      description: 'RFC 3339: first what is stored from then on, then what arrives.',
      examples: ['2026-01-31T00:00:00Z'],
    },
    last: integer(0, 10_000, {
      description: 'First the newest so many stored readings, then what arrives.',
    }),
    include: {
      enum: ['quarantined'],
      description: 'Also refused readings, as events of the name `quarantined`.',
    },
  }),
  response: {
    200: {
      description: 'Events until either side ends it; the last one says why the service did.',
      content: {
        'text/event-stream': {
          schema: {
            ...text,
            examples: [
              'id: MSAxMjM\ndata: {"timestamp":"2026-01-31T10:00:00.000000Z","temperature":21.5}\n\n',
            ],
          },
        },
      },
    },
  },
} as const
