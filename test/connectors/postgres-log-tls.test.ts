import { chmodSync, chownSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgresLog } from '../../connectors/postgres-log/postgres-log.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { makeCertificate } from '../support/certificate.ts'
import { FollowedTable } from '../support/followed-table.ts'
import { isPostgresMissing, Postgres } from '../support/postgres.ts'
import { RecordedRun } from '../support/recorded-run.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const folder = new TemporaryFolder()
const certificate = makeCertificate(folder.path, 'server', 'DNS:plant.example')
let server: Postgres

beforeAll(async () => {
  if (isPostgresMissing) return
  const { certPath, keyPath } = certificate
  // The server refuses a key that others can read, and runs as somebody else than root.
  if (process.getuid?.() === 0) chownSync(keyPath, 65_534, 65_534)
  chmodSync(keyPath, 0o600)
  server = await Postgres.start(['ssl=on', `ssl_cert_file=${certPath}`, `ssl_key_file=${keyPath}`])
})

afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

async function follow(tls: Readonly<Record<string, unknown>>) {
  const table = await FollowedTable.create(server, { tls })
  const source = postgresLog.open({ streamId: newId<StreamId>(), source: table.source })
  return { table, run: new RecordedRun(source, server.port) }
}

describe.skipIf(isPostgresMissing)('a log that is followed over TLS', () => {
  test('comes from a server that has the name which is expected', async () => {
    const { table, run } = await follow({
      ca: certificate.authority,
      servername: 'plant.example',
    })
    await expect.poll(async () => (await table.slots())[0]?.active).toBe(true)
    await table.insert(1, 5_000)
    await expect.poll(() => run.rows.length).toBe(5_000)
    const { rows } = await table.client.query(
      `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_replication USING (pid)`,
    )
    expect(rows).toEqual([{ ssl: true }])
    await run[Symbol.asyncDispose]()
    await table[Symbol.asyncDispose]()
  })

  test.each([
    ['nobody has signed', {}, /self-signed/],
    ['has another name', { servername: 'other.example' }, /altnames/],
  ])('does not come from one that %s', async (_, more, reason) => {
    const ca = reason.source === 'altnames' ? { ca: certificate.authority } : {}
    const { table, run } = await follow({ ...ca, ...more })
    expect(String(await run.ended)).toMatch(reason)
    await table[Symbol.asyncDispose]()
  })
})
