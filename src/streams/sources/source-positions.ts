import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SourcePosition } from '../../contracts/source-position.ts'
import type { StreamId } from '../../core/ids.ts'
import type { Offset } from '../../storage/journal/journal.ts'

/** How often it is looked whether all that the journal had at the start has been decided about. */
const pollMs = 50

/** What is kept in the journal, and by it in the state. */
interface KeptPosition {
  /** Identity of the source that it is a position in. */
  readonly of: string
  /** Undefined where nothing of it was read, and what another source had left is dealt with. */
  readonly position?: SourcePosition
}

export interface SourcePositionsNeeds {
  /** What the state has of a stream. */
  readonly load: (id: StreamId) => Promise<string | undefined>
  /** Where the next entry of the journal goes. */
  readonly head: () => Promise<Offset>
  /** How far the state has followed the journal. */
  readonly decided: () => Promise<Offset>
}

/**
 * How far sources have been read. The journal has it, together with the messages; the state follows. What was
 * written since the start is known here.
 */
export class SourcePositions {
  readonly #needs: SourcePositionsNeeds
  /** Positions of streams whose sources have run since the start. */
  readonly #newest = new Map<StreamId, string>()
  #isCaughtUp = false

  constructor(needs: SourcePositionsNeeds) {
    this.#needs = needs
  }

  /** @returns undefined for a source that was never read, and for one that another has replaced */
  async find(
    id: StreamId,
    identity: string,
    signal: AbortSignal,
  ): Promise<SourcePosition | undefined> {
    const kept = await this.#kept(id, signal)
    return kept?.of === nameOf(identity) ? kept.position : undefined
  }

  /**
   * The position of a source that another one has replaced.
   *
   * @param identity of the one that has replaced it; undefined where the stream fetches nothing any more
   */
  async leftBehind(
    id: StreamId,
    identity: string | undefined,
    signal: AbortSignal,
  ): Promise<SourcePosition | undefined> {
    // The state forgets it with the source.
    if (identity === undefined && !this.#newest.has(id)) return undefined
    const kept = await this.#kept(id, signal)
    return identity !== undefined && kept?.of === nameOf(identity) ? undefined : kept?.position
  }

  /**
   * To be called before the state forgets the position of a source that nothing replaces: what that one was holding back
   * is still to be handed over. One that has not run since the start is known to nobody else.
   */
  async keep(id: StreamId): Promise<void> {
    if (this.#newest.has(id)) return
    const text = await this.#needs.load(id)
    // A run may have noted a newer one meanwhile.
    if (text !== undefined && !this.#newest.has(id)) this.#newest.set(id, text)
  }

  /** What is to be written to the journal. */
  textOf(identity: string, position?: SourcePosition): string {
    const kept: KeptPosition = { of: nameOf(identity), ...(position && { position }) }
    return JSON.stringify(kept)
  }

  /** To be called when it is durable. */
  note(id: StreamId, text: string): void {
    this.#newest.set(id, text)
  }

  /** To be called when a stream is gone. */
  forget(id: StreamId): void {
    this.#newest.delete(id)
  }

  async #kept(id: StreamId, signal: AbortSignal): Promise<KeptPosition | undefined> {
    await this.#catchUp(signal)
    const text = this.#newest.get(id) ?? (await this.#needs.load(id))
    return text === undefined ? undefined : (JSON.parse(text) as KeptPosition)
  }

  /** The state may be behind what the journal had when the service was started. */
  async #catchUp(signal: AbortSignal): Promise<void> {
    if (this.#isCaughtUp) return
    const head = await this.#needs.head()
    while ((await this.#needs.decided()) < head) await sleep(pollMs, undefined, { signal })
    this.#isCaughtUp = true
  }
}

/** Digest of an identity, which may name hosts, and be long. */
function nameOf(identity: string): string {
  return createHash('sha256').update(identity).digest('base64url').slice(0, 22)
}
