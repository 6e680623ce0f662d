/** Items of a list that a command brings at most, unless it is asked for more: they are held in memory. */
const itemsDefault = 10_000

/** Items that can be asked for. */
export const itemsMax = 1_000_000

/** Items of one request, as many as the service gives. */
const pageSizes = { cursor: 1_000, number: 100 } as const

/** A list of the service. */
export interface ListRequest {
  readonly path: string
  readonly query?: Readonly<Record<string, string | undefined>>
  /** How one gets from page to page: by the cursor in `Link` (if not given), or by numbers in an envelope. */
  readonly paging?: 'cursor' | 'number' | undefined
  /** The member of the answer that has the items. If not given: the answer is the array, or an envelope. */
  readonly member?: string | undefined
  /** Items that are wanted at most. */
  readonly max?: number | undefined
}

/** What was brought of a list. */
export interface Listed<Item> {
  readonly items: readonly Item[]
  /** Whether there are more. */
  readonly isCut: boolean
}

/** One page, as it came. */
export interface Page {
  readonly body: unknown
  /** The header `Link`. */
  readonly link: string
}

/** Goes from page to page of a list, until its end or until there are as many items as are wanted. */
export async function bringList<Item>(
  request: ListRequest,
  bring: (path: string) => Promise<Page>,
): Promise<Listed<Item>> {
  const { max = itemsDefault } = request
  const items: Item[] = []
  let next: string | undefined = firstPath(request, max)
  while (next !== undefined && items.length < max) {
    const page = await bring(next)
    items.push(...itemsOf<Item>(page.body, request.member))
    next = nextPath(next, page)
  }
  return { items: items.slice(0, max), isCut: next !== undefined || items.length > max }
}

function firstPath({ path, query = {}, paging = 'cursor' }: ListRequest, max: number): string {
  const size = pageSizes[paging]
  const words = new URLSearchParams(
    paging === 'cursor' ? { limit: String(Math.min(max, size)) } : { page_size: String(size) },
  )
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) words.set(name, value)
  }
  return `${path}?${words.toString()}`
}

interface Envelope {
  readonly content: readonly unknown[]
  readonly current_page: number
  readonly total_pages: number
}

function itemsOf<Item>(body: unknown, member: string | undefined): readonly Item[] {
  if (member !== undefined) return (body as Readonly<Record<string, readonly Item[]>>)[member] ?? []
  return Array.isArray(body) ? (body as Item[]) : ((body as Envelope).content as readonly Item[])
}

/** By the number in an envelope, by the cursor in the answer, or by that in `Link`. */
function nextPath(path: string, { body, link }: Page): string | undefined {
  const { current_page: page, total_pages: pages, nextCursor } = body as NextInBody
  if (page !== undefined && pages !== undefined) {
    return page < pages ? withParameter(path, 'page', page + 1) : undefined
  }
  if (nextCursor === null) return undefined
  if (nextCursor !== undefined) return withParameter(path, 'cursor', nextCursor)
  return /<([^>]+)>; *rel="next"/.exec(link)?.[1]
}

interface NextInBody extends Partial<Envelope> {
  readonly nextCursor?: string | number | null
}

function withParameter(path: string, name: string, value: string | number): string {
  const [bare = '', words] = path.split('?')
  const query = new URLSearchParams(words)
  query.set(name, String(value))
  return `${bare}?${query.toString()}`
}
