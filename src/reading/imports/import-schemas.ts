import {
  component,
  count,
  cursorListOf,
  cursorQuery,
  describedOnly,
  idParams,
  keyHeaders,
  listOf,
  noContent,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { jobMembers } from '../jobs/job-schemas.ts'
import { importFormats } from './import-job.ts'

const tags = ['Exports and imports'] as const

const importSchema = component(
  'Import',
  record({
    importId: uuid,
    streamId: uuid,
    format: { enum: [...importFormats] },
    bytes: { ...count, description: 'Of the file.' },
    sha256: { ...text, description: 'Of the file, in hex.' },
    rows: { ...count, description: 'That are durable, or refused.' },
    accepted: { ...count, description: 'Duplicates among them.' },
    refused: count,
    duplicates: {
      ...count,
      description:
        'Readings of the stream that it had already, from the beginning of the import on, whoever sent them.',
    },
    refusals: listOf(record({ row: { type: 'integer', minimum: 1 }, error: text, message: text }), {
      description: 'The first ones; all that find room are in the quarantine.',
    }),
    ...jobMembers,
  }),
)

const rows = {
  type: 'string',
  examples: ['timestamp,temperature\r\n2026-01-31T10:00:00Z,21.5\r\n'],
}
const lines = {
  type: 'string',
  examples: ['{"timestamp":"2026-01-31T10:00:00Z","temperature":21.5}\n'],
}

export const importReadings = {
  operationId: 'importReadings',
  summary: 'Bring the rows of a file into a data stream, in the background.',
  description:
    'CSV with a head, NDJSON, or Parquet, as the content type says. Each row needs a time of its own; it is judged like a reading that was sent, and moves no alert. 202 means that the file is on disk. The same file can be imported again: nothing is stored twice.',
  tags,
  params: idParams('streamId'),
  headers: keyHeaders,
  body: {
    content: {
      'text/csv': { schema: describedOnly(rows) },
      'application/x-ndjson': { schema: describedOnly(lines) },
      'application/vnd.apache.parquet': {
        schema: describedOnly({ type: 'string', format: 'binary' }),
      },
    },
  },
  response: { 202: importSchema },
} as const

export const listImports = {
  operationId: 'listImports',
  summary: "List one's own imports.",
  tags,
  querystring: query(cursorQuery),
  response: { 200: cursorListOf(importSchema) },
} as const

const params = idParams('importId')

export const getImport = {
  operationId: 'getImport',
  summary: 'See how far an import is, and which rows were refused.',
  tags,
  params,
  response: { 200: importSchema },
} as const

export const cancelImport = {
  operationId: 'cancelImport',
  summary: 'End an import before it has come to the end of its file.',
  description:
    'What is stored stays, and it can be resumed. One that has ended already is answered as it is.',
  tags,
  params,
  headers: keyHeaders,
  response: { 200: importSchema },
} as const

export const resumeImport = {
  operationId: 'resumeImport',
  summary: 'Let an import that has failed or was cancelled go on.',
  description: 'Any other is answered as it is.',
  tags,
  params,
  headers: keyHeaders,
  response: { 202: importSchema },
} as const

export const deleteImport = {
  operationId: 'deleteImport',
  summary: 'Remove an import with its file.',
  description: 'What is stored stays.',
  tags,
  params,
  response: { 204: noContent },
} as const
