import type { Compilable } from 'kysely'
import { newId, type UserId } from '../../src/core/ids.ts'
import {
  attemptChanges,
  commitChanges,
  type Notify,
  openStateForWriting,
  plain,
  type StateDatabase,
  type StateWriter,
} from '../../src/storage/state/database.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** A real state database of its own, read and written by one thread. */
export class TestState implements StateWriter, AsyncDisposable {
  readonly #folder: TemporaryFolder
  readonly state: StateDatabase

  readonly #notify: Notify | undefined

  static async open(notify?: Notify): Promise<TestState> {
    const folder = new TemporaryFolder()
    return new TestState(folder, await openStateForWriting(folder.file('state.db')), notify)
  }

  private constructor(folder: TemporaryFolder, state: StateDatabase, notify: Notify | undefined) {
    this.#folder = folder
    this.state = state
    this.#notify = notify
  }

  async commit(...changes: readonly Compilable[]): Promise<void> {
    await commitChanges(this.state, changes.map(plain), this.#notify)
  }

  async attempt(...changes: readonly Compilable[]): Promise<boolean> {
    return await attemptChanges(this.state, changes.map(plain), this.#notify)
  }

  /** The path of its file. */
  get path(): string {
    return this.#folder.file('state.db')
  }

  async newUser(): Promise<UserId> {
    const id = newId<UserId>()
    await this.commit(this.state.insertInto('users').values({ id, username: id, created_at: 0 }))
    return id
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.state.destroy()
    this.#folder[Symbol.dispose]()
  }
}
