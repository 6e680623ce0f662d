import { expect } from 'vitest'
import { type Bid, higherBid } from '../../src/ledgers/evm/fees.ts'
import type { Ledger } from '../../src/ledgers/ledger.ts'
import { deedOf, includedOf, signedBy } from './sandbox-ledger.ts'

/**
 * Bids more for a transaction that waits: nodes refuse 1 wei more, and take what is bid as lanes do.
 *
 * @param sequence the next one, on a node that makes no block meanwhile
 * @param release lets it into a block
 */
export async function outbidWaiting(
  ledger: Ledger,
  sequence: number,
  release: () => Promise<unknown>,
): Promise<void> {
  const deed = await deedOf()
  const first = await signedBy(ledger, deed, sequence)
  expect(await ledger.submit(first.blob)).toEqual({ is: 'accepted' })
  const { gas, maxFee, tip } = JSON.parse(first.terms) as Record<string, string>
  const bid = { maxFee: BigInt(maxFee ?? 0), tip: BigInt(tip ?? 0) }
  const signedFor = async (one: Bid) => {
    const terms = JSON.stringify({ gas, maxFee: `${one.maxFee}`, tip: `${one.tip}` })
    return await ledger.sign(deed, sequence, terms)
  }
  const little = await signedFor({ maxFee: bid.maxFee + 1n, tip: bid.tip + 1n })
  expect(await ledger.submit(little.blob)).toEqual({ is: 'early' })
  expect(await ledger.sight(little.hash)).toEqual({ is: 'unknown' })
  const higher = higherBid(bid, { baseFee: 0n, tip: 0n }, bid.maxFee * 2n) ?? bid
  const second = await signedFor(higher)
  expect(await ledger.submit(second.blob)).toEqual({ is: 'accepted' })
  await release()
  await includedOf(ledger, second.hash)
  expect(await ledger.submit(first.blob)).toEqual({ is: 'superseded' })
}
