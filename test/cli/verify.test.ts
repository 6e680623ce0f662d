import { createPublicKey } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { folderCid } from '../../src/files/content/folder-cid.ts'
import { hashFile } from '../../src/files/content/hash-file.ts'
import { type PublishedKeys } from '../../src/ledgers/proofs/public-key.ts'
import { ledgerKeys } from '../../src/ledgers/sandbox/keys.ts'
import { cidLike } from '../support/cid-like.ts'
import { streamvault } from '../support/command-line.ts'
import { deedOf, openSandbox, putOn } from '../support/sandbox-ledger.ts'
import { type MadeProof, sandboxProof } from '../support/sandbox-proof.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
const dataDir = folder.file('data')
const file = folder.file('report.txt')
const proofFile = folder.file('proof.json')
const keysFile = folder.file('ledger-keys.json')
let made: MadeProof
let keys: PublishedKeys

beforeAll(async () => {
  mkdirSync(folder.file('data'))
  mkdirSync(folder.file('attached/part'), { recursive: true })
  writeFileSync(file, 'the report')
  writeFileSync(folder.file('attached/a.txt'), 'a')
  writeFileSync(folder.file('attached/part/b.txt'), 'b')
  writeFileSync(folder.file('other.txt'), 'another report')
  // Larger than a block, so that its CID is not that of all its bytes as one.
  writeFileSync(folder.file('large'), Buffer.alloc(3 * 1024 * 1024, 'large'))
  made = await sandboxProof(`${dataDir}/ledger`, [{ name: '', bytes: readFileSync(file) }], {
    others: 4,
  })
  const ledger = await openSandbox(`${dataDir}/ledger`)
  const cids = [(await hashFile(folder.file('large'))).cid, await attachedCid()]
  const leaves = cids.map((cid, at) => ({ intentId: `file ${at}`, cid }))
  await putOn(ledger, await deedOf({ leaves }))
  await ledger.close()
  keys = await ledgerKeys(`${dataDir}/ledger`)
  writeFileSync(proofFile, JSON.stringify(made.proof, null, 2))
  writeFileSync(keysFile, JSON.stringify(keys))
})

afterAll(() => folder[Symbol.dispose]())

/** The CID of the folder `attached`, as an archive of it has. */
async function attachedCid(): Promise<string> {
  const files = await Promise.all(
    ['a.txt', 'part/b.txt'].map(async (name) => {
      return { name, ...(await hashFile(folder.file(`attached/${name}`))) }
    }),
  )
  return await folderCid(files)
}

async function verify(
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) {
  return await streamvault(['verify', ...words], environment)
}

