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
  placeIn(row)?.focus({ preventScroll: true })
  row?.scrollIntoView({ block: 'nearest' })
  return true
}

function placeIn(row: HTMLElement | undefined): HTMLElement | null | undefined {
  return row?.querySelector<HTMLElement>('a[href]') ?? row?.querySelector<HTMLElement>('button')
}

/**
 * Call it when something goes away: had it the focus, the row that takes its place gets it, or the page. Who works by
 * keys would begin at the top of the document else.
 */
export function passFocusOn(from: HTMLElement): void {
  if (document.activeElement !== from) return
  const at = [...document.querySelectorAll(rowSelector)].findIndex((row) => row.contains(from))
  queueMicrotask(() => {
    if (document.activeElement !== document.body) return
    const rows = [...document.querySelectorAll<HTMLElement>(rowSelector)]
    const row = at === -1 ? undefined : rows[Math.min(at, rows.length - 1)]
    const place = placeIn(row) ?? document.getElementById('main')
    place?.focus({ preventScroll: true })
  })
}

/** Chooses the row that has the focus, or no longer. False: there is nothing to choose. */
export function chooseRow(): boolean {
  const row = document.activeElement?.closest<HTMLElement>(rowSelector)
  const box = row?.querySelector<HTMLInputElement>('input[type="checkbox"]')
  box?.click()
  return box !== null && box !== undefined
}
