import { isUtf8 } from 'node:buffer'
import { sql } from 'kysely'
import type { ErrorDetail } from '../core/errors.ts'
import type { StreamId } from '../core/ids.ts'
import type { StateDatabase } from '../state/database.ts'

/** A refused reading, as the decider has kept it. */
export interface QuarantineEntry {
  readonly id: number
  readonly reason: string
  readonly message: string
  readonly details: readonly ErrorDetail[]
  /** The bytes as they arrived: as text where they are UTF-8, else in base64. */
  readonly payload: string
  readonly encoding: 'utf8' | 'base64'
  readonly timestampUs: number | undefined
  readonly receivedAtUs: number
  readonly source: string
}

export class QuarantineStore {
  readonly #state: StateDatabase

  constructor(state: StateDatabase) {
    this.#state = state
  }

  /** Entries of a stream after an id, oldest first. */
  async list(streamId: StreamId, after: number, limit: number): Promise<QuarantineEntry[]> {
    const rows = await this.#state
      .selectFrom('quarantine')
      .select(['id', 'reason', 'message', 'details', 'payload', 'received_at', 'source'])
      // What a reading claims may lie beyond 2^53, which integers are not read as.
      .select(sql<number | null>`CAST(timestamp AS DOUBLE PRECISION)`.as('timestamp'))
      .where('stream_id', '=', streamId)
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map((row) => {
      const encoding = isUtf8(row.payload) ? 'utf8' : 'base64'
      return {
        id: row.id,
        reason: row.reason,
        message: row.message,
        details: JSON.parse(row.details) as ErrorDetail[],
        payload: Buffer.from(row.payload).toString(encoding),
        encoding,
        timestampUs: row.timestamp ?? undefined,
        receivedAtUs: row.received_at,
        source: row.source,
      }
    })
  }
}
