import { once } from 'node:events'
import { chmodSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { makeCertificate } from '../support/certificate.ts'
import { streamvault } from '../support/command-line.ts'
import { anyPorts, type Check, examine } from '../support/examination.ts'
import { usedFolders } from '../support/used-folder.ts'

type Environment = Readonly<Record<string, string>>

const usedFolder = usedFolders({ STREAMVAULT_ADMIN_KEY: '', STREAMVAULT_ADMIN_SECRET: '' })

/** A way to break a folder or its settings, and the check that has to find it. */
interface Breakage {
  readonly name: string
  readonly check: string
  readonly status: 'warn' | 'fail'
  readonly message: RegExp
  readonly breakIt: (dataDir: string) => Environment | Promise<Environment>
}

const breakages: readonly Breakage[] = [
  {
    name: 'a wrong setting',
    check: 'settings',
    status: 'fail',
    message: /STREAMVAULT_JOURNAL_MAX must be a size.*; STREAMVAULT_LOG_LEVEL must be/,
    breakIt: () => ({ STREAMVAULT_JOURNAL_MAX: 'much', STREAMVAULT_LOG_LEVEL: 'loud' }),
  },
  {
    name: 'a disk with little space',
    check: 'disk',
    status: 'fail',
    message: /no readings are taken with less than \d+ bytes/,
    breakIt: () => ({ STREAMVAULT_DISK_MIN: '900TiB' }),
  },
  {
    name: 'a setting that nobody reads',
    check: 'settings',
    status: 'warn',
    message:
      /the service does not read STREAMVAULT_HTP_PORT \(did you mean STREAMVAULT_HTTP_PORT\?\)/,
    breakIt: () => ({ STREAMVAULT_HTP_PORT: '80' }),
  },
  {
    name: 'a setting that has no effect',
    check: 'settings',
    status: 'warn',
    message: /STREAMVAULT_MAIL_FROM has no effect without STREAMVAULT_SMTP_URL/,
    breakIt: () => ({ STREAMVAULT_MAIL_FROM: 'iot@plant.example' }),
  },
  {
    name: 'a file in the place of the folder',
    check: 'data folder',
    status: 'fail',
    message: /is not a folder/,
    breakIt: (dataDir) => ({ STREAMVAULT_DATA_DIR: join(dataDir, 'state.db') }),
  },
  {
    name: 'a folder that others can get into',
    check: 'data folder',
    status: 'warn',
    message: /mode 0755/,
    breakIt: (dataDir) => (chmodSync(dataDir, 0o755), {}),
  },
  {
    name: 'a master key that others can read',
    check: 'master.key',
    status: 'fail',
    message: /mode 0640/,
    breakIt: (dataDir) => (chmodSync(join(dataDir, 'master.key'), 0o640), {}),
  },
  {
    name: 'a lost master key',
    check: 'master.key',
    status: 'fail',
    message: /it is missing/,
    breakIt: (dataDir) => (renameSync(join(dataDir, 'master.key'), join(dataDir, 'kept')), {}),
  },
  {
    name: 'another master key',
    check: 'master.key',
    status: 'fail',
    message: /STREAMVAULT_MASTER_KEY is not a key of this data folder/,
    breakIt: () => ({ STREAMVAULT_MASTER_KEY: Buffer.alloc(32, 1).toString('base64') }),
  },
  {
    name: 'an admin.json without a key',
    check: 'admin.json',
    status: 'fail',
    message: /no key and secret/,
    breakIt: (dataDir) => (writeFileSync(join(dataDir, 'admin.json'), '{}'), {}),
  },
  {
    name: 'a state of a newer version',
    check: 'state.db',
    status: 'fail',
    message: /newer version.*9999-later/,
    breakIt(dataDir) {
      using database = new DatabaseSync(join(dataDir, 'state.db'))
      database.exec(`INSERT INTO kysely_migration (name, timestamp) VALUES ('9999-later', '')`)
      return {}
    },
  },
  {
    name: 'a state that is not a database',
    check: 'state.db',
    status: 'fail',
    message: /cannot be read/,
    breakIt(dataDir) {
      rmSync(join(dataDir, 'state.db-wal'), { force: true })
      writeFileSync(join(dataDir, 'state.db'), 'x'.repeat(5_000))
      return {}
    },
  },
  {
    name: 'a journal of a newer version',
    check: 'journal.db',
    status: 'fail',
    message: /newer version.*format 99/,
    breakIt(dataDir) {
      using database = new DatabaseSync(join(dataDir, 'journal.db'))
      database.exec('PRAGMA user_version = 99')
      return {}
    },
  },
  {
    name: 'a time-series file that is none',
    check: 'time-series.duckdb',
    status: 'fail',
    message: /not a DuckDB file/,
    breakIt: (dataDir) => (writeFileSync(join(dataDir, 'time-series.duckdb'), 'x'.repeat(50)), {}),
  },
  {
    name: 'a clock that was set back',
    check: 'clock',
    status: 'fail',
    message: /state\.db was changed at .*: it was set back/,
    breakIt(dataDir) {
      const later = new Date(Date.now() + 3_600_000)
      utimesSync(join(dataDir, 'state.db'), later, later)
      return {}
    },
  },
  {
    name: 'an address of another machine',
    check: 'http port',
    status: 'fail',
    message: /not an address of this machine/,
    breakIt: () => ({ STREAMVAULT_HOST: '192.0.2.1', STREAMVAULT_HTTP_PORT: '8099' }),
  },
  {
    name: 'a certificate with the key of another one',
    check: 'tls',
    status: 'fail',
    message: /no good/,
    breakIt(dataDir) {
      const { certPath } = makeCertificate(dataDir)
      const { keyPath } = makeCertificate(dataDir, 'other')
      return { STREAMVAULT_TLS_CERT: certPath, STREAMVAULT_TLS_KEY: keyPath }
    },
  },
  {
    name: 'a certificate that soon expires',
    check: 'tls',
    status: 'warn',
    message: /expires in 1 days/,
    breakIt(dataDir) {
      const { certPath, keyPath } = makeCertificate(dataDir)
      return { STREAMVAULT_TLS_CERT: certPath, STREAMVAULT_TLS_KEY: keyPath }
    },
  },
]

describe('finds', () => {
  test.each(breakages)('$name', async ({ check: name, status, message, breakIt }) => {
    const dataDir = usedFolder()

    const { code, check } = await examine(dataDir, await breakIt(dataDir))

    const found = check(name)
    expect(found).toMatchObject({ status })
    expect(found?.message).toMatch(message)
    expect(found?.advice).not.toBe('')
    expect(code).toBe(status === 'fail' ? 1 : 0)
  })

  test('where time series are that a server has, and no password', async () => {
    const url = 'questdb://ada:hush-hush@db.example/plant'
    const { check } = await examine(usedFolder(), { STREAMVAULT_TIMESERIES_URL: url })

    expect(check('time series')).toMatchObject({ status: 'ok' })
    expect(check('time series')?.message).toContain('QuestDB at db.example:9000')
    expect(JSON.stringify(check('time series'))).not.toContain('hush')
  })

  test('a port that somebody else has taken', async () => {
    const stranger = createServer().listen(0, '127.0.0.1')
    await once(stranger, 'listening')
    const { port } = stranger.address() as { port: number }

    const taken = { STREAMVAULT_HTTP_PORT: String(port) }
    const { code, check } = await examine(usedFolder(), taken)

    stranger.close()
    expect(code).toBe(1)
    expect(check('http port')?.status).toBe('fail')
    expect(check('http port')?.advice).toContain('STREAMVAULT_HTTP_PORT')
  })

  test('a service that cannot be reached', async () => {
    const words = ['doctor', '--json', '--url', 'http://127.0.0.1:1']
    const { code, stdout } = await streamvault(words, {
      ...anyPorts,
      STREAMVAULT_DATA_DIR: usedFolder(),
    })

    const { checks } = JSON.parse(stdout) as { checks: Check[] }
    expect(code).toBe(1)
    expect(checks.find(({ name }) => name === 'service')).toMatchObject({ status: 'fail' })
  })

  test('a process in the folder that does not say who it is', async () => {
    const dataDir = usedFolder()
    using lock = new DatabaseSync(join(dataDir, 'lock.db'))
    lock.exec('PRAGMA locking_mode = EXCLUSIVE')
    lock.exec('BEGIN EXCLUSIVE')

    const { check } = await examine(dataDir)

    expect(check('lock')).toMatchObject({ status: 'warn' })
    expect(check('service')).toMatchObject({ status: 'warn' })
  })
})
