import { expect, test } from 'vitest'
import { record, table, widthOf } from '../../src/cli/table.ts'

const headings = ['ID', 'NAME', 'MESSAGE']
const rows = [
  ['0190a5c1-7c3e', 'boiler 7', 'temperature 90 is above 80'],
  ['0190a5c2-1b2c', 'the boiler of the north wing', 'nothing'],
]

test('a table has columns as wide as their longest cell', () => {
  expect(table(headings, rows, Number.POSITIVE_INFINITY).split('\n')).toEqual([
    'ID             NAME                          MESSAGE',
    '0190a5c1-7c3e  boiler 7                      temperature 90 is above 80',
    '0190a5c2-1b2c  the boiler of the north wing  nothing',
  ])
})

test.each([
  [
    60,
    [
      '0190a5c1-7c3e  boiler 7                      temperature 90…',
      '0190a5c2-1b2c  the boiler of the north wing  nothing',
    ],
  ],
  [40, ['0190a5c1-7c3e  boiler 7         tempera…', '0190a5c2-1b2c  the boiler of …  nothing']],
  // Less than what says anything is not shown: the line is longer than the terminal then.
  [10, ['0190a5c1-7c3e  boiler 7  tempera…', '0190a5c2-1b2c  the boi…  nothing']],
])('in a terminal of %i columns its last columns are cut, and never the first', (width, lines) => {
  const [, ...shown] = table(headings, rows, width).split('\n')
  expect(shown).toEqual(lines)
})

test('a cell stays in its line, and a terminal obeys nothing in it', () => {
  const [, row = ''] = table(['ID', 'NAME'], [['1', 'a\nb\u001b[31m \u202ec \u{1F525}']], 80).split(
    '\n',
  )
  expect(row).toBe('1   a\\u000ab\\u001b[31m \\u202ec \u{1F525}')
  expect(record({ name: 'a\rb' })).toBe('name  a\\u000db')
})

test.each([
  [false, 80, Number.POSITIVE_INFINITY],
  [true, 80, 80],
  // A terminal of a program that sets no size.
  [true, 0, Number.POSITIVE_INFINITY],
])('an output that is a terminal: %j, of %i columns, shows %d', (isTTY, columns, width) => {
  expect(widthOf({ isTTY, columns })).toBe(width)
})
