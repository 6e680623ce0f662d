import { shownText } from './shown-text.ts'

/** Cells are not cut below this: less says nothing. */
const cellWidthMin = 8

const gap = '  '

/**
 * Rows under headings, for people: columns as wide as their longest cell. In a terminal the last ones are cut until the
 * table fits, but for the first column: it has what the next command needs.
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  terminalWidth = widthOf(process.stdout),
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

/** Infinite where the output is no terminal, or one whose width is not known: a program gets all of it. */
export function widthOf({ isTTY, columns }: { isTTY: boolean; columns: number }): number {
  return isTTY && columns > 0 ? columns : Number.POSITIVE_INFINITY
}

/** Widths of which the last ones are smaller, as far as that is needed and possible: the first columns say most. */
function fitted(longest: readonly number[], terminalWidth: number): readonly number[] {
  const widths = [...longest]
  let excess = widths.reduce((sum, width) => sum + width + gap.length, -gap.length) - terminalWidth
  for (let column = widths.length - 1; column > 0 && excess > 0; column--) {
    const width = widths[column] ?? 0
    const smaller = Math.min(width, Math.max(cellWidthMin, width - excess))
    excess -= width - smaller
    widths[column] = smaller
  }
  return widths
}

function padded(cell: string, width: number): string {
  return cell.length > width ? `${cell.slice(0, width - 1)}…` : cell.padEnd(width)
}
