import type { Ledger } from '../../core/ledger.ts'

/**
 * Whether a transaction of the EVM says one price for a unit of gas, all of which is paid: where there are no base fees yet, and on Polygon
 * zkEVM, which proves no transaction of EIP-1559, whatever its nodes say (https://github.com/0xPolygon/zkevm-prover/issues/895).
 *
 * @param baseFee of the newest block, as its node says it: some leave it out, others say null
 */
export function hasOnePrice(ledger: Ledger, baseFee: unknown): boolean {
  return ledger === 'POLYGON_ZKEVM' || typeof baseFee !== 'string'
}
