import type { DecodedMessage } from '../../src/contracts/reading.ts'
import type { StreamSchema } from '../../src/contracts/stream-schema.ts'
import { sourceOf } from '../../src/core/number-sources.ts'
import { parseRfc3339 } from '../../src/core/time.ts'
import { MappedReading } from '../mapped-reading.ts'
import { timeReaderOf } from '../timestamp.ts'
import { isObject } from './item.ts'

/** The column with the time of a row, where the stream has no plain name for it. */
const usualColumn = 'timestamp'

/**
 * A row of a file as a reading of a stream that has a mapping. Its columns are fields by their names, as an export has
 * written them: no path is followed, and no value is read as anything else. Its time is in the column that is called
 * like the `timestampField`, or in `timestamp`, where it may be in RFC 3339 as well.
 */
export function rowReading(row: unknown, schema: StreamSchema): unknown {
  if (!isObject(row)) return row
  const column = timeColumnOf(row, schema)
  if (column === undefined) return new MappedReading(row, undefined)
  const value = row[column]
  const written = typeof value === 'string' ? parseRfc3339(value) : undefined
  const claimedUs =
    column === usualColumn && typeof written === 'number'
      ? written
      : timeReaderOf(schema)({ value, source: sourceOf(row, column) })
  if (Object.hasOwn(schema.fields, column)) return new MappedReading(row, claimedUs)
  const { [column]: _time, ...values } = row
  return new MappedReading(values, claimedUs)
}

/** Rows that were decoded, as readings of a stream that has a mapping. */
export function rowReadings(decoded: DecodedMessage, schema: StreamSchema): DecodedMessage {
  return { ...decoded, readings: decoded.readings.map((row) => rowReading(row, schema)) }
}

/** The column that a row has its time in; undefined where it has none. */
export function timeColumnOf(row: object, { timestampField }: StreamSchema): string | undefined {
  return [timestampField, usualColumn].find((name) => Object.hasOwn(row, name))
}
