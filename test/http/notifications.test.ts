import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AnchorProofs } from '../../src/anchors/proofs/anchor-proofs.ts'
import { systemClock } from '../../src/core/clock.ts'
import { LifecycleEvents } from '../../src/outbox/lifecycle/lifecycle-events.ts'
import type { ErrorBody } from '../../src/requests/http/error-handler.ts'
import { anchoredKinds } from '../../src/twins/anchored/anchored-kinds.ts'
import { Verifier } from '../../src/twins/verification/verifier.ts'
import { tooHot } from '../support/alerting.ts'
import { storedAsset } from '../support/issued-assets.ts'
import { fundsGetLow } from '../support/low-funds.ts'
import { MailClient } from '../support/mail-client.ts'
import { MailServer, reply } from '../support/mail-server.ts'
import { createKey, newPerson, type Person, streamOf, vaultOf } from '../support/people.ts'
import { runningService } from '../support/running-service.ts'
import { publicAddress } from '../support/service-process.ts'
import { sharedForAWhile } from '../support/sharing.ts'
import { storedAttachment, storedSignature } from '../support/signed-attachments.ts'
import { StateBeside } from '../support/state-beside.ts'
import {
  attachmentAsItIs,
  attachmentOf,
  assetStreamOf as keptAssetStream,
} from '../support/uploads.ts'

const mailServer = await MailServer.start()
const service = runningService({
  STREAMVAULT_SMTP_URL: mailServer.url,
  STREAMVAULT_UPLOAD_WAIT: '2s',
  ...(await publicAddress()),
})
let ada: Person

beforeAll(async () => {
  ada = await newPerson(service.api)
})

afterAll(() => mailServer[Symbol.asyncDispose]())

interface Entry {
  readonly id: string
  readonly event_type: string
  readonly resource_id: string
  readonly read: boolean
  readonly [field: string]: unknown
}

interface Inbox {
  readonly total_records: number
  readonly content: readonly Entry[]
  readonly unread_count: number
}

interface Catalogue {
  readonly events: readonly {
    readonly event_type: string
    readonly format: string
    readonly emitted: boolean
    readonly produced: boolean
    readonly filters: readonly string[]
    readonly data_schema: object
  }[]
}

async function inboxOf(person: Person, query = ''): Promise<Inbox> {
  const { status, body } = await person.withKey<Inbox>('GET', `/notifications/in-app${query}`)
  expect(status).toBe(200)
  return body
}

async function catalogue(): Promise<Catalogue['events']> {
  return (await ada.withKey<Catalogue>('GET', '/events/catalogue')).body.events
}

/** What the service has written down of this user's events. */
function eventsOf(ownerId: string) {
  using state = new DatabaseSync(`${service.process.dataDir}/state.db`, { readOnly: true })
  const rows = state
    .prepare('SELECT type, data, resource_id FROM events WHERE owner_id = ?')
    .all(ownerId)
  return rows as unknown as readonly Record<'type' | 'data' | 'resource_id', string>[]
}

