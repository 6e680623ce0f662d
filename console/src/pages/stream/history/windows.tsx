import { useState } from 'preact/hooks'
import { api } from '../../../api/client.ts'
import { useResource } from '../../../api/resource.ts'
import type { TimeRange } from '../../../charts/field-plot.ts'
import { Badge } from '../../../components/badge.tsx'
import { ScrollArea } from '../../../components/scroll-area.tsx'
import { Loaded } from '../../../components/states.tsx'
import { Time } from '../../../components/time.tsx'
import { count } from '../../../formats/numbers.ts'
import { computedText } from '../../../formats/values.ts'
import type { StreamDefinition } from '../stream-definition.ts'
import type { DataPoint } from './load-history.ts'

const windowsMax = 200
const columnsMax = 12
const ownKeys: readonly string[] = ['timestamp', 'count', 'revision', 'computedAt']

/** The windows that the stream computes by itself, where its definition says so. */
export function Windows({
  stream,
  range,
}: {
  readonly stream: StreamDefinition
  readonly range: TimeRange
}) {
  const [isOpen, setOpen] = useState(false)
  const { frequency, aggregation } = stream.processing
  if (typeof frequency !== 'string' || typeof aggregation !== 'string') return null
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Windows of {frequency}, {aggregation}
      </summary>
      {isOpen && <WindowTable streamId={stream.streamId} range={range} />}
    </details>
  )
}

function WindowTable({
  streamId,
  range: { fromMs, toMs },
}: {
  readonly streamId: string
  readonly range: TimeRange
}) {
  const windows = useResource(
    (signal) => {
      const [start, end] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()]
      const query = { aggregation: 'window', start, end, limit: windowsMax }
      return api.call('readReadings', { path: { streamId }, query, signal })
    },
    [streamId, fromMs, toMs],
  )
  return (
    <Loaded
      of={windows}
      isEmpty={({ data }) => data.length === 0}
      empty={<p class="soft">No window begins in this range.</p>}
    >
      {({ data, nextCursor }) => (
        <>
          {nextCursor !== null && <p class="soft">The first {count(data.length)} of this range.</p>}
          <ScrollArea label="Windows of the stream" class="stream-figures">
            <WindowRows data={data} />
          </ScrollArea>
        </>
      )}
    </Loaded>
  )
}

function WindowRows({ data }: { readonly data: readonly DataPoint[] }) {
  const keys = new Set(
    data.flatMap((point) => Object.keys(point)).filter((key) => !ownKeys.includes(key)),
  )
  const columns = [...keys].slice(0, columnsMax)
  return (
    <table class="data cards">
      <caption class="visually-hidden">Windows</caption>
      <thead>
        <tr>
          <th scope="col">From</th>
          {columns.map((key) => (
            <th key={key} scope="col" class="number">
              <bdi>{key}</bdi>
            </th>
          ))}
          <th scope="col" class="number">
            Readings
          </th>
          <th scope="col">Revision</th>
          <th scope="col">Computed</th>
        </tr>
      </thead>
      <tbody>
        {data.map((point) => (
          <tr key={point.timestamp}>
            <td class="title">
              <Time at={point.timestamp} />
            </td>
            {columns.map((key) => (
              <td key={key} data-label={key} class="number">
                <bdi>{computedText(point[key])}</bdi>
              </td>
            ))}
            <td data-label="Readings" class="number">
              {count(point.count ?? 0)}
            </td>
            <td data-label="Revision">
              {(point.revision ?? 1) > 1 ? (
                <Badge tone="warn">revision {point.revision}</Badge>
              ) : (
                'first'
              )}
            </td>
            <td data-label="Computed">
              <Time at={point.computedAt} none="open, or being revised" />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
