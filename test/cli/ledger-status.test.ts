import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { filesIn } from '../../src/config/data-folder.ts'
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
  const accounts = await streamvaultJson<{ role: string; account: string }[]>(create, environment)
  const accountOf = (role: string) => accounts.find((one) => one.role === role)?.account ?? ''
  return {
    dataDir,
    issuer: accountOf('issuer'),
    distributor: accountOf('distributor'),
    node,
    status: () => streamvault(['ledger', 'status', '--json'], environment),
    table: () => streamvault(['ledger', 'status'], environment),
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
        accounts: [
          {
            role: 'issuer',
            account: xrpl.issuer,
            balance: '8600000',
            anchors_left: 716_666,
          },
          // An asset takes a reserve of 0.2 XRP as well.
          { role: 'distributor', account: xrpl.distributor, balance: '8600000', anchors_left: 42 },
        ],
        unit: 'drops',
        fee: '12',
        in_flight: 0,
        oldest_seconds: 0,
        lost_accounts: [],
        answers: true,
        assets: true,
        problem: null,
      },
    ])
  })

  test('has a line for each account', async () => {
    await using xrpl = await ofXrpl({ fee: 12n })

    const lines = (await xrpl.table()).stdout.split('\n')

    expect(lines[1]).toMatch(/^XRPL +xrpl:99 +issuer +r\w+ +8600000 drops +12 drops +0 +0 s +none$/)
    expect(lines[2]?.trim()).toMatch(/^distributor +r\w+ +8600000 drops$/)
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
    const money = `${xrpl.issuer} has 8600000 drops, its distributor ${xrpl.distributor} has 8600000 drops, and an anchor costs 10`
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
    expect(check('ledger XRPL, funds of the distributor')).toBeUndefined()
  })

  test('warns of a distributor that is nearly empty, where there are assets', async () => {
    await using xrpl = await ofXrpl({ balance: 5_000_000n })
    using state = new DatabaseSync(filesIn(xrpl.dataDir).state)
    state.exec(`INSERT INTO assets (id, owner_id, stream_id, created_at, supply, precision,
      ledger, network, metadata_cid, status, progress)
      VALUES ('a', 'u', 's', 0, '1', 0, 'XRPL', 'xrpl:99', 'cid', 'METADATA_STORED', '[]')`)

    const { check } = await xrpl.doctor()

    expect(check('ledger XRPL, funds')).toBeUndefined()
    expect(check('ledger XRPL, funds of the distributor')).toMatchObject({
      status: 'warn',
      message: 'there is money for 17 more assets',
      advice: `fund the account ${xrpl.distributor} before assets are issued`,
    })
  })
})
