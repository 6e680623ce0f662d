import type { Ledger as LedgerName } from '../../core/ledger.ts'
import type { RpcAnswer, RpcCall } from '../nodes/json-rpc.ts'
import { tipMinOfPolygon } from '../nodes/least-tip.ts'
import { hasOnePrice } from '../nodes/one-price.ts'
import { resultOf } from './evm-node.ts'
import { bigOf, listOf, membersOf } from './quantities.ts'

/** Ledgers that are networks of the EVM. */
export type EvmLedgerName = Exclude<LedgerName, 'XRPL'>

/** @throws RangeError for one that is another kind of network */
export function evmNameOf(ledger: LedgerName): EvmLedgerName {
  if (ledger === 'XRPL') throw new RangeError(`${ledger} is not a network of the EVM`)
  return ledger
}

const gwei = 1_000_000_000n

interface FeeRules {
  /** Wei per gas that whoever makes blocks gets at least. */
  readonly tipMin: bigint
  /** Wei per gas in all, where the operator names no cap. */
  readonly feeMax: bigint
  /** How long a transaction waits for a block before it is bid more for, in microseconds: some blocks. */
  readonly bumpAfterUs: number
}

/** All but Polygon PoS go by what recent blocks have paid. */
export const feeRules: Readonly<Record<EvmLedgerName, FeeRules>> = {
  ETHEREUM: { tipMin: gwei / 100n, feeMax: 300n * gwei, bumpAfterUs: 60_000_000 },
  POLYGON_POS: { tipMin: tipMinOfPolygon, feeMax: 3_000n * gwei, bumpAfterUs: 30_000_000 },
  POLYGON_ZKEVM: { tipMin: 0n, feeMax: 300n * gwei, bumpAfterUs: 30_000_000 },
}

/** What a transaction pays for each gas at most, in wei. */
export interface Bid {
  readonly maxFee: bigint
  /** The part of it that whoever makes the block gets (EIP-1559); undefined where all of it is paid. */
  readonly tip?: bigint
}

/** What blocks of late have asked for, in wei per gas. */
export interface Market {
  /** What the next block takes. */
  readonly baseFee: bigint
  /** What was paid in the middle of recent blocks; undefined where there is but one price. */
  readonly tip?: bigint
}

/** Asks for the fees of recent blocks with the middle of what was paid in each, for the one price that others have, and which of them it is. */
export const marketCalls: readonly RpcCall[] = [
  { method: 'eth_feeHistory', params: ['0x5', 'latest', [50]] },
  { method: 'eth_gasPrice', params: [] },
  { method: 'eth_getBlockByNumber', params: ['latest', false] },
]

/**
 * What the answers to `marketCalls` say.
 *
 * @throws LedgerUnreachable
 */
export function marketOfAnswers(
  [history, price, latest]: readonly RpcAnswer[],
  ledger: EvmLedgerName,
): Market {
  const { baseFeePerGas: baseFee } = membersOf(resultOf(latest))
  if (hasOnePrice(ledger, baseFee)) return { baseFee: bigOf(resultOf(price)) }
  const { baseFeePerGas, reward } = membersOf(resultOf(history))
  return marketOf(
    listOf(baseFeePerGas).map(bigOf),
    listOf(reward ?? []).map((paid) => bigOf(listOf(paid)[0])),
    feeRules[ledger].tipMin,
  )
}

function marketOf(baseFees: readonly bigint[], rewards: readonly bigint[], tipMin: bigint): Market {
  const sorted = rewards.toSorted((one, other) => (one < other ? -1 : Number(one > other)))
  const middle = sorted[Math.floor(sorted.length / 2)] ?? 0n
  return { baseFee: baseFees.at(-1) ?? 0n, tip: middle > tipMin ? middle : tipMin }
}

/**
 * A bid that gets in now, and while the base fee doubles; undefined while that costs more than is allowed. Where there is but one price it
 * is that: all of it is paid.
 */
export function bidFor({ baseFee, tip }: Market, feeMax: bigint): Bid | undefined {
  if (baseFee + (tip ?? 0n) > feeMax) return undefined
  return tip === undefined
    ? { maxFee: baseFee }
    : { maxFee: least(2n * baseFee + tip, feeMax), tip }
}

/**
 * A bid that takes the place of another one: nodes want 10 % more of both, and get 12.5 %, as whole numbers. Undefined
 * where that is more than is allowed.
 */
export function higherBid(bid: Bid, market: Market, feeMax: bigint): Bid | undefined {
  const maxFeeMin = more(bid.maxFee)
  if (maxFeeMin > feeMax) return undefined
  const { baseFee, tip: tipOfNow = 0n } = market
  if (bid.tip === undefined) return { maxFee: least(most(maxFeeMin, baseFee + tipOfNow), feeMax) }
  const tipMin = more(bid.tip)
  if (tipMin > feeMax) return undefined
  const tip = most(tipMin, tipOfNow)
  const maxFee = least(most(maxFeeMin, 2n * baseFee + tip), feeMax)
  return { maxFee, tip: least(tip, maxFee) }
}

function more(amount: bigint): bigint {
  return (amount * 9n + 7n) / 8n
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other
}

function most(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}
