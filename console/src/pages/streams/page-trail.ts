/** Where one is in a list whose pages are found by cursors, as the address of the page has it. */
export interface Trail {
  /** Of the page that is shown; empty for the first one. */
  readonly cursor: string
  /** Cursors of the pages before, the nearest one last. */
  readonly before: readonly string[]
  /** From 1 on. */
  readonly page: number
}

/** Pages that one can go back through one by one: an address has to stay short. */
export const trailMax = 20

export const firstPage: Trail = { cursor: '', before: [], page: 1 }

/** Parameters of an address, those of the first page without any. */
export type TrailWords = Record<'cursor' | 'before' | 'page', string | undefined>

export function trailOf(query: Readonly<Record<string, string>>): Trail {
  const { cursor = '', before: way = '' } = query
  const page = Number(query['page'])
  if (cursor === '' || !Number.isSafeInteger(page) || page < 2) return firstPage
  const before = way === '' ? [] : way.split(' ')
  return { cursor, before: before.map((one) => (one === '-' ? '' : one)).slice(-trailMax), page }
}

export function wordsOf({ cursor, before, page }: Trail): TrailWords {
  if (page === 1) return { cursor: undefined, before: undefined, page: undefined }
  const words = before.map((one) => (one === '' ? '-' : one)).join(' ')
  return { cursor, before: words === '' ? undefined : words, page: String(page) }
}

export const pageSize = 100

/** Whether the list ends before all that meet the filter are listed: of orders by a figure there is a beginning only. */
export function endsEarly(page: number, next: string | undefined, total = 0): boolean {
  return next === undefined && page * pageSize < total
}

/** The page behind. */
export function pageAfter({ cursor, before, page }: Trail, next: string): Trail {
  return { cursor: next, before: [...before, cursor].slice(-trailMax), page: page + 1 }
}

/** The page before; undefined on the first one, and where the way back is forgotten. */
export function pageBefore({ before, page }: Trail): Trail | undefined {
  const cursor = before.at(-1)
  if (cursor === undefined) return undefined
  return cursor === '' ? firstPage : { cursor, before: before.slice(0, -1), page: page - 1 }
}
