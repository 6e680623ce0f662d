import type { Poll } from '../../src/contracts/poll-connector.ts'
import type { DatabaseOptions } from './options.ts'

/** What the values of a column are compared as. */
export type ColumnKind = 'number' | 'float' | 'text' | 'date' | 'naive' | 'time' | 'other'

/** A value as a driver hands it over: exact, so no number that has lost digits and no Date. */
export type Raw = string | number | bigint | Uint8Array | null

export type Row = readonly Raw[]

/** A column of a result. */
export interface Column {
  readonly name: string
  readonly kind: ColumnKind
  /** Declared type, where values have to be compared as just that. */
  readonly type?: string | undefined
  /** The value as JSON text. Not called with null. */
  json(value: Raw): string
}

export interface Result {
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
}

/** What stands in a statement for a value: it is bound, never pasted. */
export interface Bound {
  readonly text: string
  readonly kind: ColumnKind
}

/** One connection, on which nothing can be changed. */
export interface Session extends AsyncDisposable {
  /** What columns a statement has, without running it where that is possible. */
  describe(statement: string): Promise<readonly Column[]>
  /** @throws SourceRefused where the server says that the statement is wrong, or not allowed */
  read(statement: string, values: readonly Bound[]): Promise<Result>
  /** The clock of the server. */
  nowUs(): Promise<number>
}

/** What one kind of database has that others have not. */
export interface Dialect {
  /** A name as it stands in a statement. */
  quoted(name: string): string
  /** What stands for the value with this index, from 0. */
  placeholder(index: number, kind: ColumnKind, type?: string): string
  /** `SELECT ... LIMIT`, in its own words. */
  limited(rest: string, count: number): string
  /** Whether pairs are compared as they are written, with the help of an index. */
  readonly comparesPairs: boolean
  /** @throws SourceRefused where the server does not let us in */
  connect(options: DatabaseOptions, poll: Pick<Poll, 'dial' | 'signal'>): Promise<Session>
}
