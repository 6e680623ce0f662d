import { describe, expect, test } from 'vitest'
import { readSettings } from '../../src/config/config.ts'

const secret = 'correct-horse-battery-staple-0001'

function problemsOf(environment: Readonly<Record<string, string>>): readonly string[] {
  return readSettings(environment).problems
}

describe('secrets', () => {
  test('an admin key and its secret are given together or not at all', () => {
    expect(problemsOf({ STREAMVAULT_ADMIN_KEY: 'sv_live_admin' })).toHaveLength(1)
    expect(problemsOf({ STREAMVAULT_ADMIN_SECRET: secret })).toHaveLength(1)
  })

  test('an admin secret has at least 32 characters', () => {
    const [enough, tooShort] = [32, 31].map((length) =>
      problemsOf({
        STREAMVAULT_ADMIN_KEY: 'sv_live_admin',
        STREAMVAULT_ADMIN_SECRET: 'x'.repeat(length),
      }),
    )

    expect(enough).toEqual([])
    expect(tooShort).toEqual(['STREAMVAULT_ADMIN_SECRET must have at least 32 characters'])
  })

  test.each([31, 33])('a master key of %i bytes is refused', (length) => {
    const masterKey = Buffer.alloc(length, 1).toString('base64')

    expect(problemsOf({ STREAMVAULT_MASTER_KEY: masterKey })).toEqual([
      'STREAMVAULT_MASTER_KEY must be 32 bytes in base64',
    ])
  })

  test.each([
    ['STREAMVAULT_ADMIN_SECRET', 'hunter2'],
    ['STREAMVAULT_MASTER_KEY', 'hunter2'],
    ['STREAMVAULT_STATE_URL', 'postgres://vault:hunter2@db/vault'],
    ['STREAMVAULT_TIMESERIES_URL', 'questdb://vault:hunter2@db/Vault'],
    ['STREAMVAULT_JOURNAL_URL', 'kafka://vault:hunter2@db/vault'],
    ['STREAMVAULT_PUBLIC_URL', 'ftp://vault:hunter2@vault.example'],
    ['STREAMVAULT_LEDGER_XRPL', 'ftp://hunter2.example'],
    ['STREAMVAULT_LEDGER_XRPL', 'wss://vault:hunter2@node.example'],
    ['STREAMVAULT_LEDGER_XRPL', 'wss://node.example/hunter2 wss://other.example'],
    ['STREAMVAULT_LEDGER_ETHEREUM', 'https://node.example/token#hunter2'],
    ['STREAMVAULT_LEDGER_ETHEREUM_CONTRACT', 'https://node.example/hunter2'],
    ['STREAMVAULT_LEDGER_ETHEREUM_NETWORK', 'https://node.example/hunter2'],
    ['STREAMVAULT_LEDGER_ETHEREUM_FINALITY', 'hunter2'],
    ['STREAMVAULT_LEDGER_XRPL_FEE_MAX', 'hunter2'],
    ['STREAMVAULT_FILES_URL', 's3://vault:hunter2@bucket'],
    ['STREAMVAULT_FILES_URL', 's3://bucket?secret=hunter2'],
    ['STREAMVAULT_FILES_URL', 's3://bucket?endpoint=http://vault:hunter2@minio'],
    ['STREAMVAULT_FILES_URL', 'minio://vault:hunter2@minio'],
  ])('a wrong %s is named in a message, but its secret is not shown', (name, value) => {
    const message = problemsOf({ STREAMVAULT_ADMIN_KEY: 'sv_live_admin', [name]: value }).join()

    expect(message).toContain(name)
    expect(message).not.toContain('hunter2')
  })
})
