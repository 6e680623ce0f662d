import { Download } from 'lucide'
import { useState } from 'preact/hooks'
import { api } from '../../../api/client.ts'
import { useResource } from '../../../api/resource.ts'
import type { Bucket } from '../../../charts/buckets.ts'
import type { TimeRange } from '../../../charts/field-plot.ts'
import { Action } from '../../../components/action.tsx'
import { Field } from '../../../components/field.tsx'
import { Icon } from '../../../components/icon.tsx'
import { Loaded } from '../../../components/states.tsx'
import { bytes, count } from '../../../formats/numbers.ts'
import { zone } from '../../../formats/times.ts'
import { withQuery } from '../../../routing/paths.ts'
import type { StreamDefinition } from '../stream-definition.ts'
import { askedFields } from './load-history.ts'

export interface TakeAwayProps {
  readonly stream: StreamDefinition
  readonly range: TimeRange
  /** What the charts show; undefined: readings. */
  readonly bucket: Bucket | undefined
  readonly fields: readonly string[]
}

const formats = ['parquet', 'csv', 'ndjson'] as const
type Format = (typeof formats)[number]

/** The range as a file: CSV at once, or an export that is written in the background. */
export function TakeAway({ stream, range, bucket, fields }: TakeAwayProps) {
  const { streamId } = stream
  const [start, end] = [new Date(range.fromMs).toISOString(), new Date(range.toMs).toISOString()]
  const csvOf = (rest: Readonly<Record<string, string>>) =>
    withQuery(`/streams/${encodeURIComponent(streamId)}/data`, {
      start,
      end,
      ...rest,
    })
  return (
    <section class="card stack" aria-labelledby="take-away">
      <h2 id="take-away">Take it away</h2>
      <div class="row">
        <a class="button" href={csvOf({})} download={`${streamId}.csv`}>
          <Icon of={Download} />
          Readings as CSV
        </a>
        {bucket && fields.length > 0 && (
          <a
            class="button"
            href={csvOf({
              aggregation: bucket.aggregation,
              tz: zone.value,
              fields: askedFields(fields).join(','),
            })}
            download={`${streamId}-${bucket.aggregation}.csv`}
          >
            <Icon of={Download} />
            By {bucket.name} as CSV
          </a>
        )}
      </div>
      <Export stream={stream} start={start} end={end} />
    </section>
  )
}

interface ExportProps {
  readonly stream: StreamDefinition
  readonly start: string
  readonly end: string
}

function Export({ stream, start, end }: ExportProps) {
  const [format, setFormat] = useState<Format>('parquet')
  const [exportId, setExport] = useState<string>()
  const begin = async () => {
    const streamIds = [stream.streamId]
    const { exportId: id } = await api.call('createExport', {
      body: { streamIds, start, end, format },
    })
    setExport(id)
  }
  return (
    <>
      <div class="row stream-export">
        <Field
          label="Export as files"
          hint="All fields, written in the background, kept for a week."
          control={(tied) => (
            <select
              {...tied}
              value={format}
              onChange={({ currentTarget }) => setFormat(currentTarget.value as Format)}
            >
              {formats.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          )}
        />
        <Action run={begin}>Begin the export</Action>
      </div>
      {exportId !== undefined && <ExportProgress key={exportId} exportId={exportId} />}
    </>
  )
}

const tickMs = 1000

function ExportProgress({ exportId }: { readonly exportId: string }) {
  const [isOver, setOver] = useState(false)
  const load = async (signal: AbortSignal) => {
    const job = await api.call('getExport', { path: { exportId }, signal })
    setOver(job.state !== 'queued' && job.state !== 'running')
    return job
  }
  const job = useResource(load, [exportId], isOver ? {} : { everyMs: tickMs })
  return (
    <Loaded of={job} lines={2}>
      {({ state, progress, rows, failure, files }) => (
        <div class="stack" role="status">
          <label class="row">
            <progress max={1} value={progress} />
            {state}, {count(rows)} readings written
          </label>
          {failure && (
            <p>
              {failure.message} <code>{failure.error}</code>
            </p>
          )}
          {files.length > 0 && (
            <ul>
              {files.map((file) => (
                <li key={file.name}>
                  <a
                    href={`/exports/${encodeURIComponent(exportId)}/files/${encodeURIComponent(file.name)}`}
                    download={file.name}
                  >
                    {file.name}
                  </a>{' '}
                  <span class="soft">
                    {count(file.rows)} readings, {bytes(file.bytes)}
                  </span>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </Loaded>
  )
}
