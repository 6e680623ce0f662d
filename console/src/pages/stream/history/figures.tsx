import { useState } from 'preact/hooks'
import { ScrollArea } from '../../../components/scroll-area.tsx'
import { count } from '../../../formats/numbers.ts'
import type { StoredField } from '../../../formats/stored-fields.ts'
import { dateTime } from '../../../formats/times.ts'
import { computedText, valueText } from '../../../formats/values.ts'
import type { DataPoint, History } from './load-history.ts'

/** Rows that are drawn at first, and with each further press. */
const rowsStep = 200

const columnsMax = 16

/** What the charts show, as figures: the newest first. */
export function Figures({
  history,
  fields,
}: {
  readonly history: History
  readonly fields: readonly StoredField[]
}) {
  const [isOpen, setOpen] = useState(false)
  if (history.points.length === 0) return null
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The figures as a table</summary>
      {isOpen && <FigureTable history={history} fields={fields.slice(0, columnsMax)} />}
    </details>
  )
}

interface Column {
  readonly key: string
  readonly name: string
}

function columnsOf({ bucket }: History, fields: readonly StoredField[]): readonly Column[] {
  if (bucket === undefined) return fields.map(({ name }) => ({ key: name, name }))
  const columns = fields.flatMap(({ name }) => [
    { key: name, name: `${name} average` },
    { key: `${name}:min`, name: 'least' },
    { key: `${name}:max`, name: 'greatest' },
  ])
  return [...columns, { key: 'count', name: 'readings' }]
}

function FigureTable({
  history,
  fields,
}: {
  readonly history: History
  readonly fields: readonly StoredField[]
}) {
  const [shown, setShown] = useState(rowsStep)
  const { points, bucket } = history
  const columns = columnsOf(history, fields)
  const textOf = (point: DataPoint, key: string) =>
    bucket === undefined ? valueText(point[key]) : computedText(point[key])
  return (
    <>
      <ScrollArea label="Figures" class="stream-figures">
        <table class="data cards">
          <caption class="visually-hidden">
            {bucket === undefined ? 'Readings' : `A row for each ${bucket.name}`}
          </caption>
          <thead>
            <tr>
              <th scope="col">{bucket === undefined ? 'Time' : 'From'}</th>
              {columns.map(({ key, name }) => (
                <th key={key} scope="col" class="number">
                  <bdi>{name}</bdi>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {points
              .toReversed()
              .slice(0, shown)
              .map((point, at) => (
                <tr key={at}>
                  <td class="title mono stream-time">
                    {dateTime(point.timestamp, bucket ? 'seconds' : 'ms')}
                  </td>
                  {columns.map(({ key, name }) => (
                    <td key={key} data-label={name} class="number">
                      <bdi>{textOf(point, key)}</bdi>
                    </td>
                  ))}
                </tr>
              ))}
          </tbody>
        </table>
      </ScrollArea>
      {points.length > shown && (
        <button type="button" class="button" onClick={() => setShown(shown + rowsStep)}>
          {count(shown)} of {count(points.length)}: show more
        </button>
      )}
    </>
  )
}
