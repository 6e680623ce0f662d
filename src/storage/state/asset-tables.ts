import type { Defaulted } from './column.ts'
import type { AnchoredTable } from './file-tables.ts'

export interface AssetTables {
  assets: AssetTable
}

/** What is issued for an asset stream. */
interface AssetTable extends AnchoredTable {
  readonly id: string
  /** Whose asset stream it is of. */
  readonly owner_id: string
  readonly stream_id: string
  readonly created_at: number
  /** In whole units: decimal text. */
  readonly supply: string
  /** Decimal places of a full unit. */
  readonly precision: number
  readonly metadata_cid: string
  /** What the ledger calls it; empty as long as it is not issued. */
  readonly token_id: Defaulted<string>
}
