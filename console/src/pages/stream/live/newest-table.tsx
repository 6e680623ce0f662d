import type { VNode } from 'preact'
import { useMemo } from 'preact/hooks'
import type { StreamState } from '../../../api/event-stream.ts'
import { Badge } from '../../../components/badge.tsx'
import { ScrollArea } from '../../../components/scroll-area.tsx'
import { Empty, Skeleton } from '../../../components/states.tsx'
import type { StoredField } from '../../../formats/stored-fields.ts'
import { dateTime, zone } from '../../../formats/times.ts'
import { valueText } from '../../../formats/values.ts'
import type { LiveReadings, Reading } from './live-readings.ts'
import { newestMax } from './live-readings.ts'

/** A table with more columns is no overview. */
const columnsMax = 16

/** Widths of the time, and of the others at least. */
const timeRem = 14
const columnRem = 7

/** Characters of a text that a cell shows. */
const cellMax = 200

export interface NewestTableProps {
  readonly fields: readonly StoredField[]
  readonly readings: LiveReadings
  /** The table is drawn anew when it grows; -1 holds it as it is. */
  readonly beat: number
  readonly state: StreamState
}

/** The newest readings with all they say, the last one first. */
export function NewestTable({ fields, readings, beat, state }: NewestTableProps) {
  const columns = useMemo(() => fields.slice(0, columnsMax), [fields])
  // What did not change is the same element as before, and is not looked at.
  const rows = useMemo(() => readings.newest().slice(0, newestMax), [readings, beat])
  const drawn = useMemo(() => new WeakMap<Reading, VNode>(), [columns, zone.value])
  const table = useMemo(
    () => <Rows rows={rows} columns={columns} drawn={drawn} />,
    [rows, columns, drawn],
  )
  if (rows.length === 0) {
    // Nobody knows yet whether there are any; the line of the state says why.
    if (state.is !== 'open') return state.is === 'opening' ? <Skeleton /> : null
    return (
      <Empty title="No reading yet">
        <p>
          Readings show up here as soon as they arrive. The tab Access says where they are to be
          sent.
        </p>
      </Empty>
    )
  }
  return (
    <section aria-labelledby="newest-readings">
      <h2 id="newest-readings">Newest readings</h2>
      {fields.length > columnsMax && (
        <p class="soft">
          The first {columnsMax} of {fields.length} fields.
        </p>
      )}
      <ScrollArea label="Table of the newest readings" class="stream-newest">
        {table}
      </ScrollArea>
    </section>
  )
}

interface RowsProps {
  readonly rows: readonly Reading[]
  readonly columns: readonly StoredField[]
  readonly drawn: WeakMap<Reading, VNode>
}

/** Columns have a width of their own: else each new row would have all others laid out again. */
function Rows({ rows, columns, drawn }: RowsProps) {
  return (
    <table
      class="data cards stream-rows"
      style={{ minWidth: `${timeRem + (columns.length + 1) * columnRem}rem` }}
    >
      <caption class="visually-hidden">
        The newest {rows.length} readings, the last one first
      </caption>
      <thead>
        <tr>
          <th scope="col" class="stream-time-head">
            Time
          </th>
          {columns.map(({ name, type, unit }) => (
            <th
              key={name}
              scope="col"
              class={type === 'string' ? 'stream-column' : 'stream-column number'}
              title={name}
            >
              <bdi>{name}</bdi> {unit !== undefined && <span class="soft">{unit}</span>}
            </th>
          ))}
          <th scope="col">Flags</th>
        </tr>
      </thead>
      <tbody>{rows.map((reading) => rowOf(reading, columns, drawn))}</tbody>
    </table>
  )
}

const ids = new WeakMap<Reading, number>()
let idLast = 0

/** A row is drawn once: a reading does not change, and two hundred rows stand still while one comes. */
function rowOf(
  reading: Reading,
  columns: readonly StoredField[],
  drawn: WeakMap<Reading, VNode>,
): VNode {
  const known = drawn.get(reading)
  if (known) return known
  const id = ids.get(reading) ?? (idLast += 1)
  ids.set(reading, id)
  const row = <NewestRow key={id} reading={reading} columns={columns} />
  drawn.set(reading, row)
  return row
}

function NewestRow({
  reading,
  columns,
}: {
  readonly reading: Reading
  readonly columns: readonly StoredField[]
}) {
  const flagged = Object.keys(reading).filter((name) => name.endsWith(':flag'))
  return (
    <tr>
      <td class="title mono stream-time">{dateTime(reading.timestamp, 'ms')}</td>
      {columns.map(({ name, type }) => (
        <td key={name} data-label={name} class={type === 'string' ? '' : 'number'}>
          <bdi>{cellText(reading[name])}</bdi>
        </td>
      ))}
      <td data-label="Flags">
        {flagged.map((name) => (
          <Badge key={name} tone="warn">
            {name.slice(0, -':flag'.length)} {String(reading[name]).replaceAll('_', ' ')}
          </Badge>
        ))}
      </td>
    </tr>
  )
}

function cellText(value: unknown): string {
  const text = valueText(value)
  return text.length > cellMax ? `${text.slice(0, cellMax)}…` : text
}
