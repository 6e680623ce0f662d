import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { atStatus, makers } from '../support/anchored.ts'
import { ApiClient } from '../support/api-client.ts'
import { Anvil, areNodesMissing } from '../support/evm-nodes.ts'
import { EvmService } from '../support/evm-service.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const preload = new URL('../support/package-log.js', import.meta.url).href

/** Libraries that talk to real networks. */
const libraries = ['viem', 'xrpl']

/** Settings with which a service says what packages it loads, and those that it has said. */
function logged(folder: TemporaryFolder) {
  const path = folder.file('packages.txt')
  return {
    settings: { NODE_OPTIONS: `--import=${preload}`, PACKAGE_LOG: path },
    packages: () => readFileSync(path, 'utf8').split('\n'),
  }
}

describe('libraries of real networks', () => {
  test('are not loaded by a service that has none', async () => {
    using folder = new TemporaryFolder()
    const { settings, packages } = logged(folder)
    const service = await startServiceProcess(folder.file('data'), {
      STREAMVAULT_ANCHORING: 'on',
      ...settings,
    })
    const api = new ApiClient(service.http)
    await atStatus(api, `/vaults/${await makers.vaults(api)}`, 'COMPLETED')
    await service.end('SIGTERM')
    expect(packages()).toContain('multiformats')
    expect(packages().filter((name) => libraries.includes(name))).toEqual([])
  })

  test.skipIf(areNodesMissing)('are loaded once there is something for one', async () => {
    using folder = new TemporaryFolder()
    const { settings, packages } = logged(folder)
    await using node = await Anvil.start('--block-time', '1')
    await using service = await EvmService.start(node)
    await service.end('SIGTERM')
    await service.resume(settings)
    const api = new ApiClient(service.process.http)
    await atStatus(api, `/vaults/${await makers.vaults(api)}`, 'COMPLETED')
    expect(packages()).not.toContain('viem')
    const { owner } = service
    await atStatus(owner, `/vaults/${await makers.vaults(owner)}`, 'COMPLETED')
    expect(packages()).toContain('viem')
  })
})
