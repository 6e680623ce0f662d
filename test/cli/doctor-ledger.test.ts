import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { filesIn } from '../../src/config/data-folder.ts'
import { atStatus, makers } from '../support/anchored.ts'
import { ApiClient } from '../support/api-client.ts'
import { examine } from '../support/examination.ts'
import { newDataDir } from '../support/service-process.ts'
import { startedServices } from '../support/started-services.ts'

const { newFolder, start } = startedServices()

/** A folder of a service that has ended, with blocks in its ledger. */
async function folderWithBlocks(blocks: number): Promise<string> {
  const dataDir = newFolder()
  const service = await start(dataDir, { STREAMVAULT_ANCHORING: 'on' })
  const api = new ApiClient(service.http)
  for (let made = 0; made < blocks; made++) {
    const id = await makers.streams(api)
    await atStatus(api, `/streams/${id}`, 'COMPLETED')
  }
  await service.end('SIGTERM')
  return dataDir
}

function chainIn(dataDir: string): string {
  return join(filesIn(dataDir).ledger, 'chain.jsonl')
}

test('a folder without a ledger has nothing to blame', async () => {
  const { check } = await examine(newDataDir())

  expect(check('ledger')?.status ?? 'ok').toBe('ok')
})

describe('the doctor', () => {
  test('walks the chain, and says how much there is', async () => {
    const { code, check } = await examine(await folderWithBlocks(2))

    expect(code).toBe(0)
    expect(check('ledger')).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(
        /^2 blocks with 2 transactions are complete, the last one of 20/,
      ),
    })
  })

  test('names the first broken block', async () => {
    const dataDir = await folderWithBlocks(3)
    const lines = readFileSync(chainIn(dataDir), 'utf8').split('\n')
    lines[1] = (lines[1] ?? '').replace('transactions', 'transactiOns')
    writeFileSync(chainIn(dataDir), lines.join('\n'))

    const { code, check } = await examine(dataDir)

    expect(code).toBe(1)
    expect(check('ledger')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('block 2'),
      advice: expect.stringContaining('backup'),
    })
  })

  test('finds keys of another master key, and shows none of them', async () => {
    const dataDir = await folderWithBlocks(1)
    const masterKey = Buffer.alloc(32, 5).toString('base64')

    const { check } = await examine(dataDir, { STREAMVAULT_MASTER_KEY: masterKey })

    expect(check('ledger')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('master key'),
    })
    expect(JSON.stringify(check('ledger'))).not.toContain(masterKey)
  })

  test('finds that the keys are gone, and makes no others', async () => {
    const dataDir = await folderWithBlocks(1)
    const keys = join(filesIn(dataDir).ledger, 'keys.json')
    rmSync(keys)

    const { check } = await examine(dataDir)

    expect(check('ledger')).toMatchObject({ status: 'fail', message: 'keys.json is missing' })
    expect(() => readFileSync(keys)).toThrow('ENOENT')
  })
})
