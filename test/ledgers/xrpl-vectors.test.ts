import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { decodeAccountID } from 'xrpl'
import type { Deed } from '../../src/ledgers/ledger.ts'
import { readXrplMemo, xrplHashOf } from '../../src/ledgers/proofs/xrpl-memo.ts'
import { derOf } from '../../src/ledgers/xrpl/der-signature.ts'
import {
  addressOf,
  readTransaction,
  signedTransaction,
} from '../../src/ledgers/xrpl/xrpl-transaction.ts'
import { signerOf } from '../support/xrpl-ledger.ts'

/** A transaction as xrpl-py has signed it: `xrpl-py/make-vectors.py`. */
interface Vector {
  readonly seed: string
  readonly account: string
  readonly distributor: string
  readonly networkId: number
  readonly deed: Deed
  readonly sequence: number
  readonly fee: string
  readonly last: number
  readonly blob: string
  readonly hash: string
}

const vectors = JSON.parse(
  readFileSync(join(import.meta.dirname, 'xrpl-py', 'vectors.json'), 'utf8'),
) as readonly Vector[]

describe.each(vectors)('the transaction $hash of xrpl-py', (vector) => {
  const { account, distributor, networkId, deed, sequence, last, blob, hash } = vector
  const terms = { fee: BigInt(vector.fee), last }

  test('is signed by us to the same bytes, and has the same hash', async () => {
    const signer = await signerOf(vector.seed)
    expect(addressOf(signer)).toBe(account)
    const signing = { account, distributor, networkId, signer }
    const signed = await signedTransaction(signing, deed, sequence, terms)
    expect(signed).toMatchObject({ blob, hash, text: blob, sequence })
  })

  test('is read as what it says', () => {
    const read = readTransaction(blob)
    const { asset: _, ...said } = deed
    expect(read).toMatchObject({ account, deed: said, sequence, terms, hash })
    expect(read?.networkId).toBe(networkId > 1_024 ? networkId : undefined)
  })

  test('is read for proofs without the library as what it says', () => {
    const bytes = Buffer.from(blob, 'hex')
    expect(xrplHashOf(bytes)).toBe(hash)
    const said = readXrplMemo(bytes)
    expect(said.root).toBe(deed.root)
    expect(said.networkId).toBe(networkId > 1_024 ? networkId : undefined)
    const isToken = deed.kind === 'nft' || deed.kind === 'issuance'
    const accountId = Buffer.from(decodeAccountID(account)).toString('hex')
    expect(said.token?.account).toBe(isToken ? accountId : undefined)
  })
})

test('there are vectors of both algorithms, and of each kind', () => {
  expect(new Set(vectors.map(({ seed }) => seed)).size).toBe(2)
  expect(new Set(vectors.map(({ deed }) => deed.kind)).size).toBe(6)
  expect(vectors.length).toBe(48)
})

/** Examples by X.690, 8.3: integers are as short as they can be, and never negative. */
test.each([
  ['80', '01', '3026022100800000000000000000000000000000000000000000000000000000000000000002010'],
  ['7f', '00', '30250220'],
])('numbers that begin with %s are written as DER wants it', (first, second, start) => {
  const high = Buffer.from(first.padEnd(64, '0'), 'hex')
  const low = Buffer.alloc(32)
  low[31] = Number.parseInt(second, 16)
  const der = derOf(Buffer.concat([high, low])).toString('hex')
  expect(der.startsWith(start)).toBe(true)
  expect(der.endsWith(`0201${second}`)).toBe(true)
})

test('what has no 64 bytes is no signature', () => {
  expect(() => derOf(Buffer.alloc(63))).toThrow(RangeError)
})
