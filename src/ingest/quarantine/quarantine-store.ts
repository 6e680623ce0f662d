import { isUtf8 } from 'node:buffer'
import { type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import type { KeptContext } from '../../contracts/mapping.ts'
import type { PayloadFormat } from '../../contracts/stream-schema.ts'
import type { ErrorDetail } from '../../core/errors.ts'
import type { StreamId } from '../../core/ids.ts'
import { parseJson } from '../../core/parse-json.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import type { StateSchema } from '../../storage/state/schema.ts'

/** A refused reading, as the decider has kept it. */
export interface HeldReading {
  /** Offset of its entry in the journal. */
  readonly id: number
  readonly reason: string
  readonly message: string
  readonly details: readonly ErrorDetail[]
  /** The bytes as they arrived. */
  readonly payload: Uint8Array
  readonly format: PayloadFormat
  /** Whether the payload is one element of a batch, and not a message as it came. */
  readonly isElement: boolean
  readonly timestampUs: number | undefined
  readonly receivedAtUs: number
  readonly source: string
  /** Who sent it, where the stream had several senders when it came. */
  readonly sender?: string | undefined
  /** What is known of its message beside the bytes, and its place among samples. */
  readonly context?: HeldContext | undefined
}

export type HeldContext = KeptContext & { readonly place?: number }

/** Which entries are meant; what is empty or absent leaves nothing out. */
export interface QuarantineFilter {
  readonly ids: readonly number[]
  readonly reasons: readonly string[]
  /** Times of the receipt: [startUs, endUs). */
  readonly startUs: number | undefined
  readonly endUs: number | undefined
}

/** A page ends where it reaches either limit; it has one entry at least, if there is one. */
export interface PageLimits {
  readonly entries: number
  readonly payloadBytes: number
}

/** Ids behind one, up to another, as far as the limits allow. */
interface PageRange {
  readonly after: number
  readonly last?: number
  readonly limits: PageLimits
}

export interface HeldPage {
  readonly entries: readonly HeldReading[]
  /** Whether more follow. */
  readonly hasMore: boolean
}

export interface HeldByReason {
  readonly reason: string
  readonly entries: number
}

export class QuarantineStore {
  readonly #state: StateDatabase

  constructor(state: StateDatabase) {
    this.#state = state
  }

  /** Entries of a stream in a range of ids, oldest first. */
  async page(
    streamId: StreamId,
    filter: QuarantineFilter,
    { after, last: end = Number.MAX_SAFE_INTEGER, limits }: PageRange,
  ): Promise<HeldPage> {
    // Sizes first.
    const sizes = await this.#matching(streamId, filter)
      .select(['journal_offset as id', 'payload_bytes as bytes'])
      .where('journal_offset', '>', after)
      .where('journal_offset', '<=', end)
      .orderBy('journal_offset')
      .limit(limits.entries + 1)
      .execute()
    const count = fittingOf(sizes, limits)
    const last = sizes[count - 1]
    if (last === undefined) return { entries: [], hasMore: false }
    const entries = await this.#read(streamId, filter, { after, last: last.id })
    return { entries, hasMore: sizes.length > count }
  }

  async find(streamId: StreamId, id: number): Promise<HeldReading | undefined> {
    const [entry] = await this.#read(streamId, everything, { after: id - 1, last: id })
    return entry
  }

  /** The ids of all entries that match: as many as a quarantine holds at most. */
  async ids(streamId: StreamId, filter: QuarantineFilter): Promise<readonly number[]> {
    const rows = await this.#matching(streamId, filter)
      .select('journal_offset as id')
      .orderBy('journal_offset')
      .execute()
    return rows.map(({ id }) => id)
  }

  /** How many entries there are for each reason, the most frequent first. */
  async byReason(streamId: StreamId): Promise<readonly HeldByReason[]> {
    return await this.#matching(streamId, everything)
      .select(['reason', (count) => count.fn.countAll<number>().as('entries')])
      .groupBy('reason')
      .orderBy('entries', 'desc')
      .orderBy('reason')
      .execute()
  }

  async #read(
    streamId: StreamId,
    filter: QuarantineFilter,
    { after, last }: { readonly after: number; readonly last: number },
  ): Promise<HeldReading[]> {
    const rows = await this.#matching(streamId, filter)
      .select(heldColumns)
      .select(heldTimestamp)
      .where('journal_offset', '>', after)
      .where('journal_offset', '<=', last)
      .orderBy('journal_offset')
      .execute()
    return rows.map(heldReading)
  }

  #matching(
    streamId: StreamId,
    { ids, reasons, startUs, endUs }: QuarantineFilter,
  ): SelectQueryBuilder<StateSchema, 'quarantine', object> {
    let query = this.#state.selectFrom('quarantine').where('stream_id', '=', streamId)
    if (ids.length > 0) query = query.where('journal_offset', 'in', ids)
    if (reasons.length > 0) query = query.where('reason', 'in', reasons)
    if (startUs !== undefined) query = query.where('received_at', '>=', startUs)
    if (endUs !== undefined) query = query.where('received_at', '<', endUs)
    return query
  }
}

/** Columns of an entry. */
export const heldColumns = [
  'journal_offset as id',
  'reason',
  'message',
  'details',
  'source',
  'received_at',
  'is_element',
  'payload',
  'format',
  'sender',
  'context',
] as const

/** Another one: what a reading claims may lie beyond 2^53, which integers are not read as. */
export const heldTimestamp = sql<number | null>`CAST(timestamp AS DOUBLE PRECISION)`.as('timestamp')

type HeldRow = Pick<
  Selectable<StateSchema['quarantine']>,
  'reason' | 'message' | 'details' | 'source' | 'received_at' | 'is_element' | 'payload'
> &
  Pick<Selectable<StateSchema['quarantine']>, 'format' | 'sender' | 'context' | 'timestamp'> & {
    readonly id: number
  }

export function heldReading(row: HeldRow): HeldReading {
  return {
    id: row.id,
    reason: row.reason,
    message: row.message,
    details: JSON.parse(row.details) as ErrorDetail[],
    payload: row.payload,
    format: row.format as PayloadFormat,
    isElement: row.is_element === 1,
    timestampUs: row.timestamp ?? undefined,
    receivedAtUs: row.received_at,
    source: row.source,
    sender: row.sender ?? undefined,
    context: row.context === null ? undefined : (parseJson(row.context) as HeldContext),
  }
}

/** How many of some entries fit a page, one at least: payloads of one page could take the memory of all. */
export function fittingOf(
  sizes: readonly { readonly bytes: number }[],
  limits: PageLimits,
): number {
  let bytes = 0
  const fitting = sizes
    .slice(0, limits.entries)
    .findIndex((size) => (bytes += size.bytes) > limits.payloadBytes)
  return fitting === -1 ? Math.min(sizes.length, limits.entries) : Math.max(1, fitting)
}

export const everything: QuarantineFilter = {
  ids: [],
  reasons: [],
  startUs: undefined,
  endUs: undefined,
}

/** The payload as text: as it is where it is UTF-8, else in base64. */
export function payloadText({ payload }: Pick<HeldReading, 'payload'>) {
  const encoding = isUtf8(payload) ? 'utf8' : 'base64'
  return { payload: Buffer.from(payload).toString(encoding), encoding } as const
}