describe('GET /events/catalogue', () => {
  test('has 27 types that are emitted, 6 that never are, and those that are ours', async () => {
    const events = await catalogue()
    const formats = (format: string, emitted: boolean) =>
      events.filter((one) => one.format === format && one.emitted === emitted).length

    expect([formats('emitted', true), formats('emitted', false)]).toEqual([27, 6])
    expect([formats('forthcoming', true), formats('none', true)]).toEqual([7, 5])
    expect(events.find((one) => one.event_type === 'vault.permission.granted')).toMatchObject({
      category: 'permission_notifications',
      filters: ['vault_ids'],
      produced: true,
    })
    expect(events.find((one) => one.event_type === 'asset.deployed')?.filters).toEqual([])
  })

  test('describes every event that is produced, as it is', async () => {
    const person = await newPerson(service.api)
    await disabledWebhookOf(person)
    await disabledAddressOf(person)
    const vaultId = await vaultOf(person)
    const streamId = await streamOf(person, { alerting: [tooHot] })
    await dataEventsOf(person, { vaultId, streamId })
    const key = await createKey(service.api, { userId: person.userId })
    await person.withKey('DELETE', `/keys/${key.apiKey}`)
    await operatorKeyOf(person)
    await fundsGetLow(service.process)
    await person.withToken('DELETE', `/streams/${streamId}`)
    await assetStreamOf(person)
    await attachmentsOf(person)
    await outcomesOf(person)
    await verified(person)
    await sharedForAWhile(service.api, person, `/vaults/${vaultId}`)
    await sharedForAWhile(service.api, person, `/streams/${await keptAssetStream(person)}`)
    await person.withKey('DELETE', `/vaults/${vaultId}`)

    const ajv = new Ajv2020({ allowUnionTypes: true })
    addFormats.default(ajv)
    const entries = await catalogue()
    const produced = eventsOf(person.userId)
    for (const { type, data } of produced) {
      const entry = entries.find((one) => one.event_type === type)
      const validate = ajv.compile(entry?.data_schema ?? false)
      validate(JSON.parse(data))
      expect([type, validate.errors ?? []]).toEqual([type, []])
    }
    const promised = entries.filter((one) => one.produced).map((one) => one.event_type)
    expect(new Set(produced.map(({ type }) => type))).toEqual(new Set(promised))
  })

  test('tells the id of what an event is about, and no secret', async () => {
    const person = await newPerson(service.api)
    const streamId = await streamOf(person)

    const events = eventsOf(person.userId)
    const stream = events.find(({ type }) => type === 'stream.created')
    expect(JSON.parse(stream?.data ?? '{}')).toMatchObject({ id: streamId, streamId })
    for (const { data, resource_id: id } of events) {
      expect((JSON.parse(data) as { id: string }).id).toBe(id)
      expect(data).not.toContain(person.key.apiSecret)
    }
  })
})

describe('an asset stream', () => {
  test('is told of in the inbox by its code', async () => {
    const person = await newPerson(service.api)
    const id = await assetStreamOf(person)
    const { content } = await inboxOf(person)

    expect(content.slice(0, 2)).toMatchObject([
      { event_type: 'stream.deleted', resource_id: id, message: 'Stream deleted: GOLD' },
      { event_type: 'stream.created', resource_id: id, message: 'Stream created: GOLD' },
    ])
  })
})

