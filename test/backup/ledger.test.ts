import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { filesIn } from '../../src/config/data-folder.ts'
import { systemClock } from '../../src/core/clock.ts'
import { ledgerKeys } from '../../src/ledgers/sandbox/keys.ts'
import { SandboxLedger } from '../../src/ledgers/sandbox/sandbox-ledger.ts'
import { ApiClient } from '../support/api-client.ts'
import { backUp } from '../support/backups.ts'
import { settingsOf, streamvault, streamvaultJson } from '../support/command-line.ts'
import { deedOf, putOn } from '../support/sandbox-ledger.ts'
import { startedServices } from '../support/started-services.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const services = startedServices()

/** The ledger of a data folder, as the service that has it would open it. */
async function ledgerOf(dataDir: string, keyOf = dataDir): Promise<SandboxLedger> {
  const files = filesIn(dataDir)
  const key = readFileSync(filesIn(keyOf).masterKey, 'utf8').trim()
  const cipher = new MasterKey(Buffer.from(key, 'base64'))
  return await SandboxLedger.open({
    folder: files.ledger,
    cipher,
    clock: systemClock,
    batchWaitUs: 50_000,
  })
}

function chainOf(dataDir: string): Buffer {
  return readFileSync(join(filesIn(dataDir).ledger, 'chain.jsonl'))
}

test('a restored folder has the ledger up to its last whole block, and its keys', async () => {
  using folder = new TemporaryFolder()
  const original = await services.start(services.newFolder())
  const { dataDir } = original
  const ledger = await ledgerOf(dataDir)
  const put = [await putOn(ledger, await deedOf()), await putOn(ledger, await deedOf())]
  await ledger.close()
  const whole = chainOf(dataDir)
  // What is being written while the copy is made.
  appendFileSync(join(filesIn(dataDir).ledger, 'chain.jsonl'), '["half of')
  const { to } = await backUp(new ApiClient(original.http), folder.file('backup'))

  await streamvaultJson(['backup', 'verify', '--from', to])
  const restored = folder.file('restored')
  await streamvaultJson(['restore', '--from', to, '--data-dir', restored, '--verify'])

  expect(chainOf(restored).equals(whole)).toBe(true)
  const { ledger: place } = filesIn(restored)
  expect(statSync(join(place, 'keys.json')).mode & 0o077).toBe(0)
  expect(await ledgerKeys(place)).toEqual(await ledgerKeys(filesIn(dataDir).ledger))
  const again = await ledgerOf(restored, dataDir)
  for (const { transaction, inclusion } of put) {
    expect(await again.sight(transaction.hash)).toMatchObject({ is: 'included', inclusion })
  }
  await putOn(again, await deedOf())
  await again.close()
})

test('a ledger that grows while it is backed up is restored as it was at a moment', async () => {
  using folder = new TemporaryFolder()
  const original = await services.start(services.newFolder())
  const { dataDir } = original
  const ledger = await ledgerOf(dataDir)
  const before = await putOn(ledger, await deedOf())
  const ending = new AbortController()
  const growing = (async () => {
    while (!ending.signal.aborted) await putOn(ledger, await deedOf())
  })()
  const { to } = await backUp(new ApiClient(original.http), folder.file('backup'))
  ending.abort()
  await growing
  await ledger.close()

  const restored = folder.file('restored')
  await streamvaultJson(['restore', '--from', to, '--data-dir', restored])

  const chain = chainOf(restored)
  expect(chainOf(dataDir).subarray(0, chain.length).equals(chain)).toBe(true)
  const again = await ledgerOf(restored, dataDir)
  expect(await again.sight(before.transaction.hash)).toMatchObject({ is: 'included' })
  await again.close()
})

test.each(['ledger-chain.jsonl.zst', 'ledger-keys.json.zst'])(
  'one changed byte of %s of a backup is found',
  async (name) => {
    using folder = new TemporaryFolder()
    const original = await services.start(services.newFolder())
    const ledger = await ledgerOf(original.dataDir)
    await putOn(ledger, await deedOf())
    await ledger.close()
    const { to } = await backUp(new ApiClient(original.http), folder.file('backup'))
    const path = `${to}/${name}`
    const bytes = readFileSync(path)
    const middle = Math.floor(bytes.length / 2)
    bytes[middle] = (bytes[middle] ?? 0) ^ 1
    writeFileSync(path, bytes)

    const verified = await streamvault(['backup', 'verify', '--from', to])
    const words = ['restore', '--from', to, '--data-dir', folder.file('restored')]
    const restored = await streamvault(words)

    for (const { code, stderr, stdout } of [verified, restored]) {
      expect({ code, said: stderr + stdout }).toMatchObject({
        code: 1,
        said: expect.stringContaining(name),
      })
    }
    expect(existsSync(folder.file('restored'))).toBe(false)
  },
)

/** What the keystore of a data folder has. */
async function accountsOf(dataDir: string): Promise<object[]> {
  return await streamvaultJson(['ledger', 'keys', 'list'], settingsOf(dataDir))
}

test('a restored folder has the accounts on real networks, for the master key that they were made with', async () => {
  using folder = new TemporaryFolder()
  const original = await services.start(services.newFolder())
  await streamvaultJson(['ledger', 'keys', 'create', 'XRPL'], settingsOf(original.dataDir))
  const made = await accountsOf(original.dataDir)
  const { to } = await backUp(new ApiClient(original.http), folder.file('backup'))

  const restored = folder.file('restored')
  await streamvaultJson(['restore', '--from', to, '--data-dir', restored])

  expect(made).toMatchObject([{ readable: true }, { readable: true }])
  expect(await accountsOf(restored)).toEqual(made)
})
