import { describe, expect, test } from 'vitest'
import {
  resultOf,
  settingsOf,
  startStreamvault,
  streamvault,
  streamvaultJson,
} from '../support/command-line.ts'
import { startedServices } from '../support/started-services.ts'
import { usedFolders } from '../support/used-folder.ts'

const { start } = startedServices()
const usedFolder = usedFolders()

const seed = 'snoPBrXtMeMyMHUVTgbuqAfg1SUTb'
const account = 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh'

type Environment = Readonly<Record<string, string>>

interface MadeKey {
  readonly role: string
  readonly account: string
}

async function besideService(): Promise<Environment> {
  const dataDir = usedFolder()
  await start(dataDir)
  return settingsOf(dataDir)
}

const withoutService = async () => settingsOf(usedFolder())

/** Runs the command with a text on its standard input. */
async function withInput(words: readonly string[], text: string, environment: Environment) {
  const child = startStreamvault(words, environment, 'pipe')
  child.stdin?.end(text)
  return await resultOf(child)
}

async function audited(environment: Environment): Promise<unknown> {
  const dataDir = environment['STREAMVAULT_DATA_DIR'] ?? ''
  const { DatabaseSync } = await import('node:sqlite')
  const database = new DatabaseSync(`${dataDir}/state.db`, { readOnly: true })
  const query = `SELECT action, subject_id AS subject, details FROM audit_log
    WHERE action LIKE 'ledger_key.%' ORDER BY at`
  const rows = database.prepare(query).all()
  database.close()
  return rows
}

describe.each([
  ['with the service running', besideService],
  ['without a running service', withoutService],
])('%s', (_, surround) => {
  test('keys are made, brought along, listed and shown, and no secret is printed', async () => {
    const environment = await surround()

    const made = await streamvaultJson<MadeKey[]>(
      ['ledger', 'keys', 'create', 'ETHEREUM'],
      environment,
    )
    const imported = await withInput(['ledger', 'keys', 'import', 'XRPL'], `${seed}\n`, environment)
    const other = await streamvaultJson<MadeKey[]>(
      ['ledger', 'keys', 'create', 'xrpl'],
      environment,
    )
    const list = await streamvaultJson<MadeKey[]>(['ledger', 'keys', 'list'], environment)
    const shown = await streamvault(['ledger', 'keys', 'address', 'XRPL'], environment)

    expect(made).toMatchObject([{ ledger: 'ETHEREUM', network: 'eip155:1', role: 'issuer' }])
    expect(imported).toMatchObject({ code: 0 })
    expect(imported.stdout).toContain(account)
    expect(imported.stdout + imported.stderr).not.toContain(seed)
    expect(other).toMatchObject([{ network: 'xrpl:0', role: 'distributor', readable: true }])
    expect(list.map(({ account: one }) => one)).toEqual([
      made[0]?.account,
      account,
      other[0]?.account,
    ])
    expect(shown.stdout).toBe(`issuer ${account}\ndistributor ${other[0]?.account}\n`)
    expect(await audited(environment)).toMatchObject([
      { action: 'ledger_key.created', subject: made[0]?.account },
      { action: 'ledger_key.imported', subject: account },
      { action: 'ledger_key.created', subject: other[0]?.account },
    ])
  })
})

describe('a key', () => {
  test('is made once for a role, and signs for one role', async () => {
    const environment = await withoutService()
    const create = ['ledger', 'keys', 'create', 'POLYGON_POS']
    const first = await streamvault(create, environment)
    await withInput(['ledger', 'keys', 'import', 'XRPL'], seed, environment)

    const again = await streamvault(create, environment)
    const twice = await withInput(
      ['ledger', 'keys', 'import', 'XRPL', '--role', 'distributor'],
      seed,
      environment,
    )

    expect(first.code).toBe(0)
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^streamvault: eip155:137 has a key for its issuer already\nWhat to do: /,
      ),
    })
    expect(twice).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        `^streamvault: ${account} is the issuer of xrpl:0 already\nWhat to do: `,
      ),
    })
  })

  test('that cannot be read is refused without being shown', async () => {
    const environment = await withoutService()
    const words = ['ledger', 'keys', 'import', 'ETHEREUM', '--json']

    const wrong = await withInput(words, 'needle-0123456789', environment)
    const none = await withInput(words, '', environment)
    const long = await withInput(words, 'needle-0123456789'.repeat(1_000), environment)

    expect(wrong.stderr).toContain('secret must be a private key of 32 bytes, hexadecimal')
    expect(none.stderr).toContain('there is no key in standard input')
    expect(long.stderr).toContain('that is no key')
    for (const { code, stdout, stderr } of [wrong, none, long]) {
      expect(code).toBe(1)
      expect(stdout + stderr).not.toContain('needle')
    }
  })

  test('is of the network that the settings say', async () => {
    const environment = { ...(await withoutService()), STREAMVAULT_LEDGER_XRPL_NETWORK: 'xrpl:1' }

    const made = await streamvaultJson(['ledger', 'keys', 'create', 'XRPL'], environment)
    const elsewhere = await streamvaultJson(['ledger', 'keys', 'list'], {
      ...environment,
      STREAMVAULT_LEDGER_XRPL_NETWORK: '',
    })

    expect(made).toMatchObject([{ network: 'xrpl:1', role: 'issuer' }, { role: 'distributor' }])
    expect(elsewhere).toMatchObject([{ ledger: null, network: 'xrpl:1' }, { ledger: null }])
  })

  test('that does not fit the master key is said to be of no use', async () => {
    const environment = await withoutService()
    await streamvaultJson(['ledger', 'keys', 'create', 'ETHEREUM'], environment)
    const { DatabaseSync } = await import('node:sqlite')
    const state = new DatabaseSync(`${environment['STREAMVAULT_DATA_DIR']}/state.db`)
    state.exec('UPDATE ledger_keys SET private_key_encrypted = randomblob(92)')
    state.close()

    const { code, stderr } = await streamvault(['ledger', 'keys', 'list'], environment)

    expect({ code, stderr }).toEqual({
      code: 0,
      stderr:
        'These keys do not fit the master key, and nothing can be signed: the issuer of eip155:1.\n',
    })
  })
})

test('a ledger that there is not is wrong usage', async () => {
  const { code, stderr } = await streamvault(['ledger', 'keys', 'create', 'BITCOIN'])

  expect(code).toBe(2)
  expect(stderr).toContain('LEDGER must be XRPL or POLYGON_ZKEVM or POLYGON_POS or ETHEREUM')
})
