import { readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { readOwner } from '../src/config/folder-owner.ts'
import { textsIn } from '../test/support/anchor-facts.ts'
import { atStatus, makers } from '../test/support/anchored.ts'
import { ApiClient } from '../test/support/api-client.ts'
import { Anvil } from '../test/support/evm-nodes.ts'
import { EvmService } from '../test/support/evm-service.ts'
import { LedgerNodeServer } from '../test/support/ledger-node.ts'
import {
  newDataDir,
  type ServiceProcess,
  startServiceProcess,
} from '../test/support/service-process.ts'
import { TemporaryFolder } from '../test/support/temporary-folder.ts'
import { XrplService } from '../test/support/xrpl-service.ts'
import { medianOf } from './fleet.ts'
import { type Figure, measureAll } from './report.ts'

const vaultsMany = 500

/** Requests at once. */
const lanes = 8

/** Between two blocks that are made beside those of transactions, so that these become final. */
const blockMs = 100

/** Starts of each kind. */
const startRuns = 5

/** Until a service rests. */
const restMs = 5_000

/** As services of users do it. */
const fastAnswers = { STREAMVAULT_CHECK_ANSWERS: 'off' }

/** How fast what live keys make gets onto a network of the EVM: `npm run bench:ledgers`. */
async function main(): Promise<void> {
  await measureAll({ vaults, memory, libraries, start }, process.argv.slice(2))
}

/** Made while nothing is anchored, so that only that is measured. */
async function vaults(): Promise<Figure> {
  return await withService(async ({ node, service }) => {
    await service.end('SIGTERM')
    await service.resume({ STREAMVAULT_ANCHORING: 'off' })
    let made = 0
    const lane = async () => {
      while (made++ < vaultsMany) await makers.vaults(service.owner)
    }
    await Promise.all(Array.from({ length: lanes }, lane))
    await service.end('SIGTERM')
    const before = Number(await node.call('eth_blockNumber'))
    await service.resume()
    const completed = "id AS text FROM vaults WHERE status = 'COMPLETED'"
    const beganMs = performance.now()
    while (textsIn(service.dataDir, completed).length < vaultsMany) await sleep(50)
    const perSecond = vaultsMany / ((performance.now() - beganMs) / 1_000)
    const blocks = Number(await node.call('eth_blockNumber')) - before
    return {
      name: `${vaultsMany} vaults onto anvil, 16 in its pool at most`,
      measured: `${perSecond.toFixed(0)}/s, ${blocks} blocks`,
      target: 'at least 30/s',
      isMet: perSecond >= 30,
    }
  })
}

/** What a network costs a service at rest, once something was put on it: beside one without, which has anchored the same. */
async function memory(): Promise<readonly Figure[]> {
  const without = await withoutNetwork(
    async ({ service, owner }) => await afterVault(service, owner),
  )
  const onEvm = await withService(async ({ service }) => await afterVault(service, service.owner))
  await using xrpl = await XrplService.start(21_340, fastAnswers)
  xrpl.fund()
  const onXrpl = await afterVault(xrpl, xrpl.owner)
  return [['a network of the EVM', onEvm] as const, ['a network of XRPL', onXrpl] as const].map(
    ([name, used]) => ({
      name: `memory of ${name} that something was put on`,
      measured: `${(used - without).toFixed(0)} MB more than the ${without.toFixed(0)} MB without`,
      target: 'at most 60 MB',
      isMet: used - without <= 60,
    }),
  )
}

/** Libraries that talk to networks, of which a service without any is to load none. */
async function libraries(): Promise<Figure> {
  using folder = new TemporaryFolder()
  const path = folder.file('packages.txt')
  const preload = new URL('../test/support/package-log.js', import.meta.url).href
  const logging = { NODE_OPTIONS: `--import=${preload}`, PACKAGE_LOG: path }
  await withoutNetwork(async ({ service, owner }) => await afterVault(service, owner), logging)
  const loaded = readFileSync(path, 'utf8').split('\n')
  const found = ['viem', 'xrpl'].filter((name) => loaded.includes(name))
  return {
    name: 'libraries of networks in a service without one',
    measured: found.length === 0 ? 'none' : found.join(', '),
    target: 'none',
    isMet: found.length === 0,
  }
}

/** From the start of the process to `listening`, by turns: what others do on the machine slows all of them. */
async function start(): Promise<readonly Figure[]> {
  await using answering = await LedgerNodeServer.start('evm')
  await using silent = await LedgerNodeServer.start('evm', { mood: 'silent' })
  const ways = [
    ['without a network', {}],
    ['with a node that answers', nodeAt(answering)],
    ['with a node that says nothing', nodeAt(silent)],
  ] as const
  const times = ways.map((): number[] => [])
  for (let run = 0; run < startRuns; run++) {
    for (const [at, [, settings]] of ways.entries()) times[at]?.push(await startMs(settings))
  }
  const [without = Number.NaN, ...others] = times.map(medianOf)
  return others.map((took, at) => ({
    name: `start to listening ${ways[at + 1]?.[0]}, ${startRuns} starts`,
    measured: `${took.toFixed(0)} ms, ${(took / without).toFixed(2)} times what it takes without`,
    target: 'under 1.5 s',
    isMet: took < 1_500,
  }))
}

async function startMs(settings: Readonly<Record<string, string>>): Promise<number> {
  const dataDir = newDataDir()
  const beganMs = performance.now()
  const service = await startServiceProcess(dataDir, {
    ...fastAnswers,
    STREAMVAULT_ANCHORING: 'on',
    ...settings,
  })
  const tookMs = performance.now() - beganMs
  await service.end('SIGTERM')
  rmSync(dataDir, { recursive: true })
  return tookMs
}

function nodeAt(node: LedgerNodeServer): Readonly<Record<string, string>> {
  return {
    STREAMVAULT_LEDGER_ETHEREUM: node.http(),
    STREAMVAULT_LEDGER_ETHEREUM_NETWORK: 'eip155:31337',
    STREAMVAULT_LEDGER_ETHEREUM_CONTRACT: `0x${'5'.repeat(40)}`,
  }
}

/** Has a vault anchored. Resolves with the resident MB of the service, once it rests again. */
async function afterVault(
  service: Pick<EvmService, 'dataDir'>,
  owner: Pick<ApiClient, 'base' | 'withKey'>,
): Promise<number> {
  await atStatus(owner, `/vaults/${await makers.vaults(owner)}`, 'COMPLETED')
  await sleep(restMs)
  return residentMb(service)
}

async function withoutNetwork<Result>(
  work: (running: {
    readonly service: ServiceProcess
    readonly owner: ApiClient
  }) => Promise<Result>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Result> {
  const dataDir = newDataDir()
  const service = await startServiceProcess(dataDir, {
    ...fastAnswers,
    STREAMVAULT_ANCHORING: 'on',
    ...settings,
  })
  try {
    return await work({ service, owner: new ApiClient(service.http) })
  } finally {
    await service.end('SIGTERM')
    rmSync(dataDir, { recursive: true })
  }
}

interface Running {
  readonly node: Anvil
  readonly service: EvmService
}

async function withService<Result>(work: (running: Running) => Promise<Result>): Promise<Result> {
  await using node = await Anvil.start()
  const mining = setInterval(() => void node.mine().catch(() => undefined), blockMs)
  try {
    await using service = await EvmService.start(node, {
      ...fastAnswers,
      STREAMVAULT_LEDGER_ETHEREUM_FINALITY: '1',
    })
    return await work({ node, service })
  } finally {
    clearInterval(mining)
  }
}

function residentMb({ dataDir }: Pick<EvmService, 'dataDir'>): number {
  const pid = readOwner(dataDir)?.pid ?? 0
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024
}

if (import.meta.main) await main()
