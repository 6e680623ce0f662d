import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { connectAsync } from 'mqtt'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { tooHot } from '../support/alerting.ts'
import {
  type AnchoredPath,
  assetOf,
  atStatus,
  completedStream,
  independentPaths,
  makers,
  pathOf,
} from '../support/anchored.ts'
import { ApiClient } from '../support/api-client.ts'
import { FaultyService } from '../support/faulty-service.ts'
import { newPerson, type Person, streamOf } from '../support/people.ts'
import { Receiver } from '../support/receiver.ts'
import { sharedForAWhile } from '../support/sharing.ts'
import { XrplService } from '../support/xrpl-service.ts'

/** A type of the catalogue, as far as this test asks for it. */
interface Entry {
  readonly event_type: string
  readonly format: 'emitted' | 'forthcoming' | 'none'
  readonly produced: boolean
  readonly data_schema: object
}

interface Sent {
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  /** The members of the body, by name. */
  readonly members: readonly string[]
}

const kinds = Object.keys(makers) as AnchoredPath[]

let receiver: Receiver
/** Its ledger is the sandbox, on a disk that can be made to fail. */
let service: FaultyService
/** Its ledger is a node that can be made to refuse. */
let refused: XrplService

beforeAll(async () => {
  receiver = await Receiver.start()
  const settings = { STREAMVAULT_ANCHORING: 'on', STREAMVAULT_EGRESS_ALLOW: receiver.destination }
  service = await FaultyService.start({ ...settings, STREAMVAULT_ANCHOR_PATIENCE: '2s' })
  refused = await XrplService.start(21_341, settings)
  refused.fund()
})

afterAll(async () => {
  await service?.[Symbol.asyncDispose]()
  await refused?.[Symbol.asyncDispose]()
  await receiver?.[Symbol.asyncDispose]()
})

/** What every webhook was sent so far. */
function sent(): readonly Sent[] {
  return receiver.received.map(({ body }) => {
    const said = JSON.parse(body.toString()) as Readonly<Record<string, unknown>>
    return {
      type: String(said['event_type'] ?? said['eventType']),
      data: said['data'] as Sent['data'],
      members: Object.keys(said),
    }
  })
}

const untilSent = async (...types: readonly string[]) =>
  await expect
    .poll(() => sent().map(({ type }) => type))
    .toEqual(expect.arrayContaining([...types]))

/** A webhook for every type that the specification emits. */
async function emittedTo({ withKey }: Pick<ApiClient, 'withKey'>): Promise<void> {
  const wanted = { url: receiver.url, event_types: await typesOf('emitted') }
  expect((await withKey('POST', '/notifications/webhooks', wanted)).status).toBe(201)
}

/** One for every type of the other interface. */
async function forthcomingTo({ withToken }: Pick<ApiClient, 'withToken'>): Promise<void> {
  const wanted = { url: receiver.url, events: await typesOf('forthcoming') }
  expect((await withToken('POST', '/webhooks', wanted)).status).toBe(201)
}

const typesOf = async (format: Entry['format']) =>
  (await catalogue()).filter((one) => one.format === format).map((one) => one.event_type)

async function catalogue(): Promise<readonly Entry[]> {
  const { body } = await service.api.withKey<{ events: readonly Entry[] }>(
    'GET',
    '/events/catalogue',
  )
  return body.events
}

