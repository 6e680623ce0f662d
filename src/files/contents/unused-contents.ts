import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { race } from '../../core/race.ts'
import type { StateDatabase, StateWriter } from '../../storage/state/database.ts'
import type { FileStore } from '../store/file-store.ts'
import { forgottenContents, lookedAt, releasedContents } from './content-rows.ts'
import type { ContentTurns } from './content-turns.ts'

/** Contents that are looked at in one turn: uploads wait for it. */
const portion = 200

/** How often it is looked whether some were released, when nobody says so. */
const lookMs = 60_000

/** Wait after a failure. */
const tryAgainMs = 10_000

export interface UnusedContentsNeeds {
  readonly store: Pick<FileStore, 'contents' | 'remove'>
  readonly state: StateDatabase
  readonly writer: StateWriter
  readonly turns: Pick<ContentTurns, 'remove'>
  readonly onFailure: (error: unknown) => void
}

/** Removes contents from the store of files that nothing of the state names any more, or ever did. */
export class UnusedContents {
  readonly #needs: UnusedContentsNeeds
  #woken = Promise.withResolvers<void>()
  /** Whether nothing can be in the store that the state does not know. */
  #isSwept = false
  #isHeld = false
  #removal: Promise<unknown> = Promise.resolve()
  /** Contents removed since the start. */
  removed = 0

  constructor(needs: UnusedContentsNeeds) {
    this.#needs = needs
  }

  /** Something may be unused now. */
  wake(): void {
    this.#woken.resolve()
  }

  /**
   * Keeps every content that the state knows, until `release`. Resolves when none is being removed
   * any more: the state does not know those by then. What it has never known goes on being removed.
   */
  async hold(): Promise<void> {
    this.#isHeld = true
    await this.#removal
  }

  release(): void {
    this.#isHeld = false
    this.wake()
  }

  /**
   * Contents were kept for something that does not name them after all. They are looked at once no upload is taken;
   * without knowing which, all that the store has is gone through.
   */
  async note(cids: readonly string[] | undefined): Promise<void> {
    if (cids?.length === 0) return
    const { state, writer } = this.#needs
    if (cids) await writer.commit(releasedContents(state, cids))
    else this.#isSwept = false
    this.wake()
  }

  /** Removes what a crash has left first, and then what becomes unused, until the signal says to stop. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.#woken = Promise.withResolvers()
      const restMs = await this.#pass(signal).then(
        () => lookMs,
        (error: unknown) => {
          if (!signal.aborted) this.#needs.onFailure(error)
          return tryAgainMs
        },
      )
      const rest = sleep(restMs, undefined, { signal, ref: false }).catch(() => undefined)
      await race([this.#woken.promise, rest])
    }
  }

  async #pass(signal: AbortSignal): Promise<void> {
    if (!this.#isSwept) {
      // What is noted meanwhile may be where this has been already.
      this.#isSwept = true
      await this.removeUnnamed(signal).catch((error: unknown) => {
        this.#isSwept = false
        throw error
      })
    }
    while (!signal.aborted && (await this.removeReleased())) continue
  }

  /** Removes some of what was released. Resolves with whether more can be removed now. */
  async removeReleased(): Promise<boolean> {
    const { state, turns } = this.#needs
    const isSome = await state.selectFrom('released_contents').select('cid').limit(1).execute()
    if (isSome.length === 0) return false
    return await turns.remove(async () => {
      const removal = this.#removeSome()
      this.#removal = removal.catch(() => undefined)
      return (await removal) === portion
    })
  }

  /** Resolves with how many were looked at: none while removals are held. */
  async #removeSome(): Promise<number> {
    const { state, writer } = this.#needs
    if (this.#isHeld) return 0
    const rows = await state.selectFrom('released_contents').select('cid').limit(portion).execute()
    const cids = rows.map(({ cid }) => cid)
    // In one transaction: what is named now is noted anew when its name goes.
    await writer.commit(forgottenContents(state, cids), lookedAt(state, cids, 'known'))
    // Forgotten before: nothing can name it then. What cannot be removed is tried again.
    await this.#removeUnknown(cids)
    await writer.commit(lookedAt(state, cids, 'unknown'))
    return rows.length
  }

  /** Removes what the store has and the state does not know: what an interrupted upload has left. */
  async removeUnnamed(signal: AbortSignal): Promise<void> {
    let some: string[] = []
    for await (const { cid } of this.#needs.store.contents()) {
      if (signal.aborted) return
      some.push(cid)
      if (some.length < portion) continue
      await this.#removeUnnamed(some)
      some = []
    }
    await this.#removeUnnamed(some)
  }

  async #removeUnnamed(cids: readonly string[]): Promise<void> {
    if ((await this.#unknown(cids)).length === 0) return
    // Looked at again: an upload may have made it one that is named.
    await this.#needs.turns.remove(() => this.#removeUnknown(cids))
  }

  async #removeUnknown(cids: readonly string[]): Promise<void> {
    for (const cid of await this.#unknown(cids)) {
      await this.#needs.store.remove(cid)
      this.removed++
    }
  }

  async #unknown(cids: readonly string[]): Promise<readonly string[]> {
    const { rows } = await sql<{ readonly cid: string }>`
      SELECT value AS cid FROM json_each(${JSON.stringify(cids)})
      WHERE value NOT IN (SELECT cid FROM contents)`.execute(this.#needs.state)
    return rows.map(({ cid }) => cid)
  }
}
