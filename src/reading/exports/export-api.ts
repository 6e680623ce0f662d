import type { Static } from 'typebox'
import { askedTimeOrNumber } from '../../requests/http/asked-range.ts'
import * as s from '../../requests/http/schema.ts'
import { type FailureRemedies, jobBody, jobMembers } from '../jobs/job-api.ts'
import { aggregationSchema, functionsNote, rangeParameters } from '../queries/data-api.ts'
import { streamSelection } from '../queries/query-api.ts'
import { contentTypes, type ExportFile, type ExportJob, exportFormats } from './export-job.ts'

const fieldsMax = 256

const format = { enum: [...exportFormats] } as const

const exportMembers = {
  exportId: s.uuid,
  streamIds: s.listOf(s.uuid),
  start: s.dateTime,
  end: s.dateTime,
  format,
  aggregation: s.text,
  tz: s.text,
  fields: s.nullable(s.listOf(s.text)),
  rows: { ...s.count, description: 'In the finished files.' },
  bytes: { ...s.count, description: 'Of the finished files.' },
  ...jobMembers,
} as const

export const exportSchema = s.component('Export', s.record(exportMembers))

const fileSchema = s.record({
  name: s.text,
  streamId: s.uuid,
  rows: s.count,
  bytes: s.count,
  sha256: s.text,
})

export const exportWithFilesSchema = s.component(
  'ExportWithFiles',
  s.record({
    ...exportMembers,
    files: s.listOf(fileSchema, {
      description: 'The finished ones, in the order of their streams and times.',
    }),
  }),
)

const optional = {
  ...streamSelection,
  start: askedTimeOrNumber('Included.'),
  end: askedTimeOrNumber('Excluded; what can be stored by now when absent.'),
  aggregation: {
    ...aggregationSchema,
    default: 'raw',
    description: `\`raw\`: the readings as they are stored; \`window\`: the windows of streams that have some; else ${aggregationSchema.description}`,
  },
  tz: rangeParameters.tz,
  fields: s.listOf(
    { ...s.text, maxLength: 128 },
    { minItems: 1, maxItems: fieldsMax, description: `All when absent. ${functionsNote}` },
  ),
} as const

export const newExportSchema = s.record(
  { ...optional, format },
  {
    optional: s.namesOf(optional),
    examples: [{ start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z', format: 'parquet' }],
  },
)

const contents = Object.fromEntries(
  exportFormats.map((name) => [
    contentTypes[name],
    { schema: { ...s.text, description: `The file, where it is ${name}.` } },
  ]),
)

export const fileAnswers = {
  200: { description: 'The file.', content: contents },
  206: { description: 'The part that the Range header asks for.', content: contents },
}

const remedies: FailureRemedies = {
  byCode: {
    conflict: 'Files of the export were changed on the disk: make it again with POST /exports.',
    not_found: 'A stream of the export is deleted: name the others with POST /exports.',
    too_many_points:
      'Export less time between start and end, or fewer streams, in each of several POST /exports.',
  },
  resume: 'POST /exports/{exportId}/resume',
}

export function exportBody(job: ExportJob): Static<typeof exportSchema> {
  const { id, request, rows, bytes } = job
  const { fields, ...rest } = request
  return { exportId: id, ...rest, fields: fields ?? null, rows, bytes, ...jobBody(job, remedies) }
}

export function fileBody({
  name,
  streamId,
  rows,
  bytes,
  sha256,
}: ExportFile): Static<typeof fileSchema> {
  return { name, streamId, rows, bytes, sha256 }
}
