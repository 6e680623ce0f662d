import { SplitKeys, splitTextBytesMax, splitValuesMax } from '../../../split-series.ts'
import { quoted } from '../../layout.ts'
import { selectedField } from '../field-values.ts'
import type { ReadSession } from '../session.ts'
import { ofStreams, within } from '../statement.ts'
import { type SelectedSplit, type Selection, type Source, splitCell } from './selection.ts'

/**
 * The selection with a series for each value of its field.
 *
 * @throws DomainError `too_many_points`, `unsupported_query`
 */
export async function splitSelection(
  session: ReadSession,
  selection: Selection,
  { field }: SelectedSplit,
): Promise<Selection> {
  const { query, sources } = selection
  const found = new SplitKeys(field)
  for (const source of sources) {
    const { storedSplit } = source
    for (const [value, isLong] of await session.rows(valuesSql(session, selection, source))) {
      if (Number(isLong) === 1) found.refuseLongText()
      found.add(splitCell(value, storedSplit))
    }
  }
  const keys = found.sorted()
  const series = new Map(keys.map((key, index) => [key, index]))
  return {
    ...selection,
    query: { ...query, series: keys.map((key) => ({ key, streamIds: [] })) },
    split: { field, series },
  }
}

/** Each value once, and in place of all long texts whether there is one; one row where the field is not stored. */
function valuesSql(
  session: ReadSession,
  { query }: Selection,
  { shape, streams, storedSplit }: Source,
): string {
  const from = `FROM ${session.tableOf(shape).name}
    WHERE ${ofStreams([...streams.keys()])}
      AND ${within({ fromUs: query.startUs, toUs: query.endUs })} AND ${session.visible}`
  if (!storedSplit) return `SELECT null, 0 ${from} LIMIT 1`
  const value = selectedField(storedSplit)
  if (storedSplit.type !== 'varchar') {
    return `SELECT DISTINCT ${value} AS v, 0 AS l ${from} LIMIT ${splitValuesMax + 1}`
  }
  const isLong = `length_bytes(${quoted(storedSplit.name)}) > ${splitTextBytesMax}`
  return `SELECT DISTINCT CASE WHEN ${isLong} THEN null ELSE ${value} END AS v,
      CASE WHEN ${isLong} THEN 1 ELSE 0 END AS l ${from} LIMIT ${splitValuesMax + 1}`
}
