import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { filesIn } from '../../src/config/data-folder.ts'
import { newKey } from '../../src/ledgers/keys/make-key.ts'
import { ApiClient } from '../support/api-client.ts'
import { LedgerNodeServer, type NodeState } from '../support/ledger-node.ts'
import { metricOf } from '../support/metrics.ts'
import { adminKey, adminSecret, type ServiceProcess } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'

const { start, launch, newFolder } = startedServices()

const token = 'needle-0123456789'
const contract = `0x${'5'.repeat(40)}`
const headers = { 'x-api-key': adminKey, 'x-api-secret': adminSecret }

interface ShownLedger {
  readonly ledger: string
  readonly network: string
  readonly fee: string | null
  readonly answers: boolean
  readonly problem: string | null
}

/** A service with Ethereum at a node of ours, and a key for it unless it is to have none. */
class Watched implements AsyncDisposable {
  readonly node: LedgerNodeServer
  readonly service: ServiceProcess
  readonly #api: ApiClient

  static async start(
    state: Partial<NodeState> = {},
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Watched> {
    const node = await LedgerNodeServer.start('evm', state)
    const service = await start(newFolder(), {
      STREAMVAULT_LEDGER_ETHEREUM: node.http(token),
      STREAMVAULT_LEDGER_ETHEREUM_NETWORK: 'eip155:31337',
      STREAMVAULT_LEDGER_ETHEREUM_CONTRACT: contract,
      STREAMVAULT_LOG_LEVEL: 'trace',
      ...settings,
    })
    return new Watched(node, service)
  }

  private constructor(node: LedgerNodeServer, service: ServiceProcess) {
    this.node = node
    this.service = service
    this.#api = new ApiClient(service.http)
  }

  async makeKey(): Promise<string> {
    const { privateKey, account } = await newKey('evm')
    const body = { ledger: 'ETHEREUM', secret: privateKey }
    expect((await this.#api.request('POST', '/ledger-keys', { headers, body })).status).toBe(201)
    return account
  }

  async get<Body>(path: string): Promise<Body> {
    return (await this.#api.request<Body>('GET', path, { headers })).body
  }

  async ledger(name = 'ETHEREUM'): Promise<ShownLedger | undefined> {
    return (await this.get<ShownLedger[]>('/ledgers')).find(({ ledger }) => ledger === name)
  }

  /** Waits until the ledger is shown like this: looks are good for some seconds. */
  async shows(expected: Partial<ShownLedger>): Promise<void> {
    const patient = { timeout: 20_000, interval: 500 }
    await expect.poll(() => this.ledger(), patient).toMatchObject(expected)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    expect(this.service.output()).not.toContain(token)
    await this.node[Symbol.asyncDispose]()
  }
}

test('the metrics tell of money, and of what is under way', async () => {
  await using watched = await Watched.start({ fee: 1n, balance: 60_000n * 200n })
  await watched.makeKey()
  await watched.shows({ problem: null })
  const figure = (name: string) =>
    metricOf(watched.service, `ledger_${name}{network="eip155:31337"}`)
  expect(await figure('anchors_left')).toBe(200)
  expect([await figure('in_flight'), await figure('oldest_seconds')]).toEqual([0, 0])
  expect(await figure('spent_total')).toBe(0)

  watched.node.state.balance -= 60_000n * 5n

  const spent = async () => {
    await watched.ledger()
    return await figure('spent_total')
  }
  await expect.poll(spent, { timeout: 20_000, interval: 500 }).toBe(300_000)
  expect(await figure('anchors_left')).toBe(195)
})

describe('GET /ledgers', () => {
  test('says where each is, and what an anchor costs', async () => {
    await using watched = await Watched.start({ fee: 7n })
    const account = await watched.makeKey()

    await watched.shows({ problem: null })

    const sandbox = {
      network: 'sandbox',
      finality: 'finalized',
      fee: null,
      unit: null,
      accounts: [],
      answers: true,
      problem: null,
    }
    expect(await watched.get('/ledgers')).toEqual([
      { ledger: 'XRPL', ...sandbox },
      { ledger: 'POLYGON_ZKEVM', ...sandbox },
      { ledger: 'POLYGON_POS', ...sandbox },
      {
        ledger: 'ETHEREUM',
        network: 'eip155:31337',
        finality: 'finalized',
        fee: '420000',
        unit: 'wei',
        accounts: [{ role: 'issuer', account, anchors_left: 2_380_952_380_952 }],
        answers: true,
        problem: null,
      },
    ])
  })

  test('says what is missing, one after the other', async () => {
    await using watched = await Watched.start(
      { code: '0x', balance: 0n, fee: 1_000n },
      { STREAMVAULT_LEDGER_ETHEREUM_FEE_MAX: '999' },
    )
    const { state } = watched.node

    await watched.shows({
      answers: true,
      problem: 'there is no key: streamvault ledger keys create ETHEREUM',
    })
    const account = await watched.makeKey()
    await watched.shows({
      problem: 'there is no contract at the address of STREAMVAULT_LEDGER_ETHEREUM_CONTRACT',
    })
    state.code = '0x60'
    await watched.shows({
      problem: 'an anchor costs more than STREAMVAULT_LEDGER_ETHEREUM_FEE_MAX allows',
    })
    state.fee = 999n
    await watched.shows({ problem: `the account ${account} has not enough for an anchor` })
    state.balance = 999n * 60_000n
    await watched.shows({ problem: null })
  })

  test('says that a network of two accounts lacks the key of the second', async () => {
    await using node = await LedgerNodeServer.start('xrpl', { balance: 10_000_000n })
    const service = await start(newFolder(), {
      STREAMVAULT_LEDGER_XRPL: node.http(token),
      STREAMVAULT_LEDGER_XRPL_NETWORK: 'xrpl:99',
    })
    const api = new ApiClient(service.http)
    const shown = async () => {
      const { body } = await api.request<ShownLedger[]>('GET', '/ledgers', { headers })
      return body.find(({ ledger }) => ledger === 'XRPL')
    }
    const make = async (role: string) => {
      const body = { ledger: 'XRPL', role }
      expect((await api.request('POST', '/ledger-keys', { headers, body })).status).toBe(201)
    }
    const patient = { timeout: 20_000, interval: 500 }
    await make('issuer')
    await expect.poll(shown, patient).toMatchObject({
      problem: 'there is no key of the distributor: streamvault ledger keys create XRPL',
    })
    await make('distributor')
    await expect.poll(shown, patient).toMatchObject({ problem: null })
  })

  test('a node that names another network later is red everywhere', async () => {
    await using watched = await Watched.start({})
    await watched.makeKey()
    await watched.shows({ problem: null })
    const isReady = () => metricOf(watched.service, 'ledger_ready{network="eip155:31337"}')
    expect(await isReady()).toBe(1)

    watched.node.state.network = 1

    const problem =
      'the node is of the network eip155:1, and the settings say eip155:31337: nothing is signed'
    await watched.shows({ answers: true, fee: null, problem })
    expect(await isReady()).toBe(0)
    expect(await watched.get('/health/ready')).toMatchObject({
      status: 'ready',
      degraded: { 'ledger eip155:31337': problem },
    })
  })
})

test('a node that says nothing holds up neither the start nor who asks', async () => {
  await using silent = await Watched.start({ mood: 'silent' })
  const beginMs = performance.now()

  expect(await silent.ledger()).toMatchObject({ answers: false, fee: null })

  expect(performance.now() - beginMs).toBeLessThan(4_000)
  expect(await silent.get('/health/ready')).toMatchObject({ status: 'ready' })
  const endMs = performance.now()
  await silent.service.end('SIGTERM')
  expect(performance.now() - endMs).toBeLessThan(4_000)
})

test('a key of a network that is set, and does not fit the master key, stops the start', async () => {
  const dataDir = newFolder()
  const settings = {
    STREAMVAULT_LEDGER_XRPL: 'wss://node.example',
    STREAMVAULT_LEDGER_XRPL_NETWORK: 'xrpl:7',
  }
  const first = await start(dataDir)
  const body = { ledger: 'ETHEREUM' }
  await new ApiClient(first.http).request('POST', '/ledger-keys', { headers, body })
  await first.end('SIGTERM')
  const state = new DatabaseSync(filesIn(dataDir).state)
  state.exec('UPDATE ledger_keys SET private_key_encrypted = randomblob(92)')
  state.close()

  // Nobody asks for it where its network is not set.
  await (await start(dataDir, settings)).end('SIGTERM')
  const { exited, output } = await launch(dataDir, {
    STREAMVAULT_LEDGER_ETHEREUM: 'https://node.example',
  })

  expect(await exited).toBe(1)
  expect(output()).toContain('the key of the issuer of eip155:1 does not fit the master key')
})
