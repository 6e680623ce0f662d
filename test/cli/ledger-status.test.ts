import { describe, expect, test } from 'vitest'
import { settingsOf, streamvault, streamvaultJson } from '../support/command-line.ts'
import { examine } from '../support/examination.ts'
import { LedgerNodeServer, type NodeState } from '../support/ledger-node.ts'
import { newDataDir } from '../support/service-process.ts'
import { usedFolders } from '../support/used-folder.ts'

const usedFolder = usedFolders()

const token = 'needle-0123456789'

/** XRPL at a node of ours, with both keys. */
async function ofXrpl(state: Partial<NodeState>) {
  const node = await LedgerNodeServer.start('xrpl', { balance: 10_000_000n, ...state })
  const dataDir = usedFolder()
  const environment = {
    ...settingsOf(dataDir),
    STREAMVAULT_LEDGER_XRPL: node.ws(token),
    STREAMVAULT_LEDGER_XRPL_NETWORK: 'xrpl:99',
  }
  const create = ['ledger', 'keys', 'create', 'XRPL']
  const [issuer] = await streamvaultJson<{ account: string }[]>(create, environment)
  return {
    account: issuer?.account,
    node,
    status: () => streamvault(['ledger', 'status', '--json'], environment),
    doctor: () => examine(dataDir, environment),
    [Symbol.asyncDispose]: () => node[Symbol.asyncDispose](),
  }
}

describe('ledger status', () => {
  test('says what an account has, and what is under way', async () => {
    await using xrpl = await ofXrpl({ fee: 12n })

    const { code, stdout } = await xrpl.status()

    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual([
      {
        ledger: 'XRPL',
        network: 'xrpl:99',
        account: xrpl.account,
        balance: '8600000',
        unit: 'drops',
        fee: '12',
        anchors_left: 716_666,
        in_flight: 0,
        oldest_seconds: 0,
        lost_accounts: [],
        answers: true,
        problem: null,
      },
    ])
  })

  test('ends with 1 when a node is away, and does not show where it is', async () => {
    await using xrpl = await ofXrpl({ mood: 'failing' })

    const { code, stdout, stderr } = await xrpl.status()

    expect(code).toBe(1)
    expect(JSON.parse(stdout)).toMatchObject([{ answers: false, problem: 'the node hangs up' }])
    expect(stdout + stderr).not.toContain(token)
  })

  test('has nothing to say where no ledger is set', async () => {
    const { code, stdout } = await streamvault(['ledger', 'status'], settingsOf(newDataDir()))

    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: 'no real ledger is set: everything is anchored on the sandbox\n',
    })
  })
})

describe('the doctor', () => {
  test('finds a ledger that is well', async () => {
    await using xrpl = await ofXrpl({})

    const { checks } = await xrpl.doctor()

    const found = checks.filter(({ name }) => name.startsWith('ledger XRPL'))
    const money = `${xrpl.account} has 8600000 drops, and an anchor costs 10`
    expect(found).toEqual([
      { name: 'ledger XRPL', status: 'ok', message: `xrpl:99 answers; ${money}`, advice: '' },
    ])
  })

  test('fails when a node is of another network', async () => {
    await using xrpl = await ofXrpl({ network: 0 })

    const { code, check } = await xrpl.doctor()

    expect(code).toBe(1)
    expect(check('ledger XRPL')).toMatchObject({
      status: 'fail',
      message: expect.stringContaining('the node is of the network xrpl:0'),
      advice: expect.stringContaining('STREAMVAULT_LEDGER_XRPL_NETWORK'),
    })
  })

  test('warns of a clock that is off, and of an account that is nearly empty', async () => {
    await using xrpl = await ofXrpl({ blockTimeS: 1_700_000_000, balance: 1_400_999n })

    const { check } = await xrpl.doctor()

    expect(check('ledger XRPL, clock')).toMatchObject({
      status: 'warn',
      message: expect.stringMatching(/^its newest block is of 2023-11-14T22:13:20/),
    })
    expect(check('ledger XRPL, funds')).toMatchObject({
      status: 'warn',
      message: 'there is money for 99 more anchors',
    })
  })
})
