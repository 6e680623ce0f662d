import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { readOwner } from '../src/config/folder-owner.ts'
import { textsIn } from '../test/support/anchor-facts.ts'
import { makers } from '../test/support/anchored.ts'
import { Anvil } from '../test/support/evm-nodes.ts'
import { EvmService } from '../test/support/evm-service.ts'
import { type Figure, measureAll } from './report.ts'

const vaultsMany = 500

/** Requests at once. */
const lanes = 8

/** Between two blocks that are made beside those of transactions, so that these become final. */
const blockMs = 100

/** How fast what live keys make gets onto a network of the EVM: `npm run bench:ledgers`. */
async function main(): Promise<void> {
  await measureAll({ vaults, memory }, process.argv.slice(2))
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

/** What a network costs a service at rest, once something was put on it. */
async function memory(): Promise<Figure> {
  return await withService(async ({ service }) => {
    await sleep(5_000)
    const idle = residentMb(service)
    await makers.vaults(service.owner)
    const completed = "id AS text FROM vaults WHERE status = 'COMPLETED'"
    while (textsIn(service.dataDir, completed).length < 1) await sleep(50)
    await sleep(5_000)
    const used = residentMb(service) - idle
    return {
      name: 'memory of a network that something was put on',
      measured: `${used.toFixed(0)} MB more than with none in use`,
      target: 'at most 60 MB',
      isMet: used <= 60,
    }
  })
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
      STREAMVAULT_CHECK_ANSWERS: 'off',
      STREAMVAULT_LEDGER_ETHEREUM_FINALITY: '1',
    })
    return await work({ node, service })
  } finally {
    clearInterval(mining)
  }
}

function residentMb({ dataDir }: EvmService): number {
  const pid = readOwner(dataDir)?.pid ?? 0
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) / 1_024
}

if (import.meta.main) await main()
