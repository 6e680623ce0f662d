/** Rows of one statement at most: SQLite takes 32,766 parameters. */
const rowsMax = 128

/**
 * A list of ids that is as long as the next power of two: the last one comes again. Each length makes a
 * statement of its own, and only so many are kept prepared.
 */
export function padded(ids: readonly string[]): readonly string[] {
  const length = 2 ** Math.ceil(Math.log2(ids.length))
  return [...ids, ...Array.from({ length: length - ids.length }, () => ids.at(-1) ?? '')]
}

/** Rows in portions whose lengths are powers of two, for the same reason. */
export function portionsOf<Row>(rows: readonly Row[]): readonly (readonly Row[])[] {
  const portions: (readonly Row[])[] = []
  for (let from = 0; from < rows.length; ) {
    const count = Math.min(rowsMax, 2 ** Math.floor(Math.log2(rows.length - from)))
    portions.push(rows.slice(from, from + count))
    from += count
  }
  return portions
}
