import type { ColumnType } from 'kysely'

/** A column that the database fills when nothing is given. */
export type Defaulted<Value> = ColumnType<Value, Value | undefined, Value>
