import { describe, expect, test } from 'vitest'
import { newKey } from '../../src/ledgers/keys/make-key.ts'
import { atStatus, makers } from '../support/anchored.ts'
import { ApiClient } from '../support/api-client.ts'
import { settingsOf, streamvault } from '../support/command-line.ts'
import { HostileNodes } from '../support/hostile-nodes.ts'
import { newPerson } from '../support/people.ts'
import { startedServices } from '../support/started-services.ts'

const { launch, newFolder, start } = startedServices()

const token = 'needle0123456789'

/** A service shows eight addresses of a ledger at most; these take turns. */
const ofLedgers = ['XRPL', 'ETHEREUM', 'POLYGON_POS'] as const

const preload = new URL('../support/loud-network.js', import.meta.url).pathname

/** Settings in which each ledger has its share of the addresses, and anchors are given up soon. */
function settingsWith(addresses: readonly string[]): Record<string, string> {
  const shares = ofLedgers.map((ledger, at) => [
    `STREAMVAULT_LEDGER_${ledger}`,
    addresses.filter((_, index) => index % ofLedgers.length === at).join(),
  ])
  const contract = `0x${'5'.repeat(40)}`
  return {
    STREAMVAULT_LOG_LEVEL: 'trace',
    STREAMVAULT_ANCHORING: 'on',
    STREAMVAULT_ANCHOR_PATIENCE: '1m',
    STREAMVAULT_LEDGER_ETHEREUM_CONTRACT: contract,
    STREAMVAULT_LEDGER_POLYGON_POS_CONTRACT: contract,
    ...(Object.fromEntries(shares) as Record<string, string>),
  }
}

/** Has something anchored on each ledger, and asks for all that the service says of ledgers. Resolves with the answers. */
async function exercised(api: ApiClient): Promise<string> {
  for (const ledger of ofLedgers) {
    const { privateKey } = await newKey(ledger === 'XRPL' ? 'xrpl' : 'evm')
    const secret = ledger === 'XRPL' ? {} : { secret: privateKey }
    const made = await api.withKey('POST', '/ledger-keys', { ledger, ...secret })
    expect(made.status).toBe(201)
  }
  const { withKey } = await newPerson(api, { kind: 'live' })
  const vaults: string[] = []
  for (const ledger of ofLedgers) {
    const owner = {
      base: api.base,
      withKey: async <Body>(method: string, path: string, body?: unknown) => {
        const wanted = path === '/vaults' ? { ...(body as object), ledger } : body
        return await withKey<Body>(method, path, wanted)
      },
    }
    vaults.push(`/vaults/${await makers.vaults(owner)}`)
  }
  const isDegraded = async () => {
    const { body } = await api.request<{ degraded: object }>('GET', '/health/ready')
    return Object.keys(body.degraded).length
  }
  await expect.poll(isDegraded).toBe(ofLedgers.length)
  const said: unknown[] = []
  for (const vault of vaults) said.push(await atStatus({ withKey }, vault, 'METADATA_STORED'))
  for (const path of ['/ledgers', '/health/ready', '/metrics', '/ledger-keys', '/audit-log']) {
    said.push((await api.withKey<unknown>('GET', path)).body)
  }
  return JSON.stringify(said)
}

describe('an address of a node', () => {
  test.each([
    ['as they are', {}],
    ['with errors that say where it was', { NODE_OPTIONS: `--import=${preload}` }],
  ])('is neither logged nor answered, however its node fails: %s', async (_, loud) => {
    await using nodes = await HostileNodes.start(token)
    const settings = settingsWith(nodes.addresses)
    const dataDir = newFolder()
    const service = await start(dataDir, { ...settings, ...loud })

    const answers = await exercised(new ApiClient(service.http))

    expect(answers).toContain('METADATA_STORED')
    expect(answers.toLowerCase()).not.toContain('needle')
    const environment = { ...settingsOf(dataDir), ...settings, ...loud }
    const commands = [
      ['doctor'],
      ['ledger', 'status'],
      ...ofLedgers.map((ledger) => ['ledger', 'check', ledger]),
      ['ledger', 'deploy', 'ETHEREUM'],
      ['ledger', 'deploy', 'POLYGON_POS', '--json'],
    ]
    for (const words of commands) {
      const { code, stdout, stderr } = await streamvault(words, environment)
      expect(code).toBe(1)
      expect((stdout + stderr).toLowerCase()).not.toContain('needle')
    }
    await service.end('SIGTERM')
    expect(service.output().toLowerCase()).not.toContain('needle')
  })

  test('is not logged by a thread that fails because of it', async () => {
    await using nodes = await HostileNodes.start(token)
    const process = await launch(newFolder(), {
      ...settingsWith(nodes.addresses),
      NODE_OPTIONS: `--import=${preload}`,
      LOUD_NETWORK: 'uncaught',
    })

    expect(await process.exited).toBe(1)

    expect(process.output()).toMatch(/asking .* failed/)
    expect(process.output().toLowerCase()).not.toContain('needle')
    for (const { host } of nodes.addresses.map((address) => new URL(address))) {
      expect(process.output()).not.toContain(host)
    }
  })
})

describe('settings of a ledger that cannot be read', () => {
  test.each([
    ['STREAMVAULT_LEDGER_ETHEREUM', `ftp://node.example/${token}`],
    ['STREAMVAULT_LEDGER_ETHEREUM', `https://ada:${token}@node.example`],
    ['STREAMVAULT_LEDGER_XRPL', `wss://node.example/#${token}`],
    ['STREAMVAULT_LEDGER_XRPL', token],
    ['STREAMVAULT_LEDGER_ETHEREUM_CONTRACT', `0x${'5'.repeat(39)}`],
  ])('stop the start with one message: %s=%s', async (name, value) => {
    const process = await launch(newFolder(), { [name]: value })

    expect(await process.exited).toBe(1)
    const lines = process.output().trim().split('\n')
    expect(lines.filter((line) => line.includes(name))).toEqual([
      expect.stringMatching(new RegExp(`${name} must be `)),
    ])
    expect(process.output()).not.toMatch(/needle|\n\s+at /)
  })
})
