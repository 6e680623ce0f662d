/** The ledgers that vaults are anchored on and that people are known by. */
export const ledgers = ['XRPL', 'POLYGON_ZKEVM', 'POLYGON_POS', 'ETHEREUM'] as const

export type Ledger = (typeof ledgers)[number]
