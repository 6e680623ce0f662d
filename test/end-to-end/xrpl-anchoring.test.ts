import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseNFTokenID } from 'xrpl'
import { readTransaction } from '../../src/ledgers/xrpl/xrpl-transaction.ts'
import { type AnchoredPath, atStatus, makers, pathOf, statusesOf } from '../support/anchored.ts'
import { ApiClient } from '../support/api-client.ts'
import { settingsOf, streamvaultJson } from '../support/command-line.ts'
import { newPerson, type Person, personOf } from '../support/people.ts'
import { newDataDir, type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { issuanceIdOf } from '../support/xrpl-node/assets.ts'
import { Chain } from '../support/xrpl-node/chain.ts'
import { XrplNode } from '../support/xrpl-node/xrpl-node.ts'

/** Between two ledgers: faster than any network, and slower than tests on their own. */
const ledgerMs = 250

const network = 'xrpl:21337'

interface Held {
  readonly mpt_issuance_id?: string
}

interface LedgerRecord {
  readonly ledger: string
}

interface StreamRecord {
  readonly mapping: string
}

interface Account {
  readonly role: string
  readonly address: string
}

describe('a service with a network of XRPL', () => {
  const dataDir = newDataDir()
  let node: XrplNode
  let settings: Record<string, string>
  let service: ServiceProcess
  let api: ApiClient
  let person: Person
  let accounts: readonly Account[]

  const health = async () => (await api.withKey('GET', '/health/ready')).body
  const accountOf = (role: string) => accounts.find((one) => one.role === role)?.address ?? ''

  /** Goes on with the same folder. */
  const start = async () => {
    service = await startServiceProcess(dataDir, settings)
    api = new ApiClient(service.http)
  }

  beforeAll(async () => {
    node = await XrplNode.start(new Chain(21_337))
    settings = {
      STREAMVAULT_ANCHORING: 'on',
      // A token in an address must not be shown.
      STREAMVAULT_LEDGER_XRPL: `${node.endpoint}/secret-token`,
      STREAMVAULT_LEDGER_XRPL_NETWORK: network,
    }
    await (await startServiceProcess(dataDir, settings)).end('SIGTERM')
    const environment = { ...settingsOf(dataDir), ...settings }
    await streamvaultJson(['ledger', 'keys', 'create', 'XRPL'], environment)
    accounts = await streamvaultJson<Account[]>(['ledger', 'keys', 'address', 'XRPL'], environment)
    node.chain.fund(accountOf('issuer'), 100_000_000n)
    node.chain.closeEvery(ledgerMs)
    await start()
    person = await newPerson(api, { kind: 'live' })
  })

  afterAll(async () => {
    const output = service.output()
    await service.end('SIGTERM')
    await node[Symbol.asyncDispose]()
    rmSync(dataDir, { recursive: true })
    expect(output).not.toContain('secret-token')
  })

  /** Makes what it is told for XRPL. */
  const owner = () => ({
    base: api.base,
    withKey: async <Body>(method: string, path: string, body?: unknown) => {
      const isMade = method === 'POST' && /^\/(vaults|attachments)$/.test(path)
      const wanted = isMade ? { ...(body as object), ledger: 'XRPL' } : body
      return await person.withKey<Body>(method, path, wanted)
    },
  })

  test.each(['vaults', 'streams', 'attachments'] as const)(
    'gets what is made of %s onto it',
    async (path: AnchoredPath) => {
      const id = await makers[path](owner())
      const done = await atStatus(person, pathOf(path, id), 'COMPLETED')
      expect(statusesOf(done)).toContain('LEDGER_SUBMITTED')
      const entry = node.chain.validated().find(({ blob }) => blob.hash === done.tx_hash)
      expect(entry?.meta.TransactionResult).toBe('tesSUCCESS')
      expect(entry?.blob.account).toBe(accountOf('issuer'))
      const { body } = await person.withKey<{ network: string; root: string }>(
        'GET',
        `${pathOf(path, id)}/proof`,
      )
      expect(body).toMatchObject({ network, final: true })
      expect(readTransaction(entry?.blob.text ?? '')?.deed?.root).toBe(body.root)
    },
  )

  test('has a token for a vault, whose URI names its metadata', async () => {
    const id = await makers.vaults(owner())
    const done = await atStatus(person, pathOf('vaults', id), 'COMPLETED')
    const token = parseNFTokenID(String(done['nft_network_id']))
    expect(token).toMatchObject({ Issuer: accountOf('issuer'), Flags: 8 })
    const entry = node.chain.validated().find(({ blob }) => blob.hash === done.tx_hash)
    const uri = Buffer.from(String(entry?.blob.said['URI']), 'hex').toString()
    expect(uri).toBe(`ipfs://${String(done['metadata_cid'])}`)
  })

  test('names both accounts of an asset stream, and its code as the network writes it', async () => {
    const { body } = await person.withKey<{ id: string }>('POST', '/streams', {
      asset_code: 'GOLDBARS',
      description: null,
    })
    const done = await atStatus(person, pathOf('streams', body.id), 'COMPLETED')
    expect(done).toMatchObject({
      issuer: accountOf('issuer'),
      distribution_wallet: accountOf('distributor'),
      mapping: Buffer.from('GOLDBARS').toString('hex').toUpperCase().padEnd(40, '0'),
    })
  })

  /** What the ledger has of an asset: its transactions by type, and what the distributor holds. */
  const issuedAs = (id: string) => {
    const about = node.chain.validated().filter(({ blob: { said } }) => {
      const { mpt_issuance_id: paid } = { ...(said['Amount'] as Held | undefined) }
      return [said['MPTokenIssuanceID'], paid, issuanceOf(said)].includes(id)
    })
    return {
      types: about.map(({ blob }) => blob.said['TransactionType']),
      codes: about.map(({ meta }) => meta.TransactionResult),
      held: node.chain.newest.accounts.get(accountOf('distributor'))?.held.get(id),
    }
  }

  test('issues an asset once its distributor has money, and tells of that until then', async () => {
    const path = pathOf('assets', await makers.assets(owner()))
    const waits = `${accountOf('distributor')} is not an account yet: it has to be funded`
    await expect.poll(health).toMatchObject({ degraded: { [`ledger ${network}`]: waits } })
    const { body: ledgers } = await person.withKey<LedgerRecord[]>('GET', '/ledgers')
    expect(ledgers.find(({ ledger }) => ledger === 'XRPL')).toMatchObject({
      problem: waits,
      accounts: [
        { role: 'issuer', account: accountOf('issuer'), anchors_left: expect.any(Number) },
        { role: 'distributor', account: accountOf('distributor'), anchors_left: 0 },
      ],
    })
    expect((await atStatus(person, path, 'LEDGER_SUBMITTED')).failure).toBeNull()
    node.chain.fund(accountOf('distributor'), 10_000_000n)

    const done = await atStatus(person, path, 'COMPLETED')
    const stream = (await person.withKey<StreamRecord>('GET', path.replace(/\/assets.*/, ''))).body
    expect(stream.mapping).toMatch(/^[\dA-F]{48}$/)
    expect(issuedAs(stream.mapping)).toEqual({
      types: ['MPTokenIssuanceCreate', 'MPTokenAuthorize', 'Payment'],
      codes: ['tesSUCCESS', 'tesSUCCESS', 'tesSUCCESS'],
      held: 21_000_000_000_000n,
    })
    const issuance = node.chain.validated().find(({ blob }) => blob.hash === done.tx_hash)
    expect(issuanceOf(issuance?.blob.said ?? {})).toBe(stream.mapping)
    const { body: proof } = await person.withKey('GET', `${path}/proof`)
    expect(proof).toMatchObject({
      network,
      final: true,
      tx_hash: done.tx_hash,
      token_id: stream.mapping,
    })
  })

  test('that is killed within an asset goes on with the step where it was', async () => {
    const path = pathOf('assets', await makers.assets(owner()))
    const isWaiting = (type: string) => () =>
      node.chain.waiting.some(({ said }) => said['TransactionType'] === type)
    node.chain.hold()
    await expect.poll(isWaiting('MPTokenIssuanceCreate')).toBe(true)
    node.chain.close()
    await expect.poll(isWaiting('MPTokenAuthorize'), { timeout: 20_000 }).toBe(true)
    await service.end('SIGKILL')
    node.chain.forgetWaiting()
    await start()
    person = personOf(api, person.key)
    node.chain.closeEvery(ledgerMs)

    await atStatus(person, path, 'COMPLETED')
    const stream = (await person.withKey<StreamRecord>('GET', path.replace(/\/assets.*/, ''))).body
    expect(issuedAs(stream.mapping)).toEqual({
      types: ['MPTokenIssuanceCreate', 'MPTokenAuthorize', 'Payment'],
      codes: ['tesSUCCESS', 'tesSUCCESS', 'tesSUCCESS'],
      held: 21_000_000_000_000n,
    })
  })

  test('that is killed goes on where it was, for the same resource', async () => {
    const template = (
      await person.withKey<{ id: string }>('POST', '/templates', {
        name: 'pump',
        hint: '',
        required_streams: [],
      })
    ).body.id
    const body = { template_id: template, name: 'pump 1', json_payload: '{}', ledger: 'XRPL' }
    const vault = async () => {
      const { apiKey, apiSecret } = person.key
      const headers = {
        'x-api-key': apiKey,
        'x-api-secret': apiSecret,
        'idempotency-key': 'pump 1',
      }
      return await api.request('POST', '/vaults', { headers, body })
    }
    node.chain.hold()
    const first = await vault()
    const { id } = first.body as { readonly id: string }
    await expect.poll(() => node.chain.waiting.length).toBe(1)
    await service.end('SIGKILL')
    node.chain.forgetWaiting()
    await start()
    const again = await vault()
    expect((again.body as { readonly id: string }).id).toBe(id)
    node.chain.closeEvery(ledgerMs)
    const path = pathOf('vaults', id)
    const shown = async () => {
      const { apiKey, apiSecret } = person.key
      const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret }
      return (await api.request('GET', path, { headers })).body as { readonly status: string }
    }
    await expect.poll(async () => (await shown()).status).toBe('COMPLETED')
    const { metadata_cid: cid } = (await shown()) as { readonly metadata_cid?: string }
    const uri = Buffer.from(`ipfs://${cid}`).toString('hex').toUpperCase()
    const tokens = node.chain.validated().filter(({ blob }) => blob.said['URI'] === uri)
    expect(tokens).toHaveLength(1)
  })
})

/** What an issuance makes. */
function issuanceOf(said: Readonly<Record<string, unknown>>): string | undefined {
  if (said['TransactionType'] !== 'MPTokenIssuanceCreate') return undefined
  return issuanceIdOf(String(said['Account']), Number(said['Sequence']))
}
