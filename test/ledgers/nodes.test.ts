import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { artifactFile, targets } from '../../scripts/contracts/compile-contract.ts'
import { freePort } from '../../scripts/servers/free-port.ts'
import type { Ledger } from '../../src/core/ledger.ts'
import type { LedgerSettings } from '../../src/core/ledger-settings.ts'
import { LedgerUnreachable } from '../../src/ledgers/ledger.ts'
import { rightNode, WrongNetwork } from '../../src/ledgers/nodes/right-node.ts'
import { LedgerNodeServer, type NodeState } from '../support/ledger-node.ts'

const patience = { timeoutMs: 5_000 }

/** What every address of these tests ends with. */
const token = 'needle-0123456789'

const accounts = { issuer: 'an account', distributor: 'another one' }

function settingsOf(ledger: Ledger, ...endpoints: readonly string[]): LedgerSettings {
  const network = ledger === 'XRPL' ? 'xrpl:99' : 'eip155:31337'
  const contract = ledger === 'XRPL' ? undefined : `0x${'5'.repeat(40)}`
  return { ledger, endpoints, network, contract, finality: 'finalized', feeMax: undefined }
}

async function figuresOf(settings: LedgerSettings) {
  const { node } = await rightNode(settings, patience)
  return await node.figures(accounts)
}

/** Why there is no node. */
async function reasonOf(settings: LedgerSettings, patient = patience): Promise<LedgerUnreachable> {
  const error: unknown = await rightNode(settings, patient).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof LedgerUnreachable)) throw new Error('there is one', { cause: error })
  expect(String(error.stack)).not.toContain(token)
  expect(error.cause).toBeUndefined()
  return error
}

describe.each(['http', 'ws'] as const)('over %s', (way) => {
  test('a node of an EVM network tells what there is to know', async () => {
    await using server = await LedgerNodeServer.start('evm', { fee: 7n, blockTimeS: 1_800_000_000 })

    expect(await figuresOf(settingsOf('ETHEREUM', server[way](token)))).toEqual({
      feeOfAnchor: 7n * 60_000n,
      balances: { issuer: 10n ** 18n },
      reserveEach: 0n,
      blockTimeUs: 1_800_000_000_000_000,
      hasContract: true,
      knowsAssets: false,
    })
  })

  test('a node of XRPL tells what there is to know, less what the network keeps', async () => {
    await using server = await LedgerNodeServer.start('xrpl', {
      fee: 12n,
      balance: 5_000_000n,
      blockTimeS: 1_800_000_000,
    })

    expect(await figuresOf(settingsOf('XRPL', server[way](token)))).toEqual({
      feeOfAnchor: 12n,
      balances: { issuer: 3_600_000n, distributor: 3_600_000n },
      reserveEach: 200_000n,
      blockTimeUs: 1_800_000_000_000_000,
      hasContract: undefined,
      knowsAssets: true,
    })
  })

  test('an account of XRPL that nobody has funded has nothing', async () => {
    await using server = await LedgerNodeServer.start('xrpl', { balance: 0n })

    expect(await figuresOf(settingsOf('XRPL', server[way](token)))).toMatchObject({
      balances: { issuer: 0n, distributor: 0n },
    })
  })

  test.each<[NodeState['mood'], RegExp]>([
    ['silent', /does not answer in time/],
    ['failing', /answers with the status 401|hangs up/],
    ['raving', /is not JSON/],
    ['endless', /is too long|does not answer/],
  ])('a node that is %s is away, and its address is not shown', async (mood, reason) => {
    await using server = await LedgerNodeServer.start('evm', { mood })

    const patient = mood === 'silent' ? { timeoutMs: 300 } : patience
    const { message } = await reasonOf(settingsOf('ETHEREUM', server[way](token)), patient)

    expect(message).toMatch(reason)
  })

  test('nobody at the address is a reason in words', async () => {
    const address = `${way}://127.0.0.1:${await freePort()}/${token}`

    const { message } = await reasonOf(settingsOf('XRPL', address))

    expect(message).toBe('the node refuses connections')
  })
})

describe('the right node', () => {
  test('is the first one that answers', async () => {
    await using away = await LedgerNodeServer.start('evm', { mood: 'failing' })
    await using there = await LedgerNodeServer.start('evm')

    const { endpoint } = await rightNode(
      settingsOf('ETHEREUM', away.http(token), there.http(token)),
      patience,
    )

    expect(endpoint).toBe(there.http(token))
  })

  test('is none as soon as one names another network, whatever others say', async () => {
    await using other = await LedgerNodeServer.start('evm', { network: 1 })
    await using there = await LedgerNodeServer.start('evm')

    const error = await reasonOf(settingsOf('ETHEREUM', other.http(token), there.http(token)))

    expect(error).toBeInstanceOf(WrongNetwork)
    expect(error.message).toContain('eip155:1,')
    expect(there.asked).toBe(0)
  })

  test('is not behind a redirection', async () => {
    await using server = await LedgerNodeServer.start('evm', { mood: 'redirecting' })

    await reasonOf(settingsOf('ETHEREUM', server.http(token)))

    expect(server.asked).toBe(1)
  })
})

test('a tip of Polygon is what its nodes take at least', async () => {
  await using server = await LedgerNodeServer.start('evm', { fee: 5n, code: '0x' })

  expect(await figuresOf(settingsOf('POLYGON_POS', server.http(token)))).toMatchObject({
    feeOfAnchor: 30_000_000_005n * 60_000n,
    hasContract: false,
  })
})

test('Polygon zkEVM costs the one price that its nodes ask for', async () => {
  await using server = await LedgerNodeServer.start('evm', { fee: 5n })

  expect(await figuresOf(settingsOf('POLYGON_ZKEVM', server.http(token)))).toMatchObject({
    feeOfAnchor: 7n * 60_000n,
  })
})

test.each(targets)('a contract for $evmVersion knows assets', async (target) => {
  const { bytecode: code } = JSON.parse(readFileSync(artifactFile(target), 'utf8')) as {
    readonly bytecode: string
  }
  await using server = await LedgerNodeServer.start('evm', { code })

  expect(await figuresOf(settingsOf('ETHEREUM', server.http(token)))).toMatchObject({
    knowsAssets: true,
  })
})

test('what a node says of an error is left out', async () => {
  await using server = await LedgerNodeServer.start('xrpl')

  // A server of XRPL does not know the question for the chain.
  const { message } = await reasonOf(settingsOf('ETHEREUM', server.http(token)))

  expect(message).toBe('the node answers with the error actNotFound')
})
