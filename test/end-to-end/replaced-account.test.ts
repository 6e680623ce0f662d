import { afterEach, beforeEach, expect, test } from 'vitest'
import { atStatus, makers } from '../support/anchored.ts'
import { ApiClient } from '../support/api-client.ts'
import { settingsOf, streamvault, streamvaultJson } from '../support/command-line.ts'
import { examine } from '../support/examination.ts'
import { newPerson, personOf } from '../support/people.ts'
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { StateBeside } from '../support/state-beside.ts'
import { usedFolders } from '../support/used-folder.ts'
import { Chain } from '../support/xrpl-node/chain.ts'
import { XrplNode } from '../support/xrpl-node/xrpl-node.ts'

const network = 'xrpl:21339'
const usedFolder = usedFolders()

let dataDir: string
let node: XrplNode
let service: ServiceProcess | undefined

beforeEach(async () => {
  dataDir = usedFolder()
  node = await XrplNode.start(new Chain(21_339))
})

afterEach(async () => {
  await service?.end('SIGTERM')
  await node[Symbol.asyncDispose]()
})

function settings(): Record<string, string> {
  return {
    STREAMVAULT_ANCHORING: 'on',
    STREAMVAULT_LEDGER_XRPL: node.endpoint,
    STREAMVAULT_LEDGER_XRPL_NETWORK: network,
  }
}

const environment = () => ({ ...settingsOf(dataDir), ...settings() })

async function start(): Promise<ApiClient> {
  service = await startServiceProcess(dataDir, settings())
  return new ApiClient(service.http)
}

async function stop(): Promise<void> {
  await service?.end('SIGTERM')
  service = undefined
}

/** Makes the keys that are missing, and gives the issuer money. Resolves with its account. */
async function fundedIssuer(): Promise<string> {
  const create = ['ledger', 'keys', 'create', 'XRPL']
  const made = await streamvaultJson<{ role: string; account: string }[]>(create, environment())
  const account = made.find(({ role }) => role === 'issuer')?.account ?? ''
  node.chain.fund(account, 100_000_000n)
  return account
}

/** A vault for XRPL. Resolves with its path. */
async function vaultOf(owner: Pick<ApiClient, 'withKey' | 'base'>): Promise<string> {
  const withKey: typeof owner.withKey = async (method, path, body) => {
    const wanted = path === '/vaults' ? { ...(body as object), ledger: 'XRPL' } : body
    return await owner.withKey(method, path, wanted)
  }
  return `/vaults/${await makers.vaults({ base: owner.base, withKey })}`
}

interface Status {
  readonly in_flight: number
  readonly lost_accounts: readonly object[]
}

async function lost(): Promise<readonly object[]> {
  const [status] = await streamvaultJson<Status[]>(['ledger', 'status'], environment())
  return status?.lost_accounts ?? []
}

test('what another account has signed waits for its key, and is named; what is new goes on', async () => {
  const before = await fundedIssuer()
  node.chain.hold()
  const api = await start()
  const { key, withKey } = await newPerson(api, { kind: 'live' })
  const first = await vaultOf({ base: api.base, withKey })
  await expect.poll(() => node.chain.waiting.length).toBe(1)
  expect(await lost()).toEqual([])
  await stop()
  await using beside = await StateBeside.open({ dataDir })
  const keys = await beside.state.selectFrom('ledger_keys').selectAll().execute()
  await beside.commit(beside.state.deleteFrom('ledger_keys'))

  await fundedIssuer()
  node.chain.closeEvery(250)
  const again = await start()
  const owner = { base: again.base, withKey: personOf(again, key).withKey }
  const second = await vaultOf(owner)

  await atStatus(owner, second, 'COMPLETED')
  await atStatus(owner, first, 'LEDGER_SUBMITTED')
  expect(await lost()).toEqual([{ account: before, transactions: 1 }])
  const { stderr } = await streamvault(['ledger', 'status'], environment())
  expect(stderr).toContain(`accounts without a key are not followed: ${before} (1)`)
  const { check } = await examine(dataDir, settings())
  expect(check('ledger XRPL, accounts')).toMatchObject({
    status: 'warn',
    message: expect.stringContaining(before),
  })

  await stop()
  await beside.commit(
    beside.state.deleteFrom('ledger_keys'),
    beside.state.insertInto('ledger_keys').values(keys),
  )
  const last = await start()
  await atStatus(personOf(last, key), first, 'COMPLETED')
  const uris = node.chain.validated().map(({ blob }) => blob.said['URI'])
  const tokens = uris.filter((uri) => uri !== undefined)
  expect(new Set(tokens).size).toBe(2)
  expect(tokens).toHaveLength(2)
})
