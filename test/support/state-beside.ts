import { setTimeout as sleep } from 'node:timers/promises'
import type { Compilable } from 'kysely'
import { filesIn } from '../../src/config/data-folder.ts'
import {
  attemptChanges,
  openStateForWriting,
  plain,
  type StateDatabase,
  type StateWriter,
} from '../../src/storage/state/database.ts'

const busyMs = 20

/** The state of a service that runs, for rows that it would only write with a ledger. */
export class StateBeside implements StateWriter, AsyncDisposable {
  readonly state: StateDatabase

  static async open({ dataDir }: { readonly dataDir: string }): Promise<StateBeside> {
    return new StateBeside(await openStateForWriting(filesIn(dataDir).state))
  }

  private constructor(state: StateDatabase) {
    this.state = state
  }

  async commit(...changes: readonly Compilable[]): Promise<void> {
    await this.attempt(...changes)
  }

  async attempt(...changes: readonly Compilable[]): Promise<boolean> {
    return await this.#whenFree(() => attemptChanges(this.state, changes.map(plain)))
  }

  /** All of some work is one transaction. */
  async transact(work: (transaction: StateDatabase) => Promise<unknown>): Promise<void> {
    await this.#whenFree(() => this.state.transaction().execute(work))
  }

  /** Waits while the service itself writes. */
  async #whenFree<Result>(write: () => Promise<Result>): Promise<Result> {
    for (;;) {
      try {
        return await write()
      } catch (error) {
        if (!/locked|busy/.test(String(error))) throw error
        await sleep(busyMs)
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.state.destroy()
  }
}