describe('the inbox', () => {
  test('tells of a new vault, with its envelope and its pointer', async () => {
    const person = await newPerson(service.api)
    const vaultId = await vaultOf(person)

    const inbox = await inboxOf(person, '?page_size=1')

    expect(inbox).toEqual({
      // The key of this person was made before.
      total_records: 2,
      current_page: 1,
      total_pages: 2,
      unread_count: 2,
      content: [
        {
          id: expect.any(String) as string,
          created_at: expect.stringMatching(/\.\d{6}Z$/) as string,
          expires_at: expect.stringMatching(/\.\d{6}Z$/) as string,
          type: 'INFO',
          event_type: 'vault.created',
          title: 'Vault created',
          message: 'Vault created: boiler 7',
          severity: null,
          resource_type: 'vault',
          resource_id: vaultId,
          vault_id: vaultId,
          stream_id: null,
          read: false,
          archived: false,
        },
      ],
    })
    const [entry] = inbox.content
    const timeOf = (field: string) => Date.parse(String(entry?.[field]))
    const days = (timeOf('expires_at') - timeOf('created_at')) / 86_400_000
    expect(days).toBe(30)
  })

  test('is an empty list with 200 for who was told nothing', async () => {
    const person = await newPerson(service.api)
    await person.withKey('POST', '/notifications/in-app/archive', { ids: await ids(person) })

    expect(await inboxOf(person)).toEqual({
      total_records: 0,
      current_page: 1,
      total_pages: 0,
      content: [],
      unread_count: 0,
    })
  })

  test('has pages of 20, unless another size is asked for', async () => {
    const person = await newPerson(service.api)
    for (let count = 0; count < 21; count++) await vaultOf(person)

    expect((await inboxOf(person)).content).toHaveLength(20)
    const { content, unread_count: unread } = await inboxOf(person, '?page=2&unread_only=true')
    expect(content).toHaveLength(2)
    expect(unread).toBe(22)
  })

  test('marks one as read, and then all', async () => {
    const person = await newPerson(service.api)
    await vaultOf(person)
    const [id] = await ids(person)

    const { status, body } = await person.withKey<Entry>('PUT', `/notifications/in-app/${id}/read`)

    expect([status, body.read, body.id]).toEqual([200, true, id])
    expect((await inboxOf(person, '?unread_only=true')).content).toHaveLength(1)
    expect((await person.withKey('GET', '/notifications/in-app/unread-count')).body).toEqual({
      unread_count: 1,
    })
    const all = await person.withKey('PUT', '/notifications/in-app/mark-all-read')
    expect(all.body).toEqual({ unread_count: 0 })
    expect((await inboxOf(person)).content.map(({ read }) => read)).toEqual([true, true])
  })

  test('archives by ids, and all that are read', async () => {
    const person = await newPerson(service.api)
    for (let count = 0; count < 3; count++) await vaultOf(person)
    const [first = '', second = ''] = await ids(person)
    const foreign = (await ids(ada))[0] ?? ''
    const archive = (body: object) =>
      person.withKey<{ archived: number }>('POST', '/notifications/in-app/archive', body)

    expect((await archive({ ids: [first, foreign] })).body).toEqual({ archived: 1 })
    expect((await archive({ ids: [first] })).body).toEqual({ archived: 0 })
    await person.withKey('PUT', `/notifications/in-app/${second}/read`)
    expect((await archive({ all_read: true })).body).toEqual({ archived: 1 })

    const left = await inboxOf(person)
    expect([left.total_records, left.unread_count]).toEqual([2, 2])
    expect(await ids(ada)).toContain(foreign)
  })

  test('deletes one with 204, once', async () => {
    const person = await newPerson(service.api)
    const [id] = await ids(person)
    const path = `/notifications/in-app/${id}`

    expect((await person.withKey('DELETE', path)).status).toBe(204)
    expect((await person.withKey('DELETE', path)).status).toBe(404)
  })

  test.each([[{ ids: [], all_read: true }], [{ ids: ['no id'] }], [{ all_read: false }], [{}]])(
    'refuses to archive %j with 400',
    async (body) => {
      const answer = await ada.withKey<ErrorBody>('POST', '/notifications/in-app/archive', body)

      expect([answer.status, answer.body.error]).toEqual([400, 'invalid_request'])
    },
  )

  test('of others is as if it were not there', async () => {
    const [id] = await ids(ada)
    const stranger = await newPerson(service.api)

    const read = await stranger.withKey('PUT', `/notifications/in-app/${id}/read`)
    const removed = await stranger.withKey('DELETE', `/notifications/in-app/${id}`)
    expect([read.status, removed.status]).toEqual([404, 404])
  })
})

/** A key that may do everything, so that whoever has it is told of what is the matter with the service. */
async function operatorKeyOf({ userId }: Person): Promise<void> {
  await createKey(service.api, { userId, permission: 'custom', scopes: ['platform:admin'] })
}

/** An asset stream that comes and goes. */
async function assetStreamOf(person: Person): Promise<string> {
  const body = { asset_code: 'GOLD', description: null }
  const { id } = (await person.withKey<Entry>('POST', '/streams', body)).body
  await person.withKey('DELETE', `/streams/${id}`)
  return id
}

