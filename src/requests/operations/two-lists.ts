import type { Static, TObject, TSchema } from 'typebox'
import type { ListCursor } from '../../core/list-cursor.ts'
import {
  cursorPage,
  cursorRequest,
  envelope,
  pageRequest,
  refuseUnknownParameters,
  sliceOf,
} from '../http/pagination.ts'
import * as s from '../http/schema.ts'
import type { Exchange } from './operation.ts'

/** Parameters of a list that both interfaces have. */
export const twoListsParameters = { ...s.pageQuery, ...s.cursorQuery }

export const twoListsNote =
  'A bearer token takes `limit` and `cursor` and gets an array; a key takes `page` and `page_size` and gets an envelope.'

/** The answer of such a list, by what each interface shows of an item. */
export function twoListsOf<Bearer extends TSchema, Key extends TSchema>(bearer: Bearer, key: Key) {
  const shapes = s.eitherOf(
    s.titled(s.bearerTitle, s.listOf(bearer)),
    s.titled(s.keyTitle, s.pageOf(key)),
  )
  return s.answer(shapes, {
    description: 'By credential: an array (bearer token), or an envelope (key).',
    headers: { Link: { description: 'With a bearer token: the next page.', schema: s.text } },
  })
}

/** How the items of such a list are found and shown. */
export interface TwoLists<Item extends ListCursor, Row, Bearer, Key> {
  /** Parameters that a bearer token takes besides: the totals of the other interface count all. */
  readonly filters?: readonly string[]
  readonly after: (after: ListCursor | undefined, limit: number) => Promise<readonly Item[]>
  readonly bearerBody: (item: Item) => Bearer
  readonly page: (slice: ReturnType<typeof sliceOf>) => Promise<{
    readonly items: readonly Row[]
    readonly total: number
  }>
  readonly keyBody: (row: Row) => Key
}

interface ListExchange extends Pick<Exchange, 'caller' | 'request' | 'reply'> {
  readonly query: Partial<Static<TObject<typeof twoListsParameters>>>
}

/** A list in the manner of the interface that the caller speaks (decisions.md#lists). */
export async function answerTwoLists<Item extends ListCursor, Row, Bearer, Key>(
  { caller, query, request, reply }: ListExchange,
  { filters = [], after, bearerBody, page, keyBody }: TwoLists<Item, Row, Bearer, Key>,
) {
  if (caller.interface === 'bearer') {
    refuseUnknownParameters(query, [...Object.keys(s.cursorQuery), ...filters])
    const asked = cursorRequest(query)
    const found = await after(asked.after, asked.limit + 1)
    return cursorPage(found, asked, { request, reply }).map(bearerBody)
  }
  refuseUnknownParameters(query, Object.keys(s.pageQuery))
  const asked = pageRequest(query)
  const { items, total } = await page(sliceOf(asked))
  return envelope(items.map(keyBody), total, asked)
}
