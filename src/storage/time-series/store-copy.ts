import type { Offset } from '../journal/journal.ts'
import type { Shape } from './shape.ts'

/** Where a store that is a server answers over HTTP, and who asks. */
export interface StoreServer {
  readonly secure: boolean
  readonly host: string
  readonly port: number
  readonly user: { readonly name: string; readonly password: string } | undefined
  /** Before the names of all tables: services that share a server have different ones. */
  readonly prefix: string
}

/** Rows on a server, as they were at one position. */
export interface ServedRows {
  readonly server: StoreServer
  /** Which process of the server has them: another one may have lost some. */
  readonly process: string
  readonly position: Offset
  /** What was marked as too old in this round or a later one was still there at the position. */
  readonly expiryRound: number
  /** The shapes of all its tables. */
  readonly shapes: readonly Shape[]
}

/** A copy of a store, as it was at one position. */
export interface StoreCopy {
  /** Everything before it is in the copy, and nothing after it. */
  readonly position: Offset
  /** Rows of each table, as far as they are in the files. */
  readonly rows: Readonly<Record<string, number>>
  /** Paths of its files; one that is not there is not needed. */
  readonly files: readonly string[]
  /** Rows that lie on a server: they can be read as they were until the copy is ended. */
  readonly served?: ServedRows
}

/** A store that can be copied while it goes on. */
export interface CopiedStore {
  /**
   * Copies all files into a folder. Nothing is stored meanwhile; queries go on. Fails when the signal is
   * aborted.
   */
  copyTo(folder: string, signal: AbortSignal): Promise<StoreCopy>

  /**
   * Says that rows on a server are not needed any more as they were. Returns why they were not to be had as they were, if
   * so: then the copy is of no use.
   */
  endCopy?(): string | undefined
}
