import {
  count,
  dateTime,
  describedOnly,
  idParams,
  integer,
  keyHeaders,
  listOf,
  noContent,
  nullable,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { streamStatus } from './data-stream-schemas.ts'
import { definition, definitionChange, streamVersion } from './definition-schemas.ts'

export const changeStream = {
  operationId: 'changeStream',
  summary: 'Change a data stream.',
  description: [
    'What is not sent stays. The definition as it would be is checked as for a new stream, and becomes',
    'the next version, unless it says what the version before did. Readings that arrive after the answer',
    'are judged by it.',
  ].join(' '),
  tags: ['Data streams'],
  params: idParams('streamId'),
  body: describedOnly(definitionChange),
  response: { 200: definition },
} as const

export const deleteStream = {
  operationId: 'deleteStream',
  summary: 'Delete a data stream with all of its readings.',
  description:
    'It is gone at once, and its vault is free. Its data is removed in the background; `GET /streams/{streamId}/deletion` tells when that is done.',
  tags: ['Data streams'],
  params: idParams('streamId'),
  response: { 204: noContent },
} as const

export const readStreamDeletion = {
  operationId: 'readStreamDeletion',
  summary: 'Read how far the data of a deleted stream is removed.',
  description: 'For 30 days after that is done.',
  tags: ['Data streams'],
  params: idParams('streamId'),
  response: {
    200: record({
      streamId: uuid,
      name: text,
      status: { const: 'deleted' },
      deletedAt: dateTime,
      removedAt: { ...nullable(dateTime), description: 'Null while there is data left.' },
      removed: record({
        readings: { ...count, description: 'Out of the store.' },
        quarantined: { ...count, description: 'Out of the quarantine.' },
      }),
    }),
  },
} as const

export const pauseStream = {
  operationId: 'pauseStream',
  summary: 'Pause a data stream.',
  description: [
    'From the answer on, readings over HTTP are refused with 409 `stream_paused`, and are not received;',
    'readings over MQTT are kept in the quarantine. Pausing a paused stream changes nothing.',
  ].join(' '),
  tags: ['Data streams'],
  params: idParams('streamId'),
  headers: keyHeaders,
  response: { 200: streamStatus },
} as const

export const resumeStream = {
  operationId: 'resumeStream',
  summary: 'Let a paused data stream go on.',
  description: 'Resuming a stream that is not paused changes nothing.',
  tags: ['Data streams'],
  params: idParams('streamId'),
  headers: keyHeaders,
  response: { 200: streamStatus },
} as const

export const listStreamVersions = {
  operationId: 'listStreamVersions',
  summary: 'List the versions of a data stream, newest first.',
  tags: ['Data streams'],
  params: idParams('streamId'),
  querystring: query({
    limit: integer(1, 100, { default: 20 }),
    cursor: integer(1, undefined, { description: 'From the answer before.' }),
  }),
  response: {
    200: record({
      streamId: uuid,
      versions: listOf(streamVersion),
      nextCursor: nullable({ type: 'integer', minimum: 1 }),
    }),
  },
} as const
