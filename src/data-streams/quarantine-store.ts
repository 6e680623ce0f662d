import { isUtf8 } from 'node:buffer'
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
      .selectAll()
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
