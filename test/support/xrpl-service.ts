import { rmSync } from 'node:fs'
import { ApiClient } from './api-client.ts'
import { settingsOf, streamvaultJson } from './command-line.ts'
import { newPerson, type Person } from './people.ts'
import { newDataDir, type ServiceProcess, startServiceProcess } from './service-process.ts'
import { Chain } from './xrpl-node/chain.ts'
import { XrplNode } from './xrpl-node/xrpl-node.ts'

/** Between two ledgers: faster than any network, and slower than tests on their own. */
const ledgerMs = 250

/** Drops. */
const funds = 100_000_000n

type Environment = Readonly<Record<string, string>>

/** A service whose live keys anchor on a node of XRPL of its own. Its account has no money before it is given some. */
export class XrplService implements AsyncDisposable {
  readonly dataDir: string
  readonly process: ServiceProcess
  readonly node: XrplNode
  /** That of the issuer. */
  readonly account: string
  readonly #person: Person

  static async start(networkId: number, others: Environment = {}): Promise<XrplService> {
    const node = await XrplNode.start(new Chain(networkId))
    node.chain.closeEvery(ledgerMs)
    const dataDir = newDataDir()
    const settings = {
      STREAMVAULT_ANCHORING: 'on',
      STREAMVAULT_LEDGER_XRPL: node.endpoint,
      STREAMVAULT_LEDGER_XRPL_NETWORK: `xrpl:${networkId}`,
      ...others,
    }
    const first = await startServiceProcess(dataDir, settings)
    const person = await newPerson(new ApiClient(first.http), { kind: 'live' })
    const made = await streamvaultJson<{ role: string; account: string }[]>(
      ['ledger', 'keys', 'create', 'XRPL'],
      { ...settingsOf(dataDir), ...settings },
    )
    await first.end('SIGTERM')
    const account = made.find(({ role }) => role === 'issuer')?.account ?? ''
    const process = await startServiceProcess(dataDir, settings)
    return new XrplService({ dataDir, process, node, account, person })
  }

  private constructor(
    parts: Pick<XrplService, 'dataDir' | 'process' | 'node' | 'account'> & {
      readonly person: Person
    },
  ) {
    this.dataDir = parts.dataDir
    this.process = parts.process
    this.node = parts.node
    this.account = parts.account
    this.#person = parts.person
  }

  fund(): void {
    this.node.chain.fund(this.account, funds)
  }

  /** Somebody with a live key, all of whose vaults and attachments are for the node. */
  get owner(): Pick<ApiClient, 'base' | 'withKey'> {
    const api = new ApiClient(this.process.http)
    const { apiKey, apiSecret } = this.#person.key
    const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret }
    return {
      base: api.base,
      withKey: async (method, path, body) => {
        const isMade = method === 'POST' && /^\/(vaults|attachments)$/.test(path)
        const wanted = isMade ? { ...(body as object), ledger: 'XRPL' } : body
        return await api.request(method, path, { headers, body: wanted })
      },
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.process.end('SIGTERM')
    await this.node[Symbol.asyncDispose]()
    rmSync(this.dataDir, { recursive: true })
  }
}