test('all 34 types of webhooks are produced, and each body is as the catalogue says', async () => {
  const person = await newPerson(service.api)
  const owner = { ...person, base: service.api.base }
  await emittedTo(person)
  await forthcomingTo(person)
  await readingsOf(person)
  const made = await everythingCompleted(owner)
  await sharedForAWhile(service.api, person, made.vaults)
  await sharedForAWhile(service.api, person, made.streams)
  expect((await person.withKey('POST', `${made.vaults}/verify`)).status).toBe(202)
  await untilSent('vault.verification_complete')
  await everythingInError(owner)
  await everythingRefused()
  for (const path of [made.vaults, made.streams, made.attachments]) {
    expect((await person.withKey('DELETE', path)).status).toBe(204)
  }

  const entries = (await catalogue()).filter(({ format }) => format !== 'none')
  const produced = entries.filter((one) => one.produced).map((one) => one.event_type)
  expect(produced).toHaveLength(34)
  await untilSent(...produced)
  // In the other direction: nothing is sent that the catalogue does not promise.
  expect(new Set(sent().map(({ type }) => type))).toEqual(new Set(produced))
  const schemas = new Map(entries.map((entry) => [entry.event_type, validatorOf(entry)]))
  for (const { type, data, members } of sent()) {
    const { format, validate } = schemas.get(type) ?? {}
    validate?.(data)
    expect([type, validate?.errors, members]).toEqual([type, null, membersOf[format ?? 'emitted']])
  }
})

const membersOf = {
  emitted: ['event_type', 'timestamp', 'data'],
  forthcoming: ['eventType', 'eventId', 'timestamp', 'data'],
} as const

function validatorOf({ format, data_schema: schema }: Entry): {
  readonly format: 'emitted' | 'forthcoming'
  readonly validate: ValidateFunction
} {
  if (format === 'none') throw new Error('no webhook is sent this')
  const ajv = new Ajv2020({ allowUnionTypes: true })
  addFormats.default(ajv)
  return { format, validate: ajv.compile(schema) }
}

/** A reading over MQTT raises an alert, the next one clears it, and another user looks at the vault. */
async function readingsOf(person: Person): Promise<void> {
  const streamId = await streamOf(person, { alerting: [tooHot] })
  const { apiKey: username, apiSecret: password } = person.key
  const device = await connectAsync(`mqtt://127.0.0.1:${service.mqttPort}`, { username, password })
  for (const temperature of [tooHot.threshold + 1, tooHot.threshold - 1]) {
    const topic = `streams/${streamId}/data`
    await device.publishAsync(topic, JSON.stringify({ temperature }), { qos: 1 })
  }
  await device.endAsync()
  const stream = await person.withToken<{ vaultId: string }>('GET', `/streams/${streamId}`)
  await service.api.withKey('GET', `/vaults/${stream.body.vaultId}`)
  await untilSent(
    'stream.data_received',
    'vault.data_updated',
    'vault.accessed',
    'stream.alert_triggered',
    'stream.alert_cleared',
  )
}

/** Everything that is anchored, once it is; its paths. */
async function everythingCompleted(
  owner: Pick<ApiClient, 'withKey' | 'base'>,
): Promise<Readonly<Record<AnchoredPath, string>>> {
  const made = await Promise.all(
    kinds.map(async (kind) => {
      const path = pathOf(kind, await makers[kind](owner))
      await atStatus(owner, path, 'COMPLETED')
      return [kind, path] as const
    }),
  )
  return Object.fromEntries(made) as Record<AnchoredPath, string>
}

/** Everything that is anchored, while the ledger is away for longer than the service waits. */
async function everythingInError(owner: Pick<ApiClient, 'withKey' | 'base'>): Promise<void> {
  const stream = await completedStream(owner)
  service.faults.begin('eio', 'ledger/chain')
  const paths = [await assetOf(owner, stream)]
  for (const kind of independentPaths) paths.push(pathOf(kind, await makers[kind](owner)))
  await Promise.all(paths.map((path) => atStatus(owner, path, 'ERROR')))
  service.faults.end()
}

/** Everything but an asset, where the ledger refuses each transaction. */
async function everythingRefused(): Promise<void> {
  const { owner, node } = refused
  await emittedTo(owner)
  node.answersEach = 'temREDUNDANT'
  for (const kind of independentPaths) {
    await atStatus(owner, pathOf(kind, await makers[kind](owner)), 'FAILED')
  }
}
