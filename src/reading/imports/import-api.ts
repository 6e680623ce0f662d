import type { Static } from 'typebox'
import { refusalRemedy } from '../../core/refusal-catalogue.ts'
import * as s from '../../requests/http/schema.ts'
import { type FailureRemedies, jobBody, jobMembers } from '../jobs/job-api.ts'
import { type ImportJob, importFormats } from './import-job.ts'

export const importSchema = s.component(
  'Import',
  s.record({
    importId: s.uuid,
    streamId: s.uuid,
    format: { enum: [...importFormats] } as const,
    bytes: { ...s.count, description: 'Of the file.' },
    sha256: { ...s.text, description: 'Of the file, in hex.' },
    rows: { ...s.count, description: 'That are durable, or refused.' },
    accepted: { ...s.count, description: 'Duplicates among them.' },
    refused: s.count,
    duplicates: {
      ...s.count,
      description:
        'Readings of the stream that it had already, from the beginning of the import on, from any sender.',
    },
    refusals: s.listOf(
      s.record({ row: s.integer(1), error: s.text, message: s.text, remedy: s.text }),
      {
        description: 'The first ones; all that find room are in the quarantine.',
      },
    ),
    ...jobMembers,
  }),
)

const rows = {
  ...s.text,
  examples: ['timestamp,temperature\r\n2026-01-31T10:00:00Z,21.5\r\n'],
}
const lines = {
  ...s.text,
  examples: ['{"timestamp":"2026-01-31T10:00:00Z","temperature":21.5}\n'],
}

/** Its body is a file, which is on the disk before a handler runs. */
export const importReadings = {
  operationId: 'importReadings',
  summary: 'Bring the rows of a file into a data stream, in the background.',
  description:
    'CSV with a head, NDJSON, or Parquet, as the content type says. Each row needs a time of its own; it is judged like a reading that was sent, and moves no alert. 202 means that the file is on disk. The same file can be imported again: nothing is stored twice.',
  tags: ['Exports and imports'],
  params: s.record({ streamId: s.uuid }),
  headers: s.keyHeaders,
  body: {
    content: {
      'text/csv': { schema: s.describedOnly(rows) },
      'application/x-ndjson': { schema: s.describedOnly(lines) },
      'application/vnd.apache.parquet': {
        schema: s.describedOnly({ type: 'string', format: 'binary' }),
      },
    },
  },
  response: { 202: importSchema },
} as const

const remedies: FailureRemedies = {
  byCode: {
    not_found:
      'The stream of the import, or its file, is deleted: send the file again with POST /streams/{streamId}/import.',
    stream_paused:
      'Resume the stream with POST /streams/{streamId}/resume, then go on with POST /imports/{importId}/resume.',
  },
  resume: 'POST /imports/{importId}/resume',
}

export function importBody(job: ImportJob): Static<typeof importSchema> {
  const { id, streamId, format, bytes, sha256, nextRow, accepted, refused, duplicates } = job
  const file = { format, bytes, sha256 }
  const refusals = job.refusals.map((one) => ({ ...one, remedy: refusalRemedy(one.error) }))
  const counts = { rows: nextRow, accepted, refused, duplicates }
  return { importId: id, streamId, ...file, ...counts, refusals, ...jobBody(job, remedies) }
}
