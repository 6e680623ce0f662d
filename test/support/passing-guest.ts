import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import mqtt, { type MqttClient } from 'mqtt'
import type { Answer, ApiClient } from './api-client.ts'
import { type MadeDevice, newDevice } from './devices.ts'
import { jobIn } from './exports.ts'
import { newPerson, type Person, personOf, vaultOf } from './people.ts'
import type { Receiver } from './receiver.ts'

/** Streams that one request makes, and requests of a guest at a time. */
const streamsAtOnce = 1_000
const requestsAtOnce = 8

const beganMs = Date.parse('2026-01-01T00:00:00Z')

export interface GuestNeeds {
  readonly api: ApiClient
  readonly mqttPort: number
  readonly receiver: Pick<Receiver, 'url'>
  /** Streams that the guest makes. */
  readonly streams: number
}

/** A user of the service who uses about everything, and takes all of it away again. */
export class PassingGuest {
  person: Person
  readonly streamIds: string[] = []
  readonly assetStreamIds: string[] = []
  #needs: GuestNeeds
  readonly #name = randomUUID().slice(0, 8)
  readonly #vaultId: string
  #token: string
  #device: MadeDevice | undefined
  readonly #paths: string[] = []

  static async arrive(needs: GuestNeeds): Promise<PassingGuest> {
    const person = await newPerson(needs.api)
    return new PassingGuest(needs, person, await vaultOf(person), await person.token())
  }

  private constructor(needs: GuestNeeds, person: Person, vaultId: string, token: string) {
    this.#needs = needs
    this.person = person
    this.#vaultId = vaultId
    this.#token = token
  }

