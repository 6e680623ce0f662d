import {
  appendFileSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { systemClock } from '../../src/core/clock.ts'
import { LedgerUnreachable } from '../../src/ledgers/ledger.ts'
import { leafHash, rootBy } from '../../src/ledgers/merkle/merkle.ts'
import { parseHeader } from '../../src/ledgers/proofs/block-header.ts'
import { sha256Of } from '../../src/ledgers/proofs/transaction-text.ts'
import { verifyChain } from '../../src/ledgers/sandbox/chain-reader.ts'
import { ledgerKeys } from '../../src/ledgers/sandbox/keys.ts'
import { SandboxLedger } from '../../src/ledgers/sandbox/sandbox-ledger.ts'
import { ledgerContract } from '../contracts/ledger-contract.ts'
import { cipher, deedOf, gold, includedOf, openSandbox, putOn } from '../support/sandbox-ledger.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

/** Takes lines from the end of a chain. */
function shorten(folder: string, lines: number): void {
  const path = join(folder, 'chain.jsonl')
  const all = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  writeFileSync(
    path,
    all
      .slice(0, all.length - lines)
      .map((line) => `${line}\n`)
      .join(''),
  )
}

describe('the sandbox', () => {
  ledgerContract(async () => {
    const folder = new TemporaryFolder()
    let ledger = await openSandbox(folder.path)
    const restart = async (between?: () => void) => {
      await ledger.close()
      between?.()
      ledger = await openSandbox(folder.path)
      return ledger
    }
    return {
      ledger,
      keepsLeaves: true,
      issuesAtOnce: true,
      restart,
      reorg: async () => await restart(() => shorten(folder.path, 1)),
      goDown: async () => await ledger.close(),
      async [Symbol.asyncDispose]() {
        await ledger.close()
        folder[Symbol.dispose]()
      },
    }
  })
})

/** The sandbox of a folder of its own, for one test. */
async function freshSandbox() {
  const folder = new TemporaryFolder()
  const ledger = await openSandbox(folder.path)
  return {
    ledger,
    async [Symbol.asyncDispose]() {
      await ledger.close()
      folder[Symbol.dispose]()
    },
  }
}

describe('a transaction of the sandbox', () => {
  test('is shown by hashes, from its text to a block that is signed', async () => {
    await using fresh = await freshSandbox()
    await fresh.ledger.submit((await fresh.ledger.sign(await deedOf(), 1)).blob)
    const { transaction, inclusion } = await putOn(fresh.ledger, await deedOf({ kind: 'nft' }))
    const { header, blockHash, path, height, timeUs, signatures, tokenId } = inclusion
    expect(sha256Of(transaction.text)).toBe(transaction.hash)
    expect(sha256Of(header)).toBe(blockHash)
    expect(parseHeader(header)).toMatchObject({ height, timeUs })
    const root = rootBy(leafHash(transaction.hash), path)?.toString('hex')
    expect(root).toBe(parseHeader(header)?.root)
    expect(signatures).toHaveLength(1)
    expect(tokenId).toMatch(/^[0-9a-f]{64}$/)
  })

  test('that issues an asset says which, names it, and is found with it', async () => {
    await using fresh = await freshSandbox()
    const { ledger } = fresh
    const deed = await deedOf({ kind: 'token' })
    const { transaction, inclusion } = await putOn(ledger, deed)
    expect(JSON.parse(transaction.text)).toMatchObject({ kind: 'token', asset: gold })
    expect(inclusion.tokenId).toMatch(/^[0-9a-f]{64}$/)
    const found = await ledger.find([deed.intentId])
    expect(found.get(deed.intentId)?.deed).toEqual(deed)
    const another = await putOn(ledger, await deedOf({ kind: 'token' }))
    expect(another.inclusion.tokenId).not.toBe(inclusion.tokenId)
  })

  test.each(['issuance', 'authorization', 'payment'] as const)(
    'that is a step of other networks (%s) is refused, before it is signed and after',
    async (kind) => {
      await using fresh = await freshSandbox()
      const deed = await deedOf({ kind })
      expect(await fresh.ledger.prepare(deed)).toEqual({ refused: `the sandbox knows no ${kind}` })
      const { blob } = await fresh.ledger.sign(deed, 1)
      expect(await fresh.ledger.submit(blob)).toMatchObject({ is: 'refused' })
    },
  )

  test.each([
    ['no asset', 'token', undefined],
    ['an asset, and issues none', 'record', gold],
    ['more than is issued', 'token', { ...gold, amount: '0' }],
    ['less than a unit', 'token', { ...gold, precision: -1 }],
    ['no code', 'token', { ...gold, code: '' }],
  ] as const)('that says %s is refused', async (_, kind, asset) => {
    await using fresh = await freshSandbox()
    const { asset: _asset, ...deed } = await deedOf({ kind })
    const { blob } = await fresh.ledger.sign({ ...deed, ...(asset && { asset }) }, 1)
    expect(await fresh.ledger.submit(blob)).toMatchObject({ is: 'refused' })
  })

  test('whose sequence another one has that waits can never get in', async () => {
    await using fresh = await freshSandbox()
    const { ledger } = fresh
    const first = await ledger.sign(await deedOf(), 1)
    const second = await ledger.sign(await deedOf(), 1)
    expect(
      await Promise.all([ledger.submit(first.blob), ledger.submit(second.blob)]),
    ).toMatchObject([{ is: 'accepted' }, { is: 'superseded' }])
    await includedOf(ledger, first.hash)
  })

  test('that leaves a gap is early', async () => {
    await using fresh = await freshSandbox()
    const { blob } = await fresh.ledger.sign(await deedOf(), 2)
    expect(await fresh.ledger.submit(blob)).toEqual({ is: 'early' })
  })

  test.each([
    ['changed', (blob: string) => blob.replace('"', "'")],
    ['signed by nobody', (blob: string) => blob.replace(/"signature":"..../, '"signature":"AAAA')],
  ])('that is %s is refused', async (_, change) => {
    await using fresh = await freshSandbox()
    const { blob } = await fresh.ledger.sign(await deedOf(), 1)
    expect(await fresh.ledger.submit(change(blob))).toMatchObject({ is: 'refused' })
    expect(await fresh.ledger.nextSequence()).toBe(1)
  })

  test('whose root is not that of its leaves is refused', async () => {
    await using fresh = await freshSandbox()
    const deed = { ...(await deedOf()), root: sha256Of('another one') }
    const { blob } = await fresh.ledger.sign(deed, 1)
    expect(await fresh.ledger.submit(blob)).toMatchObject({ is: 'refused' })
  })
})

/** A closed ledger with so many blocks, each of one transaction. */
async function ledgerWith(folder: string, blocks: number) {
  const ledger = await openSandbox(folder)
  const all = []
  for (let at = 0; at < blocks; at++) all.push(await putOn(ledger, await deedOf()))
  await ledger.close()
  return all
}

/** Why something is refused; undefined when it is not. */
async function reasonOf(asked: Promise<unknown>): Promise<string | undefined> {
  return await asked.then(
    () => undefined,
    (error: unknown) => String(error),
  )
}

/** Changes one byte of a file. */
function damage(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

describe('the chain of the sandbox', () => {
  test('is opened without an index', async () => {
    using folder = new TemporaryFolder()
    const all = await ledgerWith(folder.path, 3)
    rmSync(folder.file('index.db'))
    const ledger = await openSandbox(folder.path)
    for (const { transaction, inclusion } of all) {
      expect(await includedOf(ledger, transaction.hash)).toEqual(inclusion)
    }
    await ledger.close()
  })

  test('is opened with an index that is damaged', async () => {
    using folder = new TemporaryFolder()
    const [one] = await ledgerWith(folder.path, 2)
    writeFileSync(folder.file('index.db'), 'this is no database, whoever reads it'.repeat(200))
    const ledger = await openSandbox(folder.path)
    expect(await includedOf(ledger, one?.transaction.hash ?? '')).toEqual(one?.inclusion)
    await ledger.close()
  })

  test.each([1, 5, 200])('loses what a crash has left: %i characters', async (chars) => {
    using folder = new TemporaryFolder()
    const all = await ledgerWith(folder.path, 2)
    const path = folder.file('chain.jsonl')
    const whole = readFileSync(path, 'utf8')
    writeFileSync(path, `${whole}${whole.slice(0, chars)}`)
    const ledger = await openSandbox(folder.path)
    expect(readFileSync(path, 'utf8')).toBe(whole)
    expect(await ledger.nextSequence()).toBe(all.length + 1)
    await putOn(ledger, await deedOf())
    await ledger.close()
  })

  test('is not opened when the end of a block is gone that was told of', async () => {
    using folder = new TemporaryFolder()
    await ledgerWith(folder.path, 2)
    const path = folder.file('chain.jsonl')
    truncateSync(path, readFileSync(path).length - 1)
    await expect(openSandbox(folder.path)).rejects.toThrow(/block 2 .* cut off/)
    // Another try is told the same, and begins no other block in its place.
    await expect(openSandbox(folder.path)).rejects.toThrow(/block 2 .* cut off/)
    appendFileSync(path, '\n')
    const ledger = await openSandbox(folder.path)
    expect(await ledger.nextSequence()).toBe(3)
    await ledger.close()
  })

  test('is not opened when its last block is changed', async () => {
    using folder = new TemporaryFolder()
    await ledgerWith(folder.path, 2)
    const path = folder.file('chain.jsonl')
    damage(path, readFileSync(path).length - 20)
    await expect(openSandbox(folder.path)).rejects.toThrow(LedgerUnreachable)
    await expect(openSandbox(folder.path)).rejects.toThrow(
      /block 2 of the sandbox ledger is broken/,
    )
  })

  test('names the block that is broken when somebody looks at it', async () => {
    using folder = new TemporaryFolder()
    const [one, two] = await ledgerWith(folder.path, 3)
    damage(folder.file('chain.jsonl'), 40)
    const ledger = await openSandbox(folder.path)
    const sight = ledger.sight(one?.transaction.hash ?? '')
    await expect(sight).rejects.toThrow(/block 1 of the sandbox ledger is broken/)
    expect(await ledger.sight(two?.transaction.hash ?? '')).toMatchObject({ is: 'included' })
    await ledger.close()
  })

  test('goes on from an older copy of itself', async () => {
    using folder = new TemporaryFolder()
    const [one, two, three] = await ledgerWith(folder.path, 3)
    shorten(folder.path, 2)
    const ledger = await openSandbox(folder.path)
    expect(await ledger.sight(one?.transaction.hash ?? '')).toMatchObject({ is: 'included' })
    for (const gone of [two, three]) {
      expect(await ledger.sight(gone?.transaction.hash ?? '')).toEqual({ is: 'unknown' })
      expect(await ledger.submit(gone?.transaction.blob ?? '')).toEqual({ is: 'accepted' })
    }
    await ledger.close()
  })

  test('is not begun anew when it is gone', async () => {
    using folder = new TemporaryFolder()
    await ledgerWith(folder.path, 1)
    rmSync(folder.file('chain.jsonl'))
    await expect(openSandbox(folder.path)).rejects.toThrow(/chain.jsonl is gone/)
    await expect(openSandbox(folder.path)).rejects.toThrow(/chain.jsonl is gone/)
  })

  test('is not begun anew when it is moved away, and goes on when it is back', async () => {
    using folder = new TemporaryFolder()
    const ledger = await openSandbox(folder.path)
    const { transaction, inclusion } = await putOn(ledger, await deedOf())
    renameSync(folder.file('chain.jsonl'), folder.file('elsewhere'))
    await expect(putOn(ledger, await deedOf())).rejects.toThrow(/deleted, moved or replaced/)
    await expect.poll(async () => await reasonOf(ledger.nextSequence())).toMatch(/is gone/)
    renameSync(folder.file('elsewhere'), folder.file('chain.jsonl'))
    await expect.poll(async () => await reasonOf(ledger.nextSequence())).toBeUndefined()
    expect(await includedOf(ledger, transaction.hash)).toEqual(inclusion)
    await putOn(ledger, await deedOf())
    expect(await verifyChain(folder.path)).toMatchObject({ broken: undefined })
    await ledger.close()
  })

  test('goes on when the clock was set back', async () => {
    using folder = new TemporaryFolder()
    const [before] = await ledgerWith(folder.path, 1)
    const earlier = { nowUs: () => systemClock.nowUs() - 3_600_000_000 }
    const needs = { folder: folder.path, cipher, clock: earlier, batchWaitUs: 1 }
    const ledger = await SandboxLedger.open(needs)
    const { inclusion } = await putOn(ledger, await deedOf())
    expect(inclusion.timeUs).toBe((before?.inclusion.timeUs ?? 0) + 1)
    await ledger.close()
  })
})

describe('the keys of the sandbox', () => {
  test('are published without their private parts', async () => {
    using folder = new TemporaryFolder()
    const ledger = await openSandbox(folder.path)
    const { keys } = await ledgerKeys(folder.path)
    expect(ledger.distributionWallet).not.toBe(ledger.account)
    expect(keys.map(({ role }) => role)).toEqual(['blocks', 'account', 'distribution'])
    expect(keys.map(({ kid }) => kid)).toContain(ledger.account)
    for (const key of keys) {
      expect(Object.keys(key)).toEqual(['kty', 'crv', 'x', 'kid', 'alg', 'use', 'role'])
    }
    await ledger.close()
  })

  test('are none where none were made', async () => {
    using folder = new TemporaryFolder()
    expect(await ledgerKeys(folder.file('ledger'))).toEqual({ keys: [] })
  })

  test('do not open with another master key', async () => {
    using folder = new TemporaryFolder()
    await ledgerWith(folder.path, 1)
    const other = new MasterKey(Buffer.alloc(32, 8))
    const needs = { folder: folder.path, cipher: other, clock: systemClock, batchWaitUs: 1 }
    await expect(SandboxLedger.open(needs)).rejects.toThrow(/does not fit the master key/)
  })

  test('are not made anew when they are gone', async () => {
    using folder = new TemporaryFolder()
    await ledgerWith(folder.path, 1)
    rmSync(folder.file('keys.json'))
    await expect(openSandbox(folder.path)).rejects.toThrow(/keys.json .* is gone/)
  })

  test('of another ledger do not open a chain', async () => {
    using folder = new TemporaryFolder()
    using other = new TemporaryFolder()
    await ledgerWith(folder.path, 1)
    await ledgerWith(other.path, 1)
    writeFileSync(folder.file('keys.json'), readFileSync(other.file('keys.json')))
    await expect(openSandbox(folder.path)).rejects.toThrow(/block 1 .* the key is/)
  })
})

describe('a code', () => {
  test.each([
    ['USD', 'USD'],
    ['$$$', '$$$'],
    ['XRP', '5852500000000000000000000000000000000000'],
    ['GOLD', '474F4C4400000000000000000000000000000000'],
    ['A', '4100000000000000000000000000000000000000'],
    ['A.B', '412E420000000000000000000000000000000000'],
  ])('%s is %s on the ledger', async (code, expected) => {
    using folder = new TemporaryFolder()
    const ledger = await openSandbox(folder.path)
    expect(ledger.mappingOf(code)).toBe(expected)
    await ledger.close()
  })
})
