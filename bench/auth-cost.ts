import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { AuditLog } from '../src/access/audit/audit-log.ts'
import { Authenticator } from '../src/access/auth/authenticate.ts'
import { ConsoleSessions } from '../src/access/auth/console-sessions.ts'
import { KeyDirectory } from '../src/access/auth/key-directory.ts'
import { LimitedKeys } from '../src/access/auth/limited-keys.ts'
import { MasterKey } from '../src/access/auth/master-key.ts'
import { SigningKeys } from '../src/access/auth/signing-keys.ts'
import { Tokens } from '../src/access/auth/tokens.ts'
import { systemClock } from '../src/core/clock.ts'
import { createKey, createUser, type MadeKey } from '../test/support/people.ts'
import { TestState } from '../test/support/test-state.ts'
import { LatencyHistogram } from './latency-histogram.ts'
import type { Figure } from './report.ts'
import { startStreamvault } from './servers.ts'

/** What it costs to know who asks: `npm run bench:auth`. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } })
  for (const { name, measured, target } of await authCost(Number(values.seconds))) {
    print(`${name} (wanted: ${target}): ${measured}`)
  }
}

/** Measures one thread without HTTP, and `POST /auth/token` with many keys from one address. */
export async function authCost(seconds: number): Promise<readonly Figure[]> {
  return [await checks(), await tokenRate(seconds)]
}

const tokensAtHand = 1_000

async function checks(): Promise<Figure> {
  await using database = await TestState.open()
  const { state } = database
  const masterKey = new MasterKey(MasterKey.generate())
  const userId = await database.newUser()
  const secret = 'a-secret-of-more-than-32-characters'
  const ids = Array.from({ length: tokensAtHand }, (_, index) => `sv_test_${index}`)
  const rows = ids.map((id) => ({
    id,
    user_id: userId,
    secret_digest: masterKey.digest(secret),
    scopes: 'data:read data:write',
    created_at: 0,
    name: '',
    permission: 'custom',
    origin: 'api',
  }))
  await database.commit(...rows.map((row) => state.insertInto('api_keys').values(row)))
  const needs = { state, writer: database, masterKey, clock: systemClock }
  const keys = await KeyDirectory.open(needs)
  const audit = new AuditLog(state, systemClock)
  const signingKeys = await SigningKeys.open({ ...needs, audit })
  const tokens = new Tokens({ signingKeys, clock: systemClock })
  const authenticator = new Authenticator({
    keys,
    sessions: await ConsoleSessions.open({ ...needs, keys, audit }),
    limited: new LimitedKeys(needs),
    tokens,
    logins: { assertMayLogIn: () => undefined, countFailure: () => undefined },
    onUse: () => undefined,
    onFailure: () => undefined,
  })
  const scope = 'data:read data:write'
  const origin = { address: '127.0.0.1', protocol: 'http' } as const

  const texts = ids.map((apiKeyId) => tokens.issue({ userId, apiKeyId, scope }))
  const signUs = usOf(20_000, () => tokens.issue({ userId, apiKeyId: 'sv_test_0', scope }))
  const firstUs = usOf(tokensAtHand, (index) => tokens.verify(texts[index] ?? ''))
  const requests = texts.map((text) => ({
    // As long as the headers of a real client.
    rawHeaders: ['Host', '127.0.0.1', 'Accept', '*/*', 'Authorization', `Bearer ${text}`],
    address: '127.0.0.1',
  }))
  const knownUs = usOf(2_000_000, (index) =>
    authenticator.authenticate(requests[index % tokensAtHand] as (typeof requests)[number]),
  )
  const keyUs = usOf(200_000, (index) =>
    authenticator.byKey(ids[index % tokensAtHand] ?? '', secret, origin),
  )
  return {
    name: 'knowing a request by a token that was seen before',
    measured: `${shown(knownUs)}; seen for the first time ${shown(firstUs)}, by key and secret ${shown(keyUs)}, signing a token ${shown(signUs)}`,
    target: 'under 20 us',
    isMet: knownUs < 20,
  }
}

function usOf(times: number, run: (index: number) => unknown): number {
  const startedMs = performance.now()
  for (let index = 0; index < times; index++) run(index)
  return ((performance.now() - startedMs) * 1_000) / times
}

function shown(us: number): string {
  return `${us.toFixed(us < 10 ? 2 : 0)} us`
}

const keysOfRun = 100
const connections = 20

/** Tokens a second that are asked for: one address may not have more than 5,000 (`src/access/auth/attempt-limits.ts`). */
const askedPerSecond = 4_000

async function tokenRate(seconds: number): Promise<Figure> {
  const service = await startStreamvault(0)
  const userId = await createUser(service.api)
  const keys: MadeKey[] = []
  for (let count = 0; count < keysOfRun; count++)
    keys.push(await createKey(service.api, { userId }))
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const latency = new LatencyHistogram()
  const statuses = new Map<number, number>()
  const beganMs = performance.now()
  const all = askedPerSecond * seconds
  let next = 0
  const loop = async () => {
    for (let number = next++; number < all; number = next++) {
      const { apiKey, apiSecret } = keys[number % keysOfRun] as MadeKey
      const dueMs = beganMs + (number * 1_000) / askedPerSecond
      const earlyMs = dueMs - performance.now()
      if (earlyMs >= 1) await sleep(earlyMs)
      const status = await post(service.http, agent, JSON.stringify({ apiKey, apiSecret }))
      latency.record((performance.now() - dueMs) * 1_000)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
  const tookS = (performance.now() - beganMs) / 1_000
  agent.destroy()
  await service.stop()
  const rate = Math.round((statuses.get(200) ?? 0) / tookS)
  const [p50, p99] = [latency.percentile(50) / 1_000, latency.percentile(99) / 1_000]
  const refused = [...statuses].filter(([status]) => status !== 200)
  const others = refused.map(([status, count]) => `; ${count} times ${status}`).join('')
  return {
    name: `POST /auth/token, ${keysOfRun} keys, ${connections} connections, ${askedPerSecond.toLocaleString('en')} asked for a second`,
    measured: `${rate.toLocaleString('en-US')}/s; p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms${others}`,
    target: '1,000/s',
    isMet: rate >= 1_000 && refused.length === 0,
  }
}

function post(base: string, agent: Agent, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    }
    const sent = request(`${base}/auth/token`, { method: 'POST', agent, headers }, (answer) => {
      answer.resume()
      answer.once('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.once('error', reject)
    sent.end(body)
  })
}

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

if (import.meta.main) await main()
