import { setTimeout as sleep } from 'node:timers/promises'
import { connectAsync } from 'mqtt'
import { atStatus } from './anchored.ts'
import type { Answer, ApiClient } from './api-client.ts'
import { ConsoleBrowser } from './console-browser.ts'
import { exported, type JobBody, jobIn } from './exports.ts'
import { completeStream } from './issued-assets.ts'
import type { Interface } from './openapi-operations.ts'
import { createKey, createUser, newUsername, type Person } from './people.ts'
import type { RunningService } from './running-service.ts'
import { attachmentOf, type ShownAttachment, upload } from './uploads.ts'

const imageUrl = 'image_upload_url'

/** The smallest GIF, and an archive of one empty file called `a`. */
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const bundle = Buffer.from(
  'UEsDBAoAAAAAAAAAIQAAAAAAAAAAAAAAAAABAAAAYVBLAQIKAAoAAAAAAAAAIQAAAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAABhUEsFBgAAAAABAAEALwAAAB8AAAAAAA==',
  'base64',
)

/** Makes resources of one person, for others to ask for. */
export class ForeignResources {
  readonly #api: ApiClient
  readonly #owner: Person
  readonly #process: RunningService['process']

  constructor({ api, process }: RunningService, owner: Person) {
    this.#api = api
    this.#process = process
    this.#owner = owner
  }

