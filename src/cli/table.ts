/** Rows under headings, for people: columns as wide as their longest cell. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows]
  const widths = headings.map((_, column) =>
    Math.max(...all.map((row) => (row[column] ?? '').length)),
  )
  return all
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n')
}

/** One record, a member a line. */
export function record(members: Readonly<Record<string, string>>): string {
  const width = Math.max(...Object.keys(members).map((name) => name.length))
  return Object.entries(members)
    .map(([name, value]) => `${name.padEnd(width)}  ${value}`.trimEnd())
    .join('\n')
}
