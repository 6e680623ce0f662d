import type { Compilable } from 'kysely'
import { newId, type UserId } from '../../src/core/ids.ts'
import {
  attemptChanges,
  commitChanges,
  openStateForWriting,
  plain,
  type StateDatabase,
  type StateWriter,
} from '../../src/state/database.ts'
import { TemporaryFolder } from './temporary-folder.ts'

/** A real state database of its own, read and written by one thread. */
export class TestState implements StateWriter, AsyncDisposable {
  readonly #folder: TemporaryFolder
  readonly state: StateDatabase

  static async open(): Promise<TestState> {
    const folder = new TemporaryFolder()
    return new TestState(folder, await openStateForWriting(folder.file('state.db')))
  }

  private constructor(folder: TemporaryFolder, state: StateDatabase) {
    this.#folder = folder
    this.state = state
  }

  async commit(...changes: readonly Compilable[]): Promise<void> {
    await commitChanges(this.state, changes.map(plain))
  }

  async attempt(...changes: readonly Compilable[]): Promise<boolean> {
    return await attemptChanges(this.state, changes.map(plain))
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