/** Readings that arrive, and somebody who looks at a vault, where a webhook asks for both. */
async function dataEventsOf(
  person: Person,
  { vaultId, streamId }: { readonly vaultId: string; readonly streamId: string },
): Promise<void> {
  const events = ['stream.data_received', 'vault.data_updated', 'vault.accessed']
  await person.withToken('POST', '/webhooks', {
    url: 'https://receiver.nowhere.example.com/hook',
    events,
  })
  for (const temperature of [tooHot.threshold + 1, tooHot.threshold - 1]) {
    await person.withToken('POST', `/streams/${streamId}/data`, { temperature })
  }
  expect((await ada.withKey('GET', `/vaults/${vaultId}`)).status).toBe(200)
  const told = () => eventsOf(person.userId).map(({ type }) => type)
  const awaited = [...events, 'stream.alert_triggered', 'stream.alert_cleared']
  while (!awaited.every((type) => told().includes(type))) await sleep(20)
}

/** Every outcome of an anchor, as it is written where there is no ledger. */
async function outcomesOf(person: Person): Promise<void> {
  await using beside = await StateBeside.open(service.process)
  const { state } = beside
  const facts = { txHash: 'ab', account: 'a', distributionWallet: 'd', mapping: 'm', tokenId: 't' }
  const failure = { error: 'refused', message: 'the ledger refused it' }
  const made = {
    vault: vaultOf,
    asset_stream: keptAssetStream,
    attachment: (of: Person) => storedAttachment(service.api, of),
    signature: (of: Person) => storedSignature(service.api, of),
    asset: (of: Person) => storedAsset(service.process, of),
  }
  const lifecycle = new LifecycleEvents({ state, writer: beside, clock: systemClock })
  for (const kind of anchoredKinds({ lifecycle, clock: systemClock })) {
    for (const status of ['COMPLETED', 'FAILED', 'ERROR'] as const) {
      const resourceId = await made[kind.type as keyof typeof made](person)
      const base = { resourceId, operation: 'creation', atUs: 1, facts, isQuiet: false }
      await beside.transact((transaction) =>
        kind.move(transaction, [{ ...base, statuses: [status], failure }]),
      )
    }
  }
}

/** A vault that is compared with a ledger that does not answer. */
async function verified(person: Person): Promise<void> {
  await person.withKey('POST', `/vaults/${await vaultOf(person)}/verify`)
  await using beside = await StateBeside.open(service.process)
  const { state } = beside
  const verifier = new Verifier({
    state,
    writer: beside,
    clock: systemClock,
    files: {
      read() {
        throw new Error('there are no files')
      },
    },
    proofs: new AnchorProofs(state),
    ledgerOf: async () => undefined,
    trustedKeys: async () => new Set(),
  })
  while (await verifier.runDue()) continue
}

/** An attachment that is deleted, and one whose file does not come. */
async function attachmentsOf(person: Person): Promise<void> {
  const { id } = await attachmentOf(person)
  await person.withKey('DELETE', `/attachments/${id}`)
  const overdue = await attachmentOf(person)
  const statusOf = async () => (await attachmentAsItIs(person, overdue.id)).status
  await expect.poll(statusOf).toBe('FAILED')
}

/** A webhook that nobody answers, until it is disabled (decisions.md#failures-in-a-row). */
async function disabledWebhookOf(person: Person): Promise<void> {
  await person.withToken('POST', '/webhooks', {
    url: 'https://receiver.nowhere.example.com/hook',
    events: ['vault.created'],
    retryCount: 0,
  })
  for (let count = 0; count < 10; count++) await vaultOf(person)
  while (!eventsOf(person.userId).some(({ type }) => type === 'security.webhook_disabled')) {
    await sleep(20)
  }
}

/** An address that the mail server refuses, until it is disabled (decisions.md#mail). */
async function disabledAddressOf(person: Person): Promise<void> {
  await new MailClient(person, mailServer).confirmed()
  mailServer.behaviour = { onRecipient: () => reply(550, 'no such mailbox') }
  for (let count = 0; count < 5; count++) await vaultOf(person)
  while (!eventsOf(person.userId).some(({ type }) => type === 'security.email_disabled')) {
    await sleep(20)
  }
}

async function ids(person: Person): Promise<readonly string[]> {
  return (await inboxOf(person)).content.map(({ id }) => id)
}
