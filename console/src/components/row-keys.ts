/**
 * Rows that `j` and `k` go through are those with `data-row`; each has a link, which takes the focus, and opens by
 * Enter as any link does. `x` presses the checkbox of the row, where it has one.
 */
const rowSelector = '#main [data-row]'

/** Goes so many rows down or up, from the row that has the focus. False: there are no rows. */
export function moveAlongRows(by: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>(rowSelector)]
  if (rows.length === 0) return false
  const at = rows.findIndex((row) => row.contains(document.activeElement))
  const next = at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + by))
  const row = rows[next]
  const place =
    row?.querySelector<HTMLElement>('a[href]') ?? row?.querySelector<HTMLElement>('button')
  place?.focus({ preventScroll: true })
  row?.scrollIntoView({ block: 'nearest' })
  return true
}

/** Chooses the row that has the focus, or no longer. False: there is nothing to choose. */
export function chooseRow(): boolean {
  const row = document.activeElement?.closest<HTMLElement>(rowSelector)
  const box = row?.querySelector<HTMLInputElement>('input[type="checkbox"]')
  box?.click()
  return box !== null && box !== undefined
}
