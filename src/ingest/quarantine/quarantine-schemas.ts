import { errorDetail } from '../../requests/http/openapi/error-answers.ts'
import {
  component,
  count,
  cursorQuery,
  dateTime,
  idParams,
  keyHeaders,
  listOf,
  noContent,
  nullable,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { idsMax } from './quarantine-requests.ts'

const entryId = { ...count, description: 'Offset of the reading in the journal.' } as const
const reason = { ...text, examples: ['schema_mismatch'] } as const

const quarantineEntry = component(
  'QuarantineEntry',
  record({
    id: entryId,
    reason,
    message: text,
    details: listOf(errorDetail),
    payload: { ...text, description: 'The bytes as they came.' },
    encoding: { enum: ['utf8', 'base64'], description: 'Of the payload.' },
    timestamp: nullable(dateTime),
    receivedAt: dateTime,
    source: { ...text, examples: ['http 192.0.2.7'] },
  }),
)

const receipt = {
  start: { ...text, description: 'Received then or later; RFC 3339.' },
  end: { ...text, description: 'Received before then; RFC 3339.' },
} as const

const filterQuery = {
  reason: { ...text, description: 'A comma list of reasons; every reason when absent.' },
  ...receipt,
} as const

const ofStream = { tags: ['Readings'], params: idParams('streamId') } as const
const ofEntry = {
  tags: ['Readings'],
  params: record({ streamId: uuid, entryId }),
} as const

export const listQuarantine = {
  operationId: 'listQuarantine',
  summary: 'List the refused readings of a data stream, oldest first.',
  description:
    'A page ends at `limit` entries or 4 MiB of payload, whichever comes first; `nextCursor` leads on.',
  ...ofStream,
  querystring: query({ ...filterQuery, ...cursorQuery }),
  response: {
    200: record({ streamId: uuid, entries: listOf(quarantineEntry), nextCursor: nullable(text) }),
  },
} as const

export const readQuarantineEntry = {
  operationId: 'readQuarantineEntry',
  summary: 'Read one refused reading.',
  ...ofEntry,
  response: { 200: quarantineEntry },
} as const

export const summarizeQuarantine = {
  operationId: 'summarizeQuarantine',
  summary: 'Count the refused readings of a data stream by reason.',
  ...ofStream,
  response: {
    200: record({
      streamId: uuid,
      entries: count,
      reasons: listOf(record({ reason, entries: { type: 'integer', minimum: 1 } })),
    }),
  },
} as const

export const redriveQuarantine = {
  operationId: 'redriveQuarantine',
  summary: 'Judge refused readings again, by the newest definition of the stream.',
  description: [
    'What fits now is stored, with the time at which it was received, and leaves the quarantine. What',
    'does not stays, and says why it does not fit the newest definition. Without a body all entries',
    'are judged. Asked for again after a failure it goes on with what is left.',
  ].join(' '),
  ...ofStream,
  headers: keyHeaders,
  body: nullable(
    record(
      {
        ids: listOf(entryId, { minItems: 1, maxItems: idsMax, description: 'Only these entries.' }),
        reason: {
          description: 'Only entries with this reason, or one of these.',
          oneOf: [reason, listOf(reason, { minItems: 1, maxItems: 100 })],
        },
        ...receipt,
      },
      { optional: ['ids', 'reason', 'start', 'end'], examples: [{ reason: 'schema_mismatch' }] },
    ),
  ),
  response: {
    200: record({
      streamId: uuid,
      redriven: { ...count, description: 'Entries that have left the quarantine.' },
      accepted: {
        ...count,
        description: 'Readings that fit now: a message may hold several.',
      },
      remaining: { ...count, description: 'Entries that were judged and stay.' },
      stillRefused: listOf(
        record({ id: entryId, reason, message: text, details: listOf(errorDetail) }),
        {
          maxItems: 100,
          description: 'Why: of the first 100 that stay.',
        },
      ),
    }),
  },
} as const

export const clearQuarantine = {
  operationId: 'clearQuarantine',
  summary: 'Delete refused readings of a data stream.',
  description: 'All of them, or those that the parameters choose. They are counted as discarded.',
  ...ofStream,
  querystring: query({
    ids: { ...text, description: 'A comma list of ids; every entry when absent.' },
    ...filterQuery,
  }),
  response: {
    204: {
      ...noContent,
      headers: { 'X-Deleted-Count': { description: 'How many there were.', schema: count } },
    },
  },
} as const

export const deleteQuarantineEntry = {
  operationId: 'deleteQuarantineEntry',
  summary: 'Delete one refused reading. It is counted as discarded.',
  ...ofEntry,
  response: { 204: noContent },
} as const
