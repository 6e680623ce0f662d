import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { systemClock } from '../src/core/clock.ts'
import { cidProfile } from '../src/files/content/content.ts'
import { hashFile } from '../src/files/content/hash-file.ts'
import { checkProof } from '../src/ledgers/proofs/check-proof.ts'
import { proofOf } from '../src/ledgers/proofs/proof.ts'
import { provenByChain, verifyChain } from '../src/ledgers/sandbox/chain-reader.ts'
import { SandboxLedger } from '../src/ledgers/sandbox/sandbox-ledger.ts'
import { streamvault } from '../test/support/command-line.ts'
import { cipher, deedOf, includedOf, openSandbox, putOn } from '../test/support/sandbox-ledger.ts'
import { TemporaryFolder } from '../test/support/temporary-folder.ts'
import { writeLargeFile } from './large-file.ts'
import { type Figure, measureAll } from './report.ts'

const mib = 1024 * 1024
const fileBytes = 1024 * mib

/** Transactions on the ledger in which one CID is looked for. */
const transactions = 20_000

/** Looks at CIDs, of which the slowest counts. */
const looks = 50

/** How fast is said what is proven: `npm run bench:verify`. */
async function main(): Promise<void> {
  await measureAll({ file, cid }, process.argv.slice(2))
}

/** `streamvault verify` of a large file, with the start of the process. */
async function file(): Promise<Figure> {
  using folder = new TemporaryFolder()
  const path = folder.file('large')
  writeLargeFile(path, fileBytes)
  const { cid: ofFile } = await hashFile(path)
  const ledger = await openSandbox(folder.file('ledger'))
  const deed = await deedOf({ leaves: [{ intentId: 'file', cid: ofFile }] })
  const { transaction, inclusion } = await putOn(ledger, deed)
  await ledger.close()
  const proof = proofOf({
    status: 'COMPLETED',
    isFinal: true,
    profile: cidProfile,
    parts: [{ name: '', cid: ofFile, leaf: 0 }],
    leaves: [ofFile],
    ledger: 'XRPL',
    network: 'sandbox',
    transaction,
    inclusion,
  })
  writeFileSync(folder.file('proof.json'), JSON.stringify(proof))
  const key = inclusion.signatures[0]?.keyId ?? ''
  const words = ['verify', path, '--proof', folder.file('proof.json'), '--key', key]
  const { result, ms } = await timed(async () => await streamvault(words))
  if (result.code !== 0) throw new Error(`it is not proven: ${result.stdout}${result.stderr}`)
  return {
    name: 'a file of 1 GiB, verified by its proof, with the start of the process',
    measured: `${(ms / 1_000).toFixed(1)} s`,
    target: 'within 10 s',
    isMet: ms <= 10_000,
  }
}

/** A CID that is looked for on a long ledger, without the start of a process; and the whole chain. */
async function cid(): Promise<readonly Figure[]> {
  using folder = new TemporaryFolder()
  mkdirSync(folder.file('ledger'))
  const cids = await longLedger(folder.file('ledger'))
  const times: number[] = []
  for (let look = 0; look < looks; look++) {
    const wanted = cids[Math.floor((look * cids.length) / looks)] ?? ''
    const { result, ms } = await timed(async () => {
      const proof = await provenByChain(folder.file('ledger'), [wanted], cidProfile)
      return checkProof(proof, { cids: [wanted], trustedKeys: new Set() })
    })
    if (result.is !== 'proven_under_key') throw new Error(`it is ${result.is}`)
    times.push(ms)
  }
  const { ms: wholeMs } = await timed(async () => await verifyChain(folder.file('ledger')))
  const size = readFileSync(folder.file('ledger/chain.jsonl')).length / mib
  const slowest = Math.max(...times)
  return [
    {
      name: `a CID, looked for among ${transactions} transactions and verified`,
      measured: `${slowest.toFixed(0)} ms at most`,
      target: 'under 50 ms',
      isMet: slowest < 50,
    },
    {
      name: `the whole chain of these (${size.toFixed(0)} MiB)`,
      measured: `${(wholeMs / 1_000).toFixed(1)} s`,
      target: 'none',
      isMet: undefined,
    },
  ]
}

/** CIDs that are on it. */
async function longLedger(folder: string): Promise<readonly string[]> {
  const ledger = await SandboxLedger.open({ folder, cipher, clock: systemClock, batchWaitUs: 1 })
  const cids: string[] = []
  let last = ''
  for (let sequence = 1; sequence <= transactions; sequence++) {
    const deed = await deedOf()
    const { hash, blob } = await ledger.sign(deed, sequence)
    await ledger.submit(blob)
    cids.push(deed.leaves[0]?.cid ?? '')
    last = hash
    // A few blocks wait at most.
    if (sequence % 1_000 === 0) await includedOf(ledger, hash)
  }
  await includedOf(ledger, last)
  await ledger.close()
  return cids
}

async function timed<Result>(work: () => Promise<Result>) {
  const startMs = performance.now()
  const result = await work()
  return { result, ms: performance.now() - startMs }
}

await main()
