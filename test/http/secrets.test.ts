import { createPrivateKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { connectAsync } from 'mqtt'
import { describe, expect, test } from 'vitest'
import { freePort } from '../../scripts/servers/free-port.ts'
import { ApiClient } from '../support/api-client.ts'
import { makeCertificate } from '../support/certificate.ts'
import { signedIn } from '../support/console-browser.ts'
import { leakedKeys } from '../support/leaked-keys.ts'
import { putAccounts } from '../support/ledger-accounts.ts'
import type { MadeKey } from '../support/people.ts'
import { filesOf, findings, type Secrets, spellings } from '../support/secret-findings.ts'
import { type ServiceProcess } from '../support/service-process.ts'
import { contentKeyIn, signingKeyIn } from '../support/signing-key.ts'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()

function placesOf(service: ServiceProcess, answers: readonly string[]): Map<string, Buffer> {
  const files = filesOf(service.dataDir).map(
    (path) => [path.slice(service.dataDir.length + 1), readFileSync(path)] as const,
  )
  return new Map([
    ...files,
    ['the log', Buffer.from(service.output())],
    ['an answer', Buffer.from(answers.join('\n'))],
  ])
}

/** Does everything that has to do with secrets, rightly and wrongly. */
class Exercise {
  readonly secrets: Secrets = new Map()
  /** Bodies of answers that may hold no secret. */
  readonly answers: string[] = []
  readonly #service: ServiceProcess
  readonly #api: ApiClient
  readonly #admin: MadeKey
  readonly #master: Buffer
  /** With credentials that may ask again, it is as good as what it was answered. */
  readonly #idempotencyKey = 'canary-idempotency-key-0123'

  constructor(service: ServiceProcess, admin: MadeKey, master: Buffer) {
    this.#service = service
    this.#master = master
    this.secrets.set('the master key', master)
    this.#api = new ApiClient(service.http)
    this.#admin = admin
  }

  async run(): Promise<void> {
    const user = await this.#as<{ id: string }>('POST', '/users', {
      username: 'ada',
      first_name: 'Ada',
      last_name: 'Lovelace',
    })
    const wanted = { name: 'k', kind: 'test', permission: 'admin', userId: user.id }
    const made = await this.#keep('the secret of a key', this.#as('POST', '/keys', wanted))
    const path = `/keys/${made.apiKey}/rotate`
    const rotated = await this.#keep('a rotated secret', this.#as('POST', path))
    // Their answers are kept, to be given again.
    const again = { 'idempotency-key': this.#idempotencyKey }
    this.secrets.set('an Idempotency-Key', Buffer.from(this.#idempotencyKey))
    const kept = await this.#keep('a secret under a key', this.#as('POST', '/keys', wanted, again))
    expect(await this.#as('POST', '/keys', wanted, again)).toEqual(kept)
    const rotation = () => this.#as<MadeKey>('POST', `/keys/${kept.apiKey}/rotate`, {}, again)
    const keptAgain = await this.#keep('a rotated secret under a key', rotation())
    expect(await rotation()).toEqual(keptAgain)
    await this.#token('a token', made)
    this.#addSigningKey('the first signing key')
    await this.#as('POST', '/auth/signing-keys/rotate')
    this.#addSigningKey('the second signing key')
    const token = await this.#token('another token', rotated)
    await this.#signed()
    const { dataDir } = this.#service
    const accounts = { api: this.#api, admin: this.#admin, dataDir, master: this.#master }
    await putAccounts(accounts, this.secrets, this.answers)
    await this.#anchored()
    await this.#mqtt(rotated, token)
    await this.#webhook()
    await this.#device()
    await this.#console(rotated)
    await this.#mistakes(rotated, token)
    for (const list of ['/keys', '/users', '/audit', '/platform/users', '/vaults']) {
      this.answers.push(JSON.stringify(await this.#as('GET', list)))
    }
    await this.#as('DELETE', `/keys/${made.apiKey}`)
    await this.#as('DELETE', `/users/${user.id}`)
  }

  async #as<Body>(
    method: string,
    path: string,
    body?: unknown,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Body> {
    const { apiKey, apiSecret } = this.#admin
    const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret, ...more }
    const answer = await this.#api.request<Body>(method, path, { headers, body })
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}`)
    return answer.body
  }

  async #keep(what: string, answer: Promise<MadeKey>): Promise<MadeKey> {
    const key = await answer
    this.secrets.set(what, Buffer.from(key.apiSecret))
    this.secrets.set(`${what}, its bytes`, Buffer.from(key.apiSecret, 'base64url'))
    return key
  }

  async #token(what: string, { apiKey, apiSecret }: MadeKey): Promise<string> {
    const body = { apiKey, apiSecret }
    const answer = await this.#api.request<{ accessToken: string }>('POST', '/auth/token', { body })
    const { accessToken } = answer.body
    this.secrets.set(what, Buffer.from(accessToken))
    this.secrets.set(`${what}, its signature`, Buffer.from(accessToken.split('.')[2] ?? ''))
    return accessToken
  }

  #addSigningKey(what: string): void {
    const { privateKey } = signingKeyIn(this.#service.dataDir, this.#master)
    const { d = '' } = createPrivateKey(privateKey).export({ format: 'jwk' })
    this.secrets.set(what, Buffer.from(d, 'base64url'))
    this.secrets.set(`${what}, PEM`, Buffer.from(privateKey.split('\n')[1] ?? ''))
  }

  async #signed(): Promise<void> {
    const found = () => contentKeyIn(this.#service.dataDir, this.#master)
    const first = found()
    await this.#as('POST', '/content-keys/rotate')
    const leaked = await leakedKeys(this.#api, this.#admin, this.#idempotencyKey)
    this.answers.push(...leaked.answers)
    for (const one of [...first, ...found(), ...leaked.secrets]) this.secrets.set(...one)
  }

  /** With everything that is answered of it, to its owner and to strangers. */
  async #anchored(): Promise<void> {
    const body = { asset_code: 'CANARY', description: null }
    const { id } = await this.#as<{ id: string }>('POST', '/streams', body)
    const proof = async () =>
      await this.#as<{ cid: string; final: boolean }>('GET', `/streams/${id}/proof`)
    await expect.poll(async () => (await proof()).final).toBe(true)
    const { cid } = await proof()
    const paths = [`/streams/${id}/proof`, `/streams/${id}/metadata`]
    for (const path of paths) this.answers.push(JSON.stringify(await this.#as('GET', path)))
    for (const path of [`/verify/${cid}`, '/.well-known/ledger-keys.json']) {
      const answer = await fetch(this.#service.http + path)
      expect(answer.status).toBe(200)
      this.answers.push(await answer.text())
    }
  }

  async #mqtt({ apiKey, apiSecret }: MadeKey, token: string): Promise<void> {
    const connect = (username: string, password: string) =>
      connectAsync({
        host: '127.0.0.1',
        port: this.#service.mqttPort,
        username,
        password,
        reconnectPeriod: 0,
      })
    for (const client of [await connect(apiKey, apiSecret), await connect('bearer', token)]) {
      await client.endAsync(true)
    }
    // The wrong way round, as it happens to people.
    await expect(connect(apiSecret, apiKey)).rejects.toThrow()
    await expect(connect('bearer', apiSecret)).rejects.toThrow()
    await expect(connect(apiKey, token)).rejects.toThrow()
  }

  /** With all that a webhook may keep secret: what is sent, to a name that there is not, is recorded. */
  async #webhook(): Promise<void> {
    const at = '/notifications/webhooks'
    const secret = 'canary-secret-of-a-webhook-0123'
    const header = 'canary-header-of-a-webhook-0123'
    const next = 'canary-secret-that-follows-0123'
    const again = { 'idempotency-key': this.#idempotencyKey }
    const wanted = {
      url: 'https://receiver.nowhere.example.com/hook',
      event_types: ['asset.created'],
      secret,
      custom_headers: { 'X-Token': header },
    }
    const { id } = await this.#as<{ id: string }>('POST', at, wanted, again)
    this.secrets.set('the secret of a webhook', Buffer.from(secret))
    this.secrets.set('a header of a webhook', Buffer.from(header))
    await this.#as('POST', `${at}/${id}/rotate-secret`, { secret: next }, again)
    this.secrets.set('the next secret of a webhook', Buffer.from(next))
    await this.#as('POST', `${at}/${id}/test`, {})
    const attempts = () => this.#as<{ content: unknown[] }>('GET', `${at}/${id}/deliveries`)
    await expect.poll(async () => (await attempts()).content.length).toBe(1)
    this.answers.push(JSON.stringify(await attempts()))
  }

  /** One that registers itself, and sends: all of it under a key. */
  async #device(): Promise<void> {
    const again = { 'idempotency-key': this.#idempotencyKey }
    const template = { name: 'boiler', hint: '', required_streams: [] }
    const { id: templateId } = await this.#as<{ id: string }>('POST', '/templates', template)
    const vault = { template_id: templateId, name: 'boiler 7' }
    const { id } = await this.#as<{ id: string }>('POST', '/vaults', vault)
    const definition = { type: 'iot_sensor', schema: { temperature: { type: 'number' } } }
    const line = await this.#keep(
      'the secret of a provisioning key',
      this.#as('POST', `/vaults/${id}/provisioning-keys`, { name: 'l', definition, devicesMax: 1 }),
    )
    const asLine = { 'x-api-key': line.apiKey, 'x-api-secret': line.apiSecret, ...again }
    const register = () =>
      this.#api.request<{ streamId: string; device: MadeKey }>('POST', '/devices/register', {
        headers: asLine,
        body: { serial: 'SN-0815' },
      })
    const { streamId, device } = (await register()).body
    await this.#keep('the secret of a device', Promise.resolve(device))
    expect((await register()).body.device).toEqual(device)
    const asDevice = { 'x-api-key': device.apiKey, 'x-api-secret': device.apiSecret, ...again }
    const answer = await this.#api.request('POST', `/streams/${streamId}/data`, {
      headers: asDevice,
      body: { temperature: 21 },
    })
    expect(answer.status).toBe(202)
  }

  /** Signs in twice, and out once; asks as a page does, and as none may. */
  async #console(key: MadeKey): Promise<void> {
    for (const what of ['the cookie of the console', 'a cookie that was ended']) {
      const browser = await signedIn(this.#service.http, key)
      const [, secret = ''] = browser.cookie.split('=')
      this.secrets.set(what, Buffer.from(secret))
      this.secrets.set(`${what}, its bytes`, Buffer.from(secret, 'base64url'))
      const answers = [
        await browser.ask('GET', '/console/session'),
        await browser.ask('GET', '/console/sessions'),
        await browser.ask('POST', '/templates', { name: 1 }, { origin: 'https://evil.example' }),
        await browser.ask('POST', '/templates', { name: 1 }),
        await browser.ask('GET', '/vaults', undefined, { 'x-api-key': secret }),
        await browser.ask('GET', '/vaults', undefined, { authorization: `Bearer ${secret}` }),
        await browser.send('GET', '/vaults', { cookie: browser.cookie }),
      ]
      this.answers.push(JSON.stringify(answers.map(({ body }) => body)))
      if (what === 'a cookie that was ended') await browser.ask('DELETE', '/console/session')
    }
  }

  async #mistakes({ apiKey, apiSecret }: MadeKey, token: string): Promise<void> {
    const key = { 'x-api-key': apiKey, 'x-api-secret': apiSecret }
    const attempts: [string, string, Record<string, string>, unknown][] = [
      ['GET', '/vaults', { 'x-api-key': apiSecret, 'x-api-secret': apiKey }, undefined],
      ['GET', '/vaults', { authorization: `Bearer ${apiSecret}` }, undefined],
      ['GET', '/vaults', { authorization: `Basic ${apiSecret}` }, undefined],
      ['GET', '/vaults', { ...key, authorization: `Bearer ${token}` }, undefined],
      ['GET', '/vaults', { authorization: `Bearer ${token}.` }, undefined],
      ['POST', '/auth/token', {}, { apiKey: apiSecret, apiSecret: apiKey }],
      ['POST', '/auth/token', {}, { apiKey, apiSecret: [apiSecret] }],
      ['POST', '/auth/token', {}, { apiKey, apiSecret: `${apiSecret}${'x'.repeat(600)}` }],
      ['POST', '/auth/token', {}, `{"apiKey": "${apiKey}", "apiSecret": "${apiSecret}"`],
      ['POST', '/keys', key, { name: 'k', kind: apiSecret, permission: 'custom', token }],
      ['POST', '/keys', key, { name: 'k', kind: 'test', permission: apiSecret, scopes: [token] }],
      // Decided before anything is remembered under the name that the client gave.
      ['POST', '/keys', { ...key, 'idempotency-key': apiSecret }, { name: token }],
      ['POST', '/templates', { ...key, 'idempotency-key': token }, { name: apiSecret }],
    ]
    for (const [method, path, headers, body] of attempts) {
      const answer = await this.#api.request(method, path, { headers, body })
      expect(answer.status).toBeGreaterThanOrEqual(400)
      expect(answer.status).toBeLessThan(500)
      this.answers.push(JSON.stringify(answer.body))
    }
  }
}

const masterKey = Buffer.from('0123456789abcdef0123456789ABCDEF')
const given = { key: 'sv_live_canary', secret: 'canary-secret-of-the-operator-0123456789' }

describe('a secret is written nowhere', () => {
  test('when the settings give the first ones', async () => {
    const service = await services.start(services.newFolder(), {
      STREAMVAULT_LOG_LEVEL: 'trace',
      STREAMVAULT_ANCHORING: 'on',
      STREAMVAULT_MASTER_KEY: masterKey.toString('base64'),
      STREAMVAULT_ADMIN_KEY: given.key,
      STREAMVAULT_ADMIN_SECRET: given.secret,
    })
    const admin = { apiKey: given.key, apiSecret: given.secret, userId: '', scopes: [] }
    const exercise = new Exercise(service, admin, masterKey)
    exercise.secrets.set('the secret of the settings', Buffer.from(given.secret))

    await exercise.run()

    expect(exercise.secrets.size).toBeGreaterThanOrEqual(31)
    // With what stands in the WAL, and once more when all is written and closed.
    expect(findings(exercise.secrets, placesOf(service, exercise.answers))).toEqual([])
    await service.end('SIGTERM')
    expect(findings(exercise.secrets, placesOf(service, exercise.answers))).toEqual([])
  })

  test('when it comes over MQTT with TLS, rightly and wrongly', async () => {
    const folder = services.newFolder()
    const certificate = makeCertificate(folder)
    const mqttsPort = await freePort()
    const service = await services.start(services.newFolder(), {
      STREAMVAULT_LOG_LEVEL: 'trace',
      STREAMVAULT_MASTER_KEY: masterKey.toString('base64'),
      STREAMVAULT_ADMIN_KEY: given.key,
      STREAMVAULT_ADMIN_SECRET: given.secret,
      STREAMVAULT_TLS_CERT: certificate.certPath,
      STREAMVAULT_TLS_KEY: certificate.keyPath,
      STREAMVAULT_MQTTS_PORT: String(mqttsPort),
    })
    const secure = `mqtts://127.0.0.1:${mqttsPort}`
    const rightly = { username: given.key, password: given.secret, ca: certificate.authority }
    const connect = (url: string, options: object) =>
      connectAsync(url, { ...rightly, reconnectPeriod: 0, ...options }, false)

    for (const client of [await connect(secure, {}), await connect(secure, { clientId: 'two' })]) {
      for (const qos of [0, 1, 2] as const) {
        for (const payload of ['{"temperature": 1}', given.secret, '{']) {
          await client.publishAsync('streams/none/data', payload, { qos })
          await client.publishAsync(`streams/${given.secret}/data`, payload, { qos })
        }
      }
      await client.endAsync()
    }
    const stranger = makeCertificate(folder, 'stranger')
    const mistakes: [string, object][] = [
      [secure, { ca: stranger.authority }],
      [secure, { username: given.secret, password: given.key }],
      [secure, { username: 'bearer' }],
      // Plain MQTT at the port for TLS: the first bytes that it sends hold the secret.
      [`mqtt://127.0.0.1:${mqttsPort}`, {}],
      [`mqtts://127.0.0.1:${service.mqttPort}`, {}],
    ]
    for (const [url, options] of mistakes) await expect(connect(url, options)).rejects.toThrow()
    await service.end('SIGTERM')

    const privateKey = readFileSync(certificate.keyPath, 'utf8').split('\n')[1] ?? ''
    const secrets = new Map([
      ['the secret', Buffer.from(given.secret)],
      ['the master key', masterKey],
      ['the key of the certificate', Buffer.from(privateKey)],
    ])
    expect(findings(secrets, placesOf(service, []))).toEqual([])
    expect(service.output()).toContain(secure)
  })

  test('but in the two files that are made for it', async () => {
    const service = await services.start(services.newFolder(), {
      STREAMVAULT_LOG_LEVEL: 'trace',
      STREAMVAULT_ANCHORING: 'on',
      STREAMVAULT_ADMIN_KEY: '',
      STREAMVAULT_ADMIN_SECRET: '',
    })
    const admin = JSON.parse(readFileSync(join(service.dataDir, 'admin.json'), 'utf8')) as MadeKey
    const master = readFileSync(join(service.dataDir, 'master.key'), 'utf8').trim()
    const exercise = new Exercise(service, admin, Buffer.from(master, 'base64'))
    exercise.secrets.set('the bootstrap secret', Buffer.from(admin.apiSecret))

    await exercise.run()
    await service.end('SIGTERM')

    const found = findings(exercise.secrets, placesOf(service, exercise.answers))
    expect(found.toSorted((left, right) => left.localeCompare(right))).toEqual([
      'admin.json: the bootstrap secret',
      'master.key: the master key',
    ])
  })

  test('when it is a password in a setting that is refused', async () => {
    const secrets = new Map([['the password', Buffer.from('pass-canary-0123')]])
    for (const name of ['STATE', 'TIMESERIES', 'JOURNAL', 'PUBLIC']) {
      const url = 'postgres://ada:pass-canary-0123@127.0.0.1/db'
      const launched = await services.launch(services.newFolder(), {
        [`STREAMVAULT_${name}_URL`]: url,
      })
      expect(await launched.exited).toBe(1)
      const printed = Buffer.from(launched.output())
      expect(printed.toString()).toContain(`STREAMVAULT_${name}_URL`)
      expect(findings(secrets, new Map([['the output', printed]]))).toEqual([])
    }
  })

  test('and would be found if it were', () => {
    const secret = Buffer.from('needle-0123456789')
    const secrets = new Map([['it', secret]])
    for (const spelling of spellings(secret)) {
      const content = Buffer.concat([Buffer.from('hay'), spelling, Buffer.from('stack')])
      expect(findings(secrets, new Map([['a file', content]]))).toEqual(['a file: it'])
    }
  })
})
