import { shownText } from './shown-text.ts'

/** Cells are not cut below this: less says nothing. */
const cellWidthMin = 8

const gap = '  '

/**
 * Rows under headings, for people: columns as wide as their longest cell. In a terminal the longest ones are cut until
 * the table fits, but for the first column: it has what the next command needs.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  terminalWidth = widthOfTerminal(),
): string {
  const all = [headings, ...rows.map((row) => row.map(shownText))]
  const longest = headings.map((_, column) =>
    Math.max(...all.map((row) => (row[column] ?? '').length)),
  )
  const widths = fitted(longest, terminalWidth)
  return all
    .map((row) => row.map((cell, column) => padded(cell, widths[column] ?? 0)).join(gap))
    .map((line) => line.trimEnd())
    .join('\n')
}

/** One record, a member a line. */
export function record(members: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(members).map((name) => name.length))
  return Object.entries(members)
    .map(([name, value]) => `${name.padEnd(width)}  ${shownText(value)}`.trimEnd())
    .join('\n')
}

/** Infinite where the output is no terminal: a program gets all of it. */
function widthOfTerminal(): number {
  return process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY
}

/** Widths of which the widest are smaller, as far as that is needed and possible. */
function fitted(longest: readonly number[], terminalWidth: number): readonly number[] {
  const widths = [...longest]
  const total = () => widths.reduce((sum, width) => sum + width + gap.length, -gap.length)
  while (total() > terminalWidth) {
    const widest = widths.indexOf(Math.max(...widths.slice(1)), 1)
    if (widest === -1 || (widths[widest] ?? 0) <= cellWidthMin) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

function padded(cell: string, width: number): string {
  return cell.length > width ? `${cell.slice(0, width - 1)}…` : cell.padEnd(width)
}
