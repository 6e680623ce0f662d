import { timingSafeEqual } from 'node:crypto'
import { parseId, type StreamId, uuidAt, uuidBytes } from '../../core/ids.ts'

const streamBytes = 16

/** Bytes that nobody can guess. */
const proofBytes = 16

/**
 * The last parts of the addresses that others send to: each is the id of its stream with a proof that it was
 * made here. So one that was made up is found out without asking the state.
 */
export class HookIds {
  readonly #digest: (text: string) => string

  /** @param digest a keyed one, in hex */
  constructor(digest: (text: string) => string) {
    this.#digest = digest
  }

  idOf(streamId: StreamId): string {
    const proof = Buffer.from(this.#digest(`webhook ${streamId}`), 'hex').subarray(0, proofBytes)
    return Buffer.concat([uuidBytes(streamId), proof]).toString('base64url')
  }

  /** Nothing for one that was not made here. */
  streamOf(hookId: string): StreamId | undefined {
    const bytes = Buffer.from(hookId, 'base64url')
    if (bytes.length !== streamBytes + proofBytes) return undefined
    const streamId = parseId<StreamId>(uuidAt(bytes, 0))
    if (streamId === undefined) return undefined
    const known = Buffer.from(this.idOf(streamId))
    const given = Buffer.from(hookId)
    return known.length === given.length && timingSafeEqual(known, given) ? streamId : undefined
  }
}
