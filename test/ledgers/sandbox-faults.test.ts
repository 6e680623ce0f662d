import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { verifyChain } from '../../src/ledgers/sandbox/chain-reader.ts'
import { FaultInjection } from '../support/fault-injection.ts'
import { killedSandbox } from '../support/killed-sandbox.ts'
import { SandboxProcess } from '../support/sandbox-process.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const faults = new FaultInjection()

beforeEach(() => faults.end())
afterAll(() => faults[Symbol.dispose]())

describe('a disk', () => {
  test.each([
    ['has no space for a block', 'enospc', /ENOSPC/],
    ['cannot sync a block', 'eio', /EIO/],
  ] as const)('that %s puts nothing on the ledger until it is well', async (...row) => {
    const [, fault, reason] = row
    using folder = new TemporaryFolder()
    await using sandbox = await SandboxProcess.start(folder.file('ledger'), faults.environment)
    await sandbox.perform({ what: 'put', intent: 'before' })
    faults.begin(fault, 'chain.jsonl')
    const outcome = await sandbox.perform({ what: 'put', intent: 'one' })
    expect(outcome?.failure).toMatch(reason)
    expect(outcome?.failure).toMatch(/^the sandbox ledger is down: /)
    expect(faults.isMet).toBe(true)
    const after = await verifyChain(folder.file('ledger'))
    expect(after.broken).toBeUndefined()

    faults.end()
    await expect
      .poll(async () => await sandbox.perform({ what: 'put', intent: 'one' }))
      .toMatchObject({ is: 'accepted', height: 2 })
    expect(await verifyChain(folder.file('ledger'))).toMatchObject({
      blocks: 2,
      transactions: 2,
      broken: undefined,
    })
  })

  test('that fails under what waits loses none of it, and puts it on once', async () => {
    using folder = new TemporaryFolder()
    await using sandbox = await SandboxProcess.start(folder.file('ledger'), faults.environment)
    faults.begin('eio', 'chain.jsonl')
    await sandbox.perform({ what: 'send', intent: 'one' })
    await expect.poll(() => faults.isMet).toBe(true)
    faults.end()
    const found = async () => (await sandbox.perform({ what: 'find', intent: 'one' }))?.hash
    await expect.poll(found).toMatch(/^[0-9a-f]{64}$/)
    await sandbox.perform({ what: 'put', intent: 'two' })
    const { transactions, broken } = await verifyChain(folder.file('ledger'))
    expect({ transactions, broken }).toEqual({ transactions: 2, broken: undefined })
  })

  test('that fails under the index loses no block', async () => {
    using folder = new TemporaryFolder()
    await using sandbox = await SandboxProcess.start(folder.file('ledger'), faults.environment)
    faults.begin('enospc', 'index.db')
    const outcome = await sandbox.perform({ what: 'put', intent: 'one' })
    expect(outcome?.failure).toMatch(/the sandbox ledger is down/)
    faults.end()
    await expect
      .poll(async () => await sandbox.perform({ what: 'put', intent: 'one' }))
      .toMatchObject({ is: 'accepted', height: 1 })
    const { transactions, broken } = await verifyChain(folder.file('ledger'))
    expect({ transactions, broken }).toEqual({ transactions: 1, broken: undefined })
  })
})

describe('a kill', () => {
  test('loses nothing that was told of, and puts nothing on twice', async () => {
    using folder = new TemporaryFolder()
    const { problems, told } = await killedSandbox(folder.file('ledger'), [150, 230, 310, 60])
    expect(problems).toEqual([])
    expect(told).toBeGreaterThan(0)
  })
})
