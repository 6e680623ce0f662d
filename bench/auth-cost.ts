import { Agent, request } from 'node:http'
import { parseArgs } from 'node:util'
import { AuditLog } from '../src/audit/audit-log.ts'
import { Authenticator } from '../src/auth/authenticate.ts'
import { KeyDirectory } from '../src/auth/key-directory.ts'
import { MasterKey } from '../src/auth/master-key.ts'
import { SigningKeys } from '../src/auth/signing-keys.ts'
import { Tokens } from '../src/auth/tokens.ts'
import { systemClock } from '../src/core/clock.ts'
import { createKey, createUser, type MadeKey } from '../test/support/people.ts'
import { TestState } from '../test/support/test-state.ts'
import { LatencyHistogram } from './latency-histogram.ts'
import { startStreamvault } from './servers.ts'

/**
 * What it costs to know who asks: `npm run bench:auth`. The first figures are of one thread and
 * without HTTP, the last one is of `POST /auth/token` with many keys from one address.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } })
  await measureChecks()
  await measureTokenRate(Number(values.seconds))
}

const tokensAtHand = 1_000

async function measureChecks(): Promise<void> {
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
  const authenticator = new Authenticator({ keys, tokens, onFailure: () => undefined })
  const scope = 'data:read data:write'

  const texts = ids.map((apiKeyId) => tokens.issue({ userId, apiKeyId, scope }))
  report('sign a token', 20_000, () => tokens.issue({ userId, apiKeyId: 'sv_test_0', scope }))
  report('check a token for the first time', tokensAtHand, (index) =>
    tokens.verify(texts[index] ?? ''),
  )
  const requests = texts.map((text) => ({
    // As long as the headers of a real client.
    rawHeaders: ['Host', '127.0.0.1', 'Accept', '*/*', 'Authorization', `Bearer ${text}`],
    address: '127.0.0.1',
  }))
  report('know a request by its token (wanted: under 20 us)', 2_000_000, (index) =>
    authenticator.authenticate(requests[index % tokensAtHand] as (typeof requests)[number]),
  )
  report('know a request by key and secret', 200_000, (index) =>
    authenticator.byKey(ids[index % tokensAtHand] ?? '', secret, '127.0.0.1'),
  )
}

function report(what: string, times: number, run: (index: number) => unknown): void {
  const startedMs = performance.now()
  for (let index = 0; index < times; index++) run(index)
  const us = ((performance.now() - startedMs) * 1_000) / times
  print(`${what}: ${us.toFixed(us < 10 ? 2 : 0)} us`)
}

const keysOfRun = 100
const connections = 20

async function measureTokenRate(seconds: number): Promise<void> {
  const service = await startStreamvault(0)
  const userId = await createUser(service.api)
  const keys: MadeKey[] = []
  for (let count = 0; count < keysOfRun; count++)
    keys.push(await createKey(service.api, { userId }))
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const latency = new LatencyHistogram()
  const statuses = new Map<number, number>()
  const untilMs = performance.now() + seconds * 1_000
  let next = 0
  const loop = async () => {
    while (performance.now() < untilMs) {
      const { apiKey, apiSecret } = keys[next++ % keysOfRun] as MadeKey
      const startedMs = performance.now()
      const status = await post(service.http, agent, JSON.stringify({ apiKey, apiSecret }))
      latency.record((performance.now() - startedMs) * 1_000)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
  agent.destroy()
  await service.stop()
  const rate = Math.round((statuses.get(200) ?? 0) / seconds)
  const [p50, p99] = [latency.percentile(50) / 1_000, latency.percentile(99) / 1_000]
  print(
    `POST /auth/token, ${keysOfRun} keys, ${connections} connections (wanted: 1,000/s): ${rate.toLocaleString('en-US')}/s; p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; statuses ${JSON.stringify(Object.fromEntries(statuses))}`,
  )
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

await main()
