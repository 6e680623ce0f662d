import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { provenByChain, verifyChain } from '../../src/ledgers/sandbox/chain-reader.ts'
import { unfoundBits } from '../support/damaged-chain.ts'
import { deedOf, openSandbox, putOn } from '../support/sandbox-ledger.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
const path = folder.file('chain.jsonl')
const cids: string[] = []
let whole: Buffer

beforeAll(async () => {
  const ledger = await openSandbox(folder.path)
  for (const kind of ['nft', 'root', 'record'] as const) {
    const deed = await deedOf({ kind })
    await putOn(ledger, deed)
    cids.push(...deed.leaves.map(({ cid }) => cid))
  }
  await ledger.close()
  whole = readFileSync(path)
})

afterAll(() => folder[Symbol.dispose]())

/** Has other bytes in the file of the chain, while something is done. */
async function withChain<Result>(bytes: string | Uint8Array, act: () => Promise<Result>) {
  writeFileSync(path, bytes)
  try {
    return await act()
  } finally {
    writeFileSync(path, whole)
  }
}

describe('the chain of a folder', () => {
  test('is whole as it was written', async () => {
    expect(await verifyChain(folder.path)).toMatchObject({
      blocks: 3,
      transactions: 3,
      unendedBytes: 0,
      broken: undefined,
    })
  })

  test('is broken with a bit of any byte that is another one, in the block that has it', async () => {
    const bits = [...whole.keys()].map((at) => 8 * at + ((5 * at) % 8))
    expect(await unfoundBits(folder.path, bits)).toEqual([])
  })

  test.each([
    ['a block is gone', (lines: readonly string[]) => [lines[0], lines[2]], 2],
    ['the first block is gone', (lines: readonly string[]) => lines.slice(1), 1],
    ['the last block is gone', (lines: readonly string[]) => lines.slice(0, 2), 3],
    ['two blocks are the other way round', ([a, b, c]: readonly string[]) => [b, a, c], 1],
    ['a block is there twice', ([a, b, c]: readonly string[]) => [a, b, b, c], 3],
    ['a line is empty', ([a, b, c]: readonly string[]) => [a, '', b, c], 2],
  ])('is broken when %s', async (_, change, height) => {
    const lines = whole.toString().split('\n').slice(0, -1)
    const changed = `${change(lines).join('\n')}\n`
    const { broken } = await withChain(changed, async () => await verifyChain(folder.path))
    expect(broken).toMatchObject({ height })
  })

  test('is whole before what somebody is just writing', async () => {
    const more = Buffer.concat([whole, whole.subarray(0, 100)])
    const report = await withChain(more, async () => await verifyChain(folder.path))
    expect(report).toMatchObject({ blocks: 3, unendedBytes: 100, broken: undefined })
  })

  test.each([true, false])('proves what is on it (with an index: %s)', async (hasIndex) => {
    if (!hasIndex) rmSync(folder.file('index.db'))
    for (const cid of cids) {
      const proof = await provenByChain(folder.path, ['bafkreinothing', cid], 'unixfs-v1-2025')
      expect(proof).toMatchObject({ cid, final: true })
    }
    expect(await provenByChain(folder.path, ['bafkreinothing'], 'unixfs-v1-2025')).toBeUndefined()
  })
})
