import { parse } from 'csv-parse/sync'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DataPoint } from '../../src/storage/time-series/readings-query.ts'
import { headOf, linesOf } from '../../src/streams/data-streams/readings-text.ts'

/** What spoils CSV, or what spreadsheets take for formulas. */
const hostileText = fc.oneof(
  fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
  fc
    .array(fc.constantFrom('"', ',', '\r', '\n', '\r\n', ' ', '=', '+', '-', '@', 'é', '\u{1f525}'))
    .map((parts) => parts.join('')),
  fc.constantFrom('=1+1', '@SUM(A1)', '-2', '+3', 'null', 'true', '1e5', '\ufeff', ' a ', "'", ';'),
)

const value = fc.oneof(
  hostileText,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.dictionary(fc.string(), fc.integer()),
  fc.array(hostileText),
)

const names = ['mode', 'note', 'temperature'] as const

const point: fc.Arbitrary<DataPoint> = fc.record(
  {
    timestampUs: fc.integer({ min: 0, max: 4_102_444_800_000_000 }),
    values: fc.record({ mode: value, note: value, temperature: value }, { requiredKeys: [] }),
    extra: fc.dictionary(hostileText, value, { minKeys: 1 }),
    flagged: fc.subarray([...names], { minLength: 1 }),
  },
  { requiredKeys: ['timestampUs', 'values'] },
)

interface Cell {
  readonly text: string
  readonly isQuoted: boolean
}

/** What a reader of RFC 4180 finds. */
function cellsOf(csv: string): readonly Readonly<Record<string, Cell>>[] {
  return parse<Record<string, Cell>>(csv, {
    columns: true,
    record_delimiter: '\r\n',
    cast: (text, { quoting, header }) => (header ? text : { text, isQuoted: quoting }),
  })
}

const columns = { fields: names, withExtra: true }

function csvOf(points: readonly DataPoint[]): string {
  return headOf('csv', columns) + Buffer.from(linesOf('csv', points, columns)).toString()
}

describe('CSV', () => {
  test('gives every value back as it was, by its JSON text or as the text that it is', () => {
    fc.assert(
      fc.property(fc.array(point, { maxLength: 8 }), (points) => {
        const records = cellsOf(csvOf(points))
        expect(records).toHaveLength(points.length)
        for (const [index, { values, extra, flagged = [] }] of points.entries()) {
          const record = records[index] ?? {}
          for (const name of names)
            expect(valueOf(record[name], values[name])).toEqual(values[name])
          expect(valueOf(record['extra'], extra)).toEqual(jsonOf(extra))
          expect(record[':flag']?.text).toBe(flagged.join(' '))
        }
      }),
      { numRuns: 300 },
    )
  })

  test('tells an empty text from none', () => {
    const points = [
      { timestampUs: 0, values: { mode: '' } },
      { timestampUs: 0, values: {} },
    ]
    expect(csvOf(points).split('\r\n').slice(1, 3)).toEqual([
      '1970-01-01T00:00:00.000000Z,"",,,,',
      '1970-01-01T00:00:00.000000Z,,,,,',
    ])
  })

  test('leaves alone what a spreadsheet would take for a formula', () => {
    const points = ['=1+1', '+1', '-1', '@A1'].map((mode) => ({ timestampUs: 0, values: { mode } }))
    expect(cellsOf(csvOf(points)).map(({ mode }) => mode?.text)).toEqual([
      '=1+1',
      '+1',
      '-1',
      '@A1',
    ])
  })

  test('of some fields has these, and their flags only', () => {
    const chosen = { fields: ['note', 'mode'], withExtra: false }
    const points = [{ timestampUs: 0, values: { mode: 'a', note: 'b' }, flagged: ['mode', 'x'] }]
    const lines = Buffer.from(linesOf('csv', points, chosen)).toString()
    expect(headOf('csv', chosen) + lines).toBe(
      'timestamp,note,mode,:flag\r\n1970-01-01T00:00:00.000000Z,b,a,mode\r\n',
    )
  })
})

/** The value that a cell stands for, read by what kind of value was written. */
function valueOf(cell: Cell | undefined, written: unknown): unknown {
  if (cell === undefined) throw new Error('the column is missing')
  if (typeof written === 'string') return cell.text === '' && !cell.isQuoted ? undefined : cell.text
  if (cell.text === '' && !cell.isQuoted) return undefined
  const read: unknown = JSON.parse(cell.text)
  // JSON has one zero.
  return Object.is(written, -0) && read === 0 ? -0 : read
}

function jsonOf(written: unknown): unknown {
  return written === undefined ? undefined : JSON.parse(JSON.stringify(written))
}

describe('NDJSON', () => {
  test('has no head and a line for each reading, whatever their texts are', () => {
    fc.assert(
      fc.property(fc.array(point, { maxLength: 5 }), (points) => {
        const text = Buffer.from(linesOf('ndjson', points, columns)).toString()
        const lines = text.split('\n')
        expect(headOf('ndjson', columns)).toBe('')
        expect(lines.pop()).toBe('')
        expect(lines).toHaveLength(points.length)
        for (const [index, { values }] of points.entries()) {
          expect(JSON.parse(lines[index] ?? '')).toMatchObject(jsonOf(values) as object)
        }
      }),
    )
  })
})
