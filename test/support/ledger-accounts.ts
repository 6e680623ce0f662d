import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'vitest'
import { MasterKey } from '../../src/access/auth/master-key.ts'
import { filesIn } from '../../src/config/data-folder.ts'
import type { ApiClient } from './api-client.ts'
import type { MadeKey } from './people.ts'
import type { Secrets } from './secret-findings.ts'

interface Accounts {
  readonly api: ApiClient
  readonly admin: MadeKey
  readonly dataDir: string
  readonly master: Buffer
}

/** Makes accounts on real networks and brings some along: rightly, wrongly, and under a key. */
export async function putAccounts(
  accounts: Accounts,
  secrets: Secrets,
  answers: string[],
): Promise<void> {
  const { api, admin, dataDir, master } = accounts
  const seed = 'sEdTM1uX8pu2do5XvTnutH6HsouMaM2'
  const privateKey = Buffer.from('canary'.padEnd(32, '7'))
  const secret = privateKey.toString('hex')
  const wanted: [object, number][] = [
    [{ ledger: 'XRPL', secret: seed }, 201],
    [{ ledger: 'XRPL', secret: seed }, 409],
    [{ ledger: 'ETHEREUM', secret }, 201],
    [{ ledger: 'POLYGON_POS', secret: seed }, 400],
    [{ ledger: 'POLYGON_POS', secret: [secret] }, 400],
    [{ ledger: 'POLYGON_POS' }, 201],
  ]
  const headers = { 'x-api-key': admin.apiKey, 'x-api-secret': admin.apiSecret }
  for (const [at, [body, status]] of wanted.entries()) {
    const keyed = { ...headers, 'idempotency-key': `account-${at}` }
    const answer = await api.request('POST', '/ledger-keys', { headers: keyed, body })
    expect(answer.status).toBe(status)
    answers.push(JSON.stringify(answer.body))
  }
  answers.push(JSON.stringify((await api.request('GET', '/ledger-keys', { headers })).body))
  secrets.set('the seed of an account', Buffer.from(seed))
  secrets.set('the key of an account', privateKey)
  const stored = [...storedKeys(dataDir, master), ...sandboxKeys(dataDir, master)]
  for (const [what, key] of stored) secrets.set(what, key)
}

function storedKeys(dataDir: string, master: Buffer): [string, Buffer][] {
  const cipher = new MasterKey(master)
  const state = new DatabaseSync(filesIn(dataDir).state, { readOnly: true })
  const query = 'SELECT network, private_key_encrypted AS bytes FROM ledger_keys'
  const rows = state.prepare(query).all()
  state.close()
  return rows.map(({ network, bytes }) => {
    const hex = cipher.decrypt(bytes as Uint8Array)
    return [`the key of ${String(network)}`, Buffer.from(hex, 'hex')]
  })
}

/** The keys of the ledger of our own, which are made at the start. */
function sandboxKeys(dataDir: string, master: Buffer): [string, Buffer][] {
  const text = readFileSync(join(filesIn(dataDir).ledger, 'keys.json'), 'utf8')
  const { keys } = JSON.parse(text) as { keys: { role: string; private: string }[] }
  const cipher = new MasterKey(master)
  return keys.map(({ role, private: secret }) => {
    const d = cipher.decrypt(Buffer.from(secret, 'base64'))
    return [`the key of the ledger for ${role}`, Buffer.from(d, 'base64url')]
  })
}