describe('streamvault verify', () => {
  test('says that a file is proven by a key that was given, and what that does not mean', async () => {
    const { code, stdout, stderr } = await verify([file, '--proof', proofFile, '--key', made.keyId])
    expect(stdout).toMatch(/^proven: the bytes of bafkrei\w+ existed by 20\S+Z, as block 1 of/)
    expect(stdout).toMatch(/It does not show who made them/)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  test('never says that it is proven without a key', async () => {
    const { code, stdout } = await verify([file, '--proof', proofFile])
    expect(stdout).toMatch(new RegExp(`^proven under key ${made.keyId}: `))
    expect(code).toBe(3)
  })

  test('takes keys in every form', async () => {
    const [key] = keys.keys
    const { kty, crv, x } = key ?? { kty: '', crv: '', x: '' }
    writeFileSync(folder.file('key.json'), JSON.stringify(key))
    const pem = createPublicKey({ key: { kty, crv, x }, format: 'jwk' })
    writeFileSync(folder.file('key.pem'), pem.export({ format: 'pem', type: 'spki' }))
    for (const given of [x, keysFile, folder.file('key.json'), folder.file('key.pem')]) {
      expect(await verify([file, '--proof', proofFile, '--key', given])).toMatchObject({ code: 0 })
    }
    const pinned = { STREAMVAULT_LEDGER_KEYS: keysFile }
    expect(await verify([file, '--proof', proofFile], pinned)).toMatchObject({ code: 0 })
  })

  test('does not take the key of an account for one of blocks', async () => {
    const [, account] = keys.keys
    const given = ['--key', account?.kid ?? '']
    expect(await verify([file, '--proof', proofFile, ...given])).toMatchObject({ code: 3 })
  })

  test('finds a file, a large one, a folder and a CID on the ledger of a data folder', async () => {
    const own = { STREAMVAULT_DATA_DIR: dataDir, STREAMVAULT_LEDGER_KEYS: keysFile }
    for (const one of [file, folder.file('large'), folder.file('attached'), made.proof.cid]) {
      expect(await verify([one], own)).toMatchObject({ code: 0, stderr: '' })
    }
    expect(await verify([file, '--data-dir', dataDir])).toMatchObject({ code: 3 })
  })

  test('has exit codes of their own for what is not proven', async () => {
    const changed = folder.file('changed.json')
    writeFileSync(changed, readFileSync(proofFile, 'utf8').replace('"height": 1', '"height": 2'))
    const other = folder.file('other.txt')
    const results = await Promise.all([
      verify([other, '--proof', proofFile]),
      verify([other, '--data-dir', dataDir]),
      verify([file, '--proof', changed, '--key', keysFile]),
      verify([file, '--data-dir', folder.file('nowhere')]),
    ])
    expect(results.map(({ code, stdout }) => [code, stdout.split(':')[0]])).toEqual([
      [4, 'not found'],
      [4, 'not found'],
      [5, 'contradicted'],
      [6, 'ledger not reached'],
    ])
  })

  test('reads nothing that has no end', async () => {
    expect(await verify(['/dev/zero', '--proof', proofFile])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('neither a file nor a folder'),
    })
  })

  test('answers JSON', async () => {
    const { stdout, code } = await verify([file, '--proof', proofFile, '--key', keysFile, '--json'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      result: 'proven',
      cid: made.proof.cid,
      time: made.proof.block?.time,
      network: 'sandbox',
      tx_hash: made.proof.tx_hash,
      key_id: made.keyId,
      limits: expect.stringContaining('who made them'),
    })
  })

  test.each([
    [['nowhere.txt'], 'there is no file nowhere.txt'],
    [['QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKcyeP'], 'CIDv0'],
    [[cidLike(Buffer.of(1)), '--proof', 'nowhere.json'], '--proof: there is no file nowhere.json'],
    [['package.json', '--key', 'secret'], '--key is no file'],
    [['package.json', '--key', 'package.json'], 'has no public key of Ed25519'],
  ])('%j is wrong usage', async (words, problem) => {
    const { code, stdout, stderr } = await verify(words)
    expect(stderr).toContain(problem)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })
})

describe('streamvault ledger', () => {
  const at = ['--data-dir', dataDir]

  test('verify says that the whole chain is as it was written, beside who writes it', async () => {
    const ledger = await openSandbox(`${dataDir}/ledger`)
    const { code, stdout, stderr } = await streamvault(['ledger', 'verify', ...at])
    await ledger.close()
    expect(stdout).toMatch(
      new RegExp(`^the ledger is intact under key ${made.keyId}: 2 blocks, 2 transactions; `),
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })

  test('verify says whose key it is when that was given', async () => {
    const words = ['ledger', 'verify', ...at, '--key']
    expect((await streamvault([...words, keysFile])).stdout).toContain(
      'under the key that you trust',
    )
    const { code, stdout } = await streamvault([...words, keys.keys[1]?.kid ?? ''])
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout: expect.stringContaining('not a key that you trust'),
    })
  })

  test('verify names the first block that is broken', async () => {
    using copy = new TemporaryFolder()
    mkdirSync(copy.file('ledger'))
    for (const name of ['keys.json', 'chain.jsonl']) {
      writeFileSync(copy.file(`ledger/${name}`), readFileSync(`${dataDir}/ledger/${name}`))
    }
    const chain = readFileSync(copy.file('ledger/chain.jsonl'), 'utf8')
    writeFileSync(copy.file('ledger/chain.jsonl'), chain.replace('file 0', 'file 9'))
    const words = ['ledger', 'verify', '--data-dir', copy.path]
    const { code, stdout } = await streamvault([...words, '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject({ is_whole: false, blocks: 1, broken: { height: 2 } })
    const { stdout: said } = await streamvault(words)
    expect(said).toMatch(/^block 2 of the sandbox ledger is broken: /)
  })

  test('keys prints the public keys', async () => {
    const { code, stdout } = await streamvault(['ledger', 'keys', ...at])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual(keys)
  })

  test.each(['verify', 'keys'])('%s says that there is no ledger', async (name) => {
    const words = ['ledger', name, '--data-dir', folder.file('nowhere')]
    expect(await streamvault(words)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there are no keys of a ledger'),
    })
  })
})