  /** Makes one of each thing, and many streams, and has readings go through all of them. */
  async use(): Promise<void> {
    await this.#make('/notifications/webhooks', {
      url: this.#needs.receiver.url,
      event_types: ['stream.created', 'stream.deleted'],
    })
    await this.#make('/webhooks', {
      url: this.#needs.receiver.url,
      events: ['stream.data_received', 'stream.alert_triggered'],
    })
    await this.#make('/alert-rules', {
      name: 'cold',
      tags: { of: this.#name },
      rule: { field: 'temperature', operator: '<', threshold: 0 },
    })
    await this.#makeAssets()
    await this.#makeStreams()
    await this.#push()
    await this.#takeHook()
    await this.#useDevice()
    await this.#transfer()
  }

  /** Waits until all readings are settled, so that there is something to be taken away. */
  async settle(): Promise<void> {
    for (const id of [this.streamIds.at(0), this.streamIds.at(-1)]) {
      for (;;) {
        const status = await this.#ask<{ counters: { pending: number } }>(
          'GET',
          `/streams/${id}/status`,
        )
        if (status.body.counters.pending === 0) break
        await sleep(50)
      }
    }
  }

  /** Goes on with a service that was started anew. */
  async returnTo(service: Pick<GuestNeeds, 'api' | 'mqttPort'>): Promise<void> {
    this.#needs = { ...this.#needs, ...service }
    this.person = personOf(service.api, this.person.key)
    this.#token = await this.person.token()
  }

  /** Takes everything away, and then the user: what is gone already stays so. */
  async leave(): Promise<void> {
    const left = [...this.streamIds]
    const work = async () => {
      for (let id = left.pop(); id !== undefined; id = left.pop()) {
        await this.#done('DELETE', `/streams/${id}`)
      }
    }
    await Promise.all(Array.from({ length: requestsAtOnce }, work))
    if (this.#device) await this.#done('DELETE', `/devices/${this.#device.id}`)
    for (const path of this.#paths) await this.#done('DELETE', path)
    for (const list of ['/vaults', '/templates', '/streams']) {
      const { body } = await this.person.withKey<{ content: readonly { id: string }[] }>(
        'GET',
        list,
      )
      for (const { id } of body.content) await this.#doneByKey('DELETE', `${list}/${id}`)
    }
    const { api } = this.#needs
    const answer = await api.withKey('DELETE', `/users/${this.person.userId}`)
    if (answer.status !== 204) throw new Error(`the user stays: ${JSON.stringify(answer.body)}`)
  }

  /** Asset streams, and a vault that lists them. */
  async #makeAssets(): Promise<void> {
    const codes = ['GOLD', 'IRON']
    for (const code of codes) {
      const body = { asset_code: code, description: null }
      const made = await this.#doneByKey<{ id: string }>('POST', '/streams', body)
      this.assetStreamIds.push(made.body.id)
    }
    const template = { name: 'vault of metals', hint: '', required_streams: codes }
    const { body } = await this.#done<{ id: string }>('POST', '/templates', template)
    await this.#done('POST', '/vaults', { template_id: body.id, name: 'metals' })
  }

  async #makeStreams(): Promise<void> {
    const definition = {
      vaultId: this.#vaultId,
      type: 'iot_sensor',
      schema: { temperature: { type: 'number', range: [-50, 150] }, mode: { type: 'string' } },
      processing: {
        frequency: '1m',
        aggregation: 'average',
        retention: { raw: '36500d' },
        seal: '15m',
        alerting: [{ id: 'hot', field: 'temperature', operator: '>', threshold: 80 }],
      },
    }
    for (let from = 0; from < this.#needs.streams; from += streamsAtOnce) {
      const length = Math.min(streamsAtOnce, this.#needs.streams - from)
      const streams = Array.from({ length }, (_, index) => ({
        name: `${this.#name} ${from + index}`,
        tags: { of: this.#name },
      }))
      const body = { definition, streams }
      const made = await this.#done<{ streamIds: string[] }>('POST', '/streams/bulk', body)
      this.streamIds.push(...made.body.streamIds)
    }
  }

  /**
   * Pushes for each stream one reading that is good, one that a rule finds, one that comes twice,
   * and one that is refused.
   */
  async #push(): Promise<void> {
    const sent = [
      [0, 20],
      [1, 90],
      [1, 90],
      [2, 'broken'],
    ] as const
    for (let from = 0; from < this.streamIds.length; from += streamsAtOnce) {
      const readings = this.streamIds.slice(from, from + streamsAtOnce).flatMap((streamId) =>
        sent.map(([second, temperature]) => {
          const timestamp = new Date(beganMs + second * 1_000).toISOString()
          return { streamId, timestamp, temperature, mode: 'eco' }
        }),
      )
      await this.#done('POST', '/data', readings, { 'idempotency-key': randomUUID() })
    }
    const [first] = this.streamIds
    const key = { 'idempotency-key': randomUUID() }
    await this.#done('POST', `/streams/${first}/data`, reading(60), key)
  }

  /** A stream that others send to, and a message of theirs. */
  async #takeHook(): Promise<void> {
    const secret = randomBytes(24)
    const made = await this.#done<{ streamId: string; webhookUrl: string }>('POST', '/streams', {
      name: `${this.#name} orders`,
      vaultId: this.#vaultId,
      type: 'event_stream',
      schema: { amount: { type: 'number' } },
      source: {
        protocol: 'webhook',
        signature: { scheme: 'standard-webhooks' },
        credentials: { secret: `whsec_${secret.toString('base64')}` },
      },
    })
    this.streamIds.push(made.body.streamId)
    const body = JSON.stringify({ amount: 12 })
    const [id, at] = [randomUUID(), String(Math.floor(Date.now() / 1_000))]
    const signature = createHmac('sha256', secret).update(`${id}.${at}.${body}`).digest('base64')
    const { pathname } = new URL(made.body.webhookUrl)
    const { api } = this.#needs
    await api.request('POST', pathname, {
      headers: {
        'webhook-id': id,
        'webhook-timestamp': at,
        'webhook-signature': `v1,${signature}`,
      },
      body,
    })
  }

  /** A device with a session that is kept, in which messages wait. */
  async #useDevice(): Promise<void> {
    const streamIds = this.streamIds.slice(0, 1)
    this.#device = await newDevice(this.person, { streamIds })
    const { apiKey, apiSecret } = this.#device
    const device = { username: apiKey, password: apiSecret, clientId: `device-${this.#name}` }
    const kept = await this.#connect({ ...device, clean: false })
    const topic = `streams/${streamIds[0]}/data`
    await kept.subscribeAsync(topic, { qos: 1 })
    await kept.publishAsync(topic, reading(61), { qos: 1 })
    await kept.endAsync()
    const own = { username: this.person.key.apiKey, password: this.person.key.apiSecret }
    const other = await this.#connect({ ...own, clientId: `other-${this.#name}`, clean: false })
    const space = `users/${this.person.userId}`
    await other.subscribeAsync(`${space}/#`, { qos: 1 })
    await other.publishAsync(topic, reading(62), { qos: 1 })
    await other.publishAsync(`${space}/note`, 'kept', { qos: 1, retain: true })
    await other.endAsync()
  }

  async #transfer(): Promise<void> {
    const streamIds = this.streamIds.slice(0, 3)
    const exported = await this.#done<{ exportId: string }>('POST', '/exports', {
      streamIds,
      format: 'ndjson',
    })
    await this.#ended(`/exports/${exported.body.exportId}`)
    const imported = await this.#done<{ importId: string }>(
      'POST',
      `/streams/${streamIds[0]}/import`,
      `${reading(63)}\n${reading(64)}\n`,
      { 'content-type': 'application/x-ndjson' },
    )
    await this.#ended(`/imports/${imported.body.importId}`)
  }

  async #ended(path: string): Promise<void> {
    const asker = { withToken: (method: string, at: string) => this.#ask(method, at) }
    const { state } = await jobIn(asker as Parameters<typeof jobIn>[0], path)
    if (state !== 'completed') throw new Error(`${path} is ${state}`)
    this.#paths.push(path)
  }

  async #connect(options: object): Promise<MqttClient> {
    const { mqttPort: port } = this.#needs
    return await mqtt.connectAsync({ host: '127.0.0.1', port, reconnectPeriod: 0, ...options })
  }

  async #make(path: string, body: object): Promise<void> {
    const byKey = path.startsWith('/notifications')
    const send = byKey ? this.person.withKey : this.#ask
    const { status, body: made } = await send<{ id?: string; ruleId?: string; webhookId?: string }>(
      'POST',
      path,
      body,
    )
    if (status !== 201) throw new Error(`${path}: ${status} ${JSON.stringify(made)}`)
    const id = made.id ?? made.webhookId ?? made.ruleId?.replace('fleet:', '')
    this.#paths.push(`${path}/${id}`)
  }

  readonly #ask = async <Body>(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<Body>> => {
    const send = () =>
      this.#needs.api.request<Body>(method, path, {
        headers: { authorization: `Bearer ${this.#token}`, ...headers },
        body,
      })
    const answer = await send()
    if (answer.status !== 401) return answer
    this.#token = await this.person.token()
    return await send()
  }

  async #done<Body>(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer<Body>> {
    if (/^\/(vaults|templates|notifications)/.test(path)) {
      return await this.#doneByKey(method, path, body)
    }
    return await this.#succeeded(`${method} ${path}`, () =>
      this.#ask<Body>(method, path, body, headers),
    )
  }

  async #doneByKey<Body>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    return await this.#succeeded(`${method} ${path}`, () =>
      this.person.withKey<Body>(method, path, body),
    )
  }

  /** Asks again and again while the service has too much to do. @throws Error when it is refused */
  async #succeeded<Body>(what: string, ask: () => Promise<Answer<Body>>): Promise<Answer<Body>> {
    for (;;) {
      const answer = await ask()
      const isGone = what.startsWith('DELETE') && answer.status === 404
      if (answer.status < 400 || isGone) return answer
      if (answer.status !== 503 && answer.status !== 409) {
        throw new Error(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`)
      }
      await sleep(100)
    }
  }
}

function reading(second: number): string {
  const timestamp = new Date(beganMs + second * 1_000).toISOString()
  return JSON.stringify({ timestamp, temperature: 20 + second / 100 })
}