  /**
   * A path with its ids filled in: each of a new private resource of the owner, as an interface means it.
   *
   * @throws Error for an id that it does not know how to make
   */
  async pathOf(template: string, one: Interface = 'bearer'): Promise<string> {
    const isOfAsset = /^\/streams\/\{streamId\}\/(metadata|proof|retry|permissions|assets)/.test(
      template,
    )
    let path = template
    if (isOfAsset || (template === '/streams/{streamId}' && one === 'header-key')) {
      path = template.replace('{streamId}', await this.#assetStream())
      // An asset is issued of what is on a ledger.
      if (path.includes('/assets')) await completeStream(this.#process, this.#newestAssetStream)
    }
    for (const [place, name = ''] of path.matchAll(/\{(\w+)\}/g)) {
      const make = this.#makers[name]
      if (make === undefined) throw new Error(`nobody knows how to make the ${name} of ${template}`)
      path = path.replace(place, encodeURIComponent(await make(template)))
    }
    return path
  }

  readonly #makers: Readonly<Record<string, (template: string) => Promise<string>>> = {
    userId: async () => this.#owner.userId,
    consoleSessionId: () => this.#consoleSession(),
    keyId: async () => (await createKey(this.#api, { userId: this.#owner.userId })).apiKey,
    templateId: async (template) => {
      const id = await this.#template()
      if (template.endsWith('/bundle')) await this.#fill(`/templates/${id}`, 'upload_url', bundle)
      if (template.endsWith('/image')) await this.#fill(`/templates/${id}`, imageUrl, gif)
      return id
    },
    vaultId: async (template) => {
      const id = await this.#vault()
      if (template.endsWith('/image')) await this.#fill(`/vaults/${id}`, imageUrl, gif)
      return id
    },
    stream_id: () => this.#assetStream(),
    cid: async () => {
      const path = `/vaults/${await this.#vault()}`
      return (await this.#owner.withKey<{ readonly cid: string }>('GET', path)).body.cid
    },
    streamCode: () => this.#assetStream(),
    attachmentId: async () => {
      this.#newestAttachment = (await this.#attachment()).id
      return this.#newestAttachment
    },
    signatureId: async () => {
      const path = `/attachments/${this.#newestAttachment}/signatures`
      const id = await made(this.#owner.withKey<Made>('POST', path, {}))
      await atStatus(this.#owner, `${path}/${id}`, 'METADATA_STORED')
      return id
    },
    assetId: async () => {
      const path = `/streams/${this.#newestAssetStream}/assets`
      return await made(this.#owner.withKey<Made>('POST', path, { supply: '21', precision: 0 }))
    },
    uploadId: async () => {
      const { presigned_url: url } = await attachmentOf(this.#owner)
      return new URL(url).pathname.split('/').at(-1) ?? ''
    },
    index: async () => '0',
    permissionId: (template) => this.#permission(template),
    streamId: (template) => {
      if (template.endsWith('/deletion')) return this.#deletedStream()
      if (template.endsWith('/rotate-secret')) return this.#webhookStream()
      if (template.endsWith('/receipts')) return this.#streamWithReading()
      return template.endsWith('/source/run') ? this.#fetchingStream() : this.#dataStream()
    },
    deviceId: async () => {
      const body = { name: 'a device', streamIds: [await this.#dataStream()] }
      return await made(this.#owner.withKey<Made>('POST', '/devices', body))
    },
    fleetId: async (template) => {
      this.#newestFleet = await this.#fleet()
      if (template.includes('{device}')) await this.#registerBoiler()
      return this.#newestFleet
    },
    device: async () => 'boiler',
    provisioningKeyId: async () => {
      const definition = { type: 'iot_sensor', schema: { temperature: { type: 'number' } } }
      const body = { name: 'line 2', definition, devicesMax: 1 }
      const path = `/vaults/${this.#newestVault}/provisioning-keys`
      return await made(this.#owner.withKey<Made>('POST', path, body))
    },
    hookId: () => this.#hook(),
    clientId: () => this.#mqttSession(),
    alertId: () => this.#alert(),
    alertRuleId: () => this.#alertRule(),
    entryId: () => this.#quarantineEntry(),
    notificationId: () => this.#notification(),
    exportId: () => this.#export(),
    importId: () => this.#import(),
    configId: (template) =>
      template.includes('/email-configs/') ? this.#emailRecipient() : this.#webhook(),
    webhookId: () => this.#webhook(),
    deliveryId: () => this.#delivery(),
    name: () => this.#exportedFile(),
    favoriteId: () => this.#part('favorites', { type: 'TOKEN', ref: `token ${++this.#made}` }),
    partId: (template) =>
      template.includes('/entities/')
        ? this.#part('entities', { name: 'Engines', description: '', type: 'LEGAL_ENTITY' })
        : this.#part('credentials', { type: 'EMAIL', key: `ada${++this.#made}@vault.example` }),
  }

  #made = 0
  #newestStream = ''
  #newestExport = ''
  #newestWebhook = ''
  #newestVault = ''
  #newestFleet = ''
  #newestAttachment = ''
  #newestAssetStream = ''

  async #consoleSession(): Promise<string> {
    const answer = await new ConsoleBrowser(this.#api.base).signIn(this.#owner.key)
    return answer.body.id
  }

  #part(kind: string, body: object): Promise<string> {
    const path = `/users/${this.#owner.userId}/${kind}`
    return made(this.#owner.withKey<Made>('POST', path, body))
  }

  #template(): Promise<string> {
    const body = { name: 'boiler', hint: 'a boiler', required_streams: [] }
    return made(this.#owner.withKey<Made>('POST', '/templates', body))
  }

  async #vault(): Promise<string> {
    const body = { template_id: await this.#template(), name: 'boiler 7', public: false }
    this.#newestVault = await made(this.#owner.withKey<Made>('POST', '/vaults', body))
    return this.#newestVault
  }

  async #fleet(): Promise<string> {
    const source = { deviceField: 'device' }
    const definition = { type: 'iot_sensor', source, schema: { temperature: { type: 'number' } } }
    const body = { name: `fleet ${++this.#made}`, vaultId: await this.#vault(), definition }
    const { fleetId } = (
      await this.#owner.withToken<{ readonly fleetId: string }>('POST', '/fleets', body)
    ).body
    return fleetId
  }

  /** A device of the newest fleet, with its stream. */
  async #registerBoiler(): Promise<void> {
    const path = `/vaults/${this.#newestVault}/provisioning-keys`
    const body = { name: 'line 2', fleetId: this.#newestFleet, devicesMax: 1 }
    const key = await this.#owner.withKey<Record<'apiKey' | 'apiSecret', string>>(
      'POST',
      path,
      body,
    )
    const { apiKey, apiSecret } = key.body
    const headers = { 'x-api-key': apiKey, 'x-api-secret': apiSecret }
    const serial = { serial: 'boiler' }
    await this.#api.request('POST', '/devices/register', { headers, body: serial })
  }

  async #assetStream(): Promise<string> {
    const body = { asset_code: `CODE${++this.#made}`, description: null }
    this.#newestAssetStream = await made(this.#owner.withKey<Made>('POST', '/streams', body))
    return this.#newestAssetStream
  }

  /** One for somebody new, of the vault or asset stream that the path has named before it. */
  async #permission(template: string): Promise<string> {
    const isOfVault = template.startsWith('/vaults/')
    const of = isOfVault ? `/vaults/${this.#newestVault}` : `/streams/${this.#newestAssetStream}`
    const username = newUsername()
    await createUser(this.#api, username)
    const body = { username, role: 'READ' }
    return await made(this.#owner.withKey<Made>('POST', `${of}/permissions`, body))
  }

  /** One with its file. */
  async #attachment(): Promise<ShownAttachment> {
    const attachment = await attachmentOf(this.#owner)
    await upload(this.#api, attachment.presigned_url, 'hello')
    return attachment
  }

  /** Uploads what a resource waits for. */
  async #fill(path: string, field: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
    const { body } = await this.#owner.withKey<Readonly<Record<string, string>>>('GET', path)
    const { status } = await upload(this.#api, body[field] ?? '', bytes)
    if (status !== 200) throw new Error(`an upload for ${path} was answered ${status}`)
  }

  async #deletedStream(): Promise<string> {
    const id = await this.#dataStream()
    const { status } = await this.#owner.withToken('DELETE', `/streams/${id}`)
    if (status !== 204) throw new Error(`the stream was not deleted: ${status}`)
    return id
  }

  /** The reading has the time that the description shows as an example. */
  async #streamWithReading(): Promise<string> {
    const id = await this.#dataStream()
    const reading = { timestamp: '2026-01-31T00:00:00Z', temperature: 20 }
    await this.#owner.withToken('POST', `/streams/${id}/data`, reading)
    return id
  }

  /** It tries to: there is nothing at the other end. */
  async #fetchingStream(): Promise<string> {
    const source = { endpoint: 'mqtt://broker.nowhere.example.com', topic: 'plants/7' }
    const id = await this.#dataStream({ source })
    const status = async () =>
      (await this.#owner.withToken<{ source?: object }>('GET', `/streams/${id}/status`)).body
    while ((await status()).source === undefined) await sleep(10)
    return id
  }

  #webhookStream(): Promise<string> {
    const signature = { scheme: 'github' }
    const source = { protocol: 'webhook', signature, credentials: { secret: 'long enough' } }
    return this.#dataStream({ type: 'event_stream', source })
  }

  /** The address that senders of a stream have. */
  async #hook(): Promise<string> {
    const path = `/streams/${await this.#webhookStream()}`
    const { body } = await this.#owner.withToken<{ webhookUrl: string }>('GET', path)
    return new URL(body.webhookUrl).pathname.split('/').at(-1) ?? ''
  }

  async #dataStream(rest: object = {}): Promise<string> {
    const schema = { temperature: { type: 'number' } }
    const body = { name: 'heat', vaultId: await this.#vault(), type: 'iot_sensor', schema, ...rest }
    this.#newestStream = await made(this.#owner.withToken<Made>('POST', '/streams', body))
    return this.#newestStream
  }

  /** One that fires. */
  async #alert(): Promise<string> {
    const rule = { field: 'temperature', operator: '>', threshold: 80 }
    const schema = { temperature: { type: 'number' } }
    const about = { name: 'heat', vaultId: await this.#vault(), type: 'iot_sensor', schema }
    const body = { ...about, processing: { alerting: [rule] } }
    const streamId = await made(this.#owner.withToken<Made>('POST', '/streams', body))
    await this.#owner.withToken('POST', `/streams/${streamId}/data`, { temperature: 81 })
    const path = `/streams/${streamId}/alerts`
    const alerts = await this.#owner.withToken<readonly { alertId: string }[]>('GET', path)
    return alerts.body[0]?.alertId ?? ''
  }

  async #alertRule(): Promise<string> {
    const body = { name: 'hot', tags: { kind: 'boiler' }, rule: { silentFor: '1d' } }
    return await made(this.#owner.withToken<Made>('POST', '/alert-rules', body))
  }

  async #export(): Promise<string> {
    const body = { streamIds: [await this.#dataStream()], format: 'csv' }
    this.#newestExport = (await exported(this.#owner, body)).exportId
    return this.#newestExport
  }

  async #import(): Promise<string> {
    const path = `/streams/${await this.#dataStream()}/import`
    const head = 'timestamp,temperature\n'
    const headers = { 'content-type': 'text/csv' }
    const { body } = await this.#owner.withToken<JobBody>('POST', path, head, headers)
    return body.importId
  }

  /** A file of the export that the path has named before it. */
  async #exportedFile(): Promise<string> {
    const { files } = await jobIn(this.#owner, `/exports/${this.#newestExport}`)
    return files[0]?.name ?? ''
  }

  /** One that is kept: its client has gone. */
  async #mqttSession(): Promise<string> {
    const { apiKey: username, apiSecret: password } = this.#owner.key
    const options = {
      port: this.#process.mqttPort,
      clientId: `boiler-${++this.#made}`,
      clean: false,
    }
    const client = await connectAsync({ ...options, username, password })
    await client.endAsync()
    return options.clientId
  }

  /** One that nobody answers: its name does not resolve. */
  async #webhook(): Promise<string> {
    const body = {
      url: 'https://receiver.nowhere.example.com/hook',
      event_types: ['vault.deleted'],
    }
    const path = '/notifications/webhooks'
    this.#newestWebhook = await made(this.#owner.withKey<Made>('POST', path, body))
    return this.#newestWebhook
  }

  /** Answers with one recipient as long as it is there: a user may have few. */
  async #emailRecipient(): Promise<string> {
    const path = '/notifications/email-configs'
    const { body } = await this.#owner.withKey<{ content: readonly Made[] }>('GET', path)
    const [known] = body.content
    if (known?.id !== undefined) return known.id
    return await made(this.#owner.withKey<Made>('POST', path, { email: 'ada@vault.example' }))
  }

  /** One that has ended, of the webhook that the path has named before it. */
  async #delivery(): Promise<string> {
    const path = `/notifications/webhooks/${this.#newestWebhook}`
    const { body } = await this.#owner.withKey<{ delivery_id: string }>('POST', `${path}/test`, {})
    for (;;) {
      const { body: list } = await this.#owner.withKey<Attempts>('GET', `${path}/deliveries`)
      if (list.total_records > 0) return body.delivery_id
      await sleep(20)
    }
  }

  /** What the owner is told of a new vault. */
  async #notification(): Promise<string> {
    await this.#vault()
    const { body } = await this.#owner.withKey<Told>('GET', '/notifications/in-app?page_size=1')
    return String(body.content[0]?.id)
  }

  /** In the stream that the path has named before it. */
  async #quarantineEntry(): Promise<string> {
    const path = `/streams/${this.#newestStream}`
    await this.#owner.withToken('POST', `${path}/data`, { temperature: 'hot' })
    const { body } = await this.#owner.withToken<Held>('GET', `${path}/quarantine`)
    return String(body.entries[0]?.id)
  }
}

interface Attempts {
  readonly total_records: number
}

interface Told {
  readonly content: readonly { readonly id: string }[]
}

interface Held {
  readonly entries: readonly { readonly id: number }[]
}

interface Made {
  readonly id?: string
  readonly streamId?: string
  readonly alertRuleId?: string
}

async function made(asked: Promise<Answer<Made>>): Promise<string> {
  const { status, body } = await asked
  const id = body.id ?? body.streamId ?? body.alertRuleId
  if (status !== 201 || id === undefined) throw new Error(`${status} ${JSON.stringify(body)}`)
  return id
}
