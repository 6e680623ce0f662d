import { writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { formatUs } from '../../src/core/time.ts'
import { streamvault } from '../support/command-line.ts'
import {
  type MadeReceipt,
  readingOf,
  receiptOf,
  sealedReceipt,
  startUs,
} from '../support/sealed-receipts.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
const good = folder.file('receipt.json')
let made: MadeReceipt

beforeAll(async () => {
  const readings = [20, 21.5, 22].map((temperature, at) => {
    return { timestampUs: startUs + at, values: { temperature } }
  })
  made = await sealedReceipt(folder.file('ledger'), readings, { timestampUs: startUs + 1 })
  writeFileSync(good, JSON.stringify(made.receipt))
})

afterAll(() => folder[Symbol.dispose]())

async function verify(...words: readonly string[]) {
  return await streamvault(['verify', ...words])
}

/** A file with something as JSON. */
function fileOf(name: string, value: unknown): string {
  writeFileSync(folder.file(name), JSON.stringify(value))
  return folder.file(name)
}

test('streamvault verify --receipt says what is proven of a reading, and what is not', async () => {
  const { code, stdout, stderr } = await verify('--receipt', good, '--key', made.keyId)

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const lines = stdout.split('\n')
  expect(lines[0]).toMatch(/^stored: \{"stream":".*"values":\{"temperature":21.5\}\}$/)
  expect(lines[1]).toMatch(
    /^ {2}proven: this reading was stored by 20\S+Z, as block 1 of the ledger/,
  )
  expect(lines[2]).toMatch(
    /^ {2}The seal: revision 2 of 2026-03-01T12:00:00.000000Z to .* reading 2 of 3\.$/,
  )
  expect(lines[3]).toMatch(/^It does not show that a device sent this, .*no ledger has them/)
})

test('streamvault verify --receipt has the exit codes of proofs', async () => {
  const [reading] = made.receipt.readings
  const proof = {
    ...made.sealProof.proof,
    network: 'xrpl-mainnet',
    transaction: '12',
    signatures: [],
  }
  const elsewhere = { ...made.sealProof, proof }
  const quarantined = receiptOf(startUs + 1, [readingOf('quarantined', null)])
  const changed = { ...made.receipt, timestamp: formatUs(startUs) }
  const two = { ...made.receipt, readings: [reading, readingOf('duplicate', null)] }
  const results = [
    await verify('--receipt', good),
    await verify('--receipt', fileOf('quarantined.json', quarantined), '--key', made.keyId),
    await verify('--receipt', fileOf('changed.json', changed), '--key', made.keyId),
    await verify('--receipt', fileOf('elsewhere.json', elsewhere), '--key', made.keyId),
    await verify('--receipt', fileOf('two.json', two), '--key', made.keyId),
    await verify('--receipt', fileOf('seal.json', made.sealProof), '--key', made.keyId),
    await verify('--receipt', fileOf('other.json', { seals: [] }), '--key', made.keyId),
  ]

  expect(results.map(({ code }) => code)).toEqual([3, 4, 5, 6, 0, 0, 5])
  expect(results.map(({ stdout }) => stdout)).toEqual([
    expect.stringMatching(/^stored: .*\n {2}proven under key \S+: this reading was stored by/),
    expect.stringMatching(
      /^quarantined:\n {2}not found: it was not stored, so no seal has it\.\n$/,
    ),
    expect.stringMatching(
      /^stored:\n {2}contradicted: readings\[0\]\.reading is of another time\.\n$/,
    ),
    expect.stringMatching(/^ledger not reached: nothing is known here of the network/),
    expect.stringMatching(/^stored: [^]*\nduplicate:\n {2}not found: /),
    expect.stringMatching(/^proven: this seal existed by .*\n {2}The seal: .*; 3 readings\.\n/),
    expect.stringMatching(/^contradicted: it is neither a receipt nor the proof of a seal\.\n$/),
  ])
})

test('streamvault verify --receipt answers JSON', async () => {
  const { stdout } = await verify('--receipt', good, '--key', made.keyId, '--json')

  expect(JSON.parse(stdout)).toMatchObject({
    result: 'proven',
    key_id: made.keyId,
    tx_hash: made.sealProof.proof.tx_hash,
    readings: [
      {
        result: 'proven',
        outcome: 'stored',
        text: made.receipt.readings[0]?.text,
        seal: { start: formatUs(startUs), revision: 2, count: 3, index: 1 },
      },
    ],
    limits: expect.stringContaining('no ledger has them'),
  })
})

test('a text of a receipt does nothing to a terminal', async () => {
  const readings = [
    { timestampUs: startUs, values: { note: '\u202e\u001b[2J', long: 'x'.repeat(1e6) } },
  ]
  const { receipt } = await sealedReceipt(folder.file('odd'), readings, { timestampUs: startUs })
  const { code, stdout } = await verify('--receipt', fileOf('odd.json', receipt))

  expect(code).toBe(3)
  for (const one of ['\u202e', '\u001b']) expect(stdout).not.toContain(one)
  expect(stdout.length).toBeLessThan(2_000)
})

test.each([
  [[], 'FILE is needed, or --receipt FILE'],
  [['--receipt', 'nowhere.json'], '--receipt: there is no file nowhere.json'],
  [['--receipt', '/dev/zero'], '--receipt: there is no file /dev/zero'],
  [['package.json', '--receipt', 'package.json'], 'goes without FILE'],
  [['--receipt', 'package.json', '--proof', 'package.json'], 'with --key alone'],
])('verify %j is wrong usage', async (words, problem) => {
  const { code, stdout, stderr } = await verify(...words)
  expect(stderr).toContain(problem)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
})
