import {
  component,
  count,
  cursorListOf,
  cursorQuery,
  dateTime,
  idParams,
  keyHeaders,
  listOf,
  namesOf,
  noContent,
  nullable,
  query,
  record,
  text,
  uuid,
} from '../../requests/http/schema.ts'
import { jobMembers } from '../jobs/job-schemas.ts'
import { aggregationSchema, functionsNote, rangeParameters } from '../queries/data-schemas.ts'
import { streamSelection } from '../queries/query-schemas.ts'
import { contentTypes, exportFormats } from './export-job.ts'

const fieldsMax = 256

const tags = ['Exports and imports'] as const

const format = { enum: [...exportFormats] } as const

const exportMembers = {
  exportId: uuid,
  streamIds: listOf(uuid),
  start: dateTime,
  end: dateTime,
  format,
  aggregation: text,
  tz: text,
  fields: nullable(listOf(text)),
  rows: { ...count, description: 'In the finished files.' },
  bytes: { ...count, description: 'Of the finished files.' },
  ...jobMembers,
} as const

const exportSchema = component('Export', record(exportMembers))

const exportWithFiles = component(
  'ExportWithFiles',
  record({
    ...exportMembers,
    files: listOf(record({ name: text, streamId: uuid, rows: count, bytes: count, sha256: text }), {
      description: 'The finished ones, in the order of their streams and times.',
    }),
  }),
)

const optional = {
  ...streamSelection,
  start: rangeParameters.start,
  end: {
    ...rangeParameters.end,
    description: 'RFC 3339; excluded. What can be stored by now when absent.',
  },
  aggregation: {
    ...aggregationSchema,
    default: 'raw',
    description: `\`raw\`: the readings as they are stored; \`window\`: the windows of streams that have some; else ${aggregationSchema.description}`,
  },
  tz: rangeParameters.tz,
  fields: listOf(
    { ...text, maxLength: 128 },
    { minItems: 1, maxItems: fieldsMax, description: `All when absent. ${functionsNote}` },
  ),
} as const

export const createExport = {
  operationId: 'createExport',
  summary: 'Write the readings of data streams into files, in the background.',
  description:
    'Of all your streams, or of those that meet all of `streamIds`, `vaultId`, `name` and `tags`. Each stream gets one file or more.',
  tags,
  headers: keyHeaders,
  body: record(
    { ...optional, format },
    {
      optional: namesOf(optional),
      examples: [{ start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z', format: 'parquet' }],
    },
  ),
  response: { 202: exportSchema },
} as const

export const listExports = {
  operationId: 'listExports',
  summary: "List one's own exports.",
  tags,
  querystring: query(cursorQuery),
  response: { 200: cursorListOf(exportSchema) },
} as const

const params = idParams('exportId')

export const getExport = {
  operationId: 'getExport',
  summary: 'See how far an export is, and what it has written.',
  tags,
  params,
  response: { 200: exportWithFiles },
} as const

export const cancelExport = {
  operationId: 'cancelExport',
  summary: 'End an export before it has written all.',
  description:
    'Its finished files stay, and it can be resumed. One that has ended already is answered as it is.',
  tags,
  params,
  headers: keyHeaders,
  response: { 200: exportSchema },
} as const

export const resumeExport = {
  operationId: 'resumeExport',
  summary: 'Let an export that has failed or was cancelled go on after its last file.',
  description: 'Any other is answered as it is.',
  tags,
  params,
  headers: keyHeaders,
  response: { 202: exportSchema },
} as const

export const deleteExport = {
  operationId: 'deleteExport',
  summary: 'Remove an export with its files.',
  tags,
  params,
  response: { 204: noContent },
} as const

const contents = Object.fromEntries(
  exportFormats.map((name) => [
    contentTypes[name],
    { schema: { type: 'string', description: `The file, where it is ${name}.` } },
  ]),
)

export const downloadFile = {
  operationId: 'downloadExportFile',
  summary: 'Download a file that an export has written.',
  description:
    'With `Range: bytes=...` (one range) a part of it; `ETag` is its SHA-256, and counts for `If-Range`.',
  tags,
  params: record({ exportId: uuid, name: text }),
  response: {
    200: { description: 'The file.', content: contents },
    206: { description: 'The part that the Range header asks for.', content: contents },
  },
} as const
