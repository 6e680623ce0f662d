import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { type Compilable, sql } from 'kysely'
import type { Static } from 'typebox'
import { isObject } from '../../contracts/definitions/field-map.ts'
import { check, Problems } from '../../contracts/definitions/problems.ts'
import type { Clock } from '../../core/clock.ts'
import { changedMeanwhile, conflict, noRoom } from '../../core/conflict.ts'
import { deviceNameProblem } from '../../core/device-names.ts'
import { DomainError, type ErrorDetail, invalidParameter } from '../../core/errors.ts'
import { idempotencyKeyOf } from '../../core/idempotency-key.ts'
import type { FleetId, StreamId } from '../../core/ids.ts'
import { LruMap } from '../../core/lru-map.ts'
import { TokenBucket } from '../../core/token-bucket.ts'
import type { LifecycleEvents } from '../../outbox/lifecycle/lifecycle-events.ts'
import { keyHeaders } from '../../requests/http/schema.ts'
import type { CallerOf } from '../../requests/http/server.ts'
import type { Effect, Posts } from '../../requests/idempotency/posts.ts'
import { type Exchange, operationsOf, secretPostOf } from '../../requests/operations/operation.ts'
import type { StateDatabase } from '../../storage/state/database.ts'
import { countChange, isBelow } from '../../storage/state/totals.ts'
import { withConversions } from '../data-streams/conversions.ts'
import type { DataStreamStore } from '../data-streams/data-stream-store.ts'
import { parseDefinition } from '../data-streams/definition.ts'
import { noticeOf } from '../data-streams/stream-body.ts'
import type { FleetStore } from '../fleets/fleet-store.ts'
import type { NewStreams } from '../fleets/new-streams.ts'
import type { Units } from '../units/units.ts'
import type { Device } from './device.ts'
import { bodyWithSecret } from './device-api.ts'
import { plainText } from './device-request.ts'
import { type DeviceStore, type DeviceWithSecret, devicesOfUserMax } from './device-store.ts'
import { registeredSchema, registrationSchema } from './provisioning-api.ts'
import type { ProvisioningKey } from './provisioning-key.ts'
import type { ProvisioningStore } from './provisioning-store.ts'
import type { RegisteredDevices } from './registered-devices.ts'

/** Provisioning keys whose rates are remembered; what is forgotten begins anew. */
const ratedMax = 10_000

/** Characters that an Idempotency-Key has to have besides the serial, where it contains that. */
const unguessableLength = 16

export interface RegistrationRoutesNeeds {
  readonly state: StateDatabase
  readonly devices: DeviceStore
  readonly registered: RegisteredDevices
  readonly provisioning: ProvisioningStore
  readonly streams: DataStreamStore
  readonly fleets: Pick<FleetStore, 'load'>
  readonly newStreams: Pick<NewStreams, 'hasPlace' | 'known' | 'places' | 'plan'>
  readonly units: Units
  readonly lifecycle: Pick<LifecycleEvents, 'record'>
  readonly clock: Clock
  readonly publicUrl: string
  readonly posts: Posts
  readonly callerOf: CallerOf
}

/** New devices register themselves: each gets a stream, and credentials of its own. */
export function registrationRoutes(needs: RegistrationRoutesNeeds): FastifyPluginAsync {
  const rates = new LruMap<string, TokenBucket>(ratedMax)
  return async (app) => {
    const add = operationsOf(app, { ...needs, tags: ['Devices'] })

    add('POST /devices/register', {
      operationId: 'registerDevice',
      summary: 'Register a new device, with a provisioning key: it gets a stream and credentials.',
      description: [
        'A serial registers once: again is 409, unless its owner has set `mayRegisterAgain`, which gives the',
        'device new credentials and ends the old ones.',
      ].join(' '),
      scope: 'any',
      callers: ['registration'],
      headers: keyHeaders,
      body: registrationSchema,
      answers: { 201: registeredSchema },
      errors: ['conflict', 'not_found', 'unsupported_definition'],
      handler: (exchange) => register(needs, rates, exchange),
    })
  }
}

async function register(
  needs: RegistrationRoutesNeeds,
  rates: LruMap<string, TokenBucket>,
  exchange: Exchange,
): Promise<FastifyReply> {
  const { registered, provisioning, posts } = needs
  const { caller, body, request } = exchange
  const { serial, name } = parseRequest(body)
  assertUnguessable(idempotencyKeyOf(request.raw), serial)
  return await posts.answer(secretPostOf(exchange), async () => {
    const key = await provisioning.find(caller.apiKeyId)
    if (!key) throw ended()
    assertRate(rates, key)
    const known = await registered.find(key.vaultId, serial)
    return known ? again(needs, key, known) : await newcomer(needs, key, { serial, name })
  })
}

/**
 * Every device of a line has the same provisioning key, and serials are printed on boxes: whoever has
 * both would be answered the secrets of a device again.
 *
 * @throws DomainError `invalid_request`
 */
function assertUnguessable(idempotencyKey: string | undefined, serial: string): void {
  if (idempotencyKey?.includes(serial) !== true) return
  if (idempotencyKey.replaceAll(serial, '').length >= unguessableLength) return
  const message = 'the Idempotency-Key must not be made of the serial: take a random number'
  throw new DomainError('invalid_request', message)
}

/** @throws DomainError `rate_limited`: a stolen key cannot fill a vault in no time */
function assertRate(
  rates: LruMap<string, TokenBucket>,
  { id, registrationsPerMinute: burst }: ProvisioningKey,
): void {
  const bucket = rates.get(id) ?? new TokenBucket({ perSecond: burst / 60, burst })
  rates.set(id, bucket)
  const waitMs = bucket.waitMs(1)
  if (waitMs > 0) {
    const message = `${burst} devices a minute may register with this key`
    throw new DomainError('rate_limited', message, { retryAfter: Math.ceil(waitMs / 1_000) })
  }
  bucket.spend(1)
}

/** @throws DomainError `conflict` for a device whose owner has not allowed it */
function again(needs: RegistrationRoutesNeeds, { id }: ProvisioningKey, known: Device): Effect {
  if (!known.mayRegisterAgain || known.revokedAtUs !== undefined) throw alreadyThere()
  const { registered, provisioning, clock } = needs
  const { device, secret, ...plan } = registered.planAgain(known, provisioning.isGood(id))
  const body = answerBody({ device, secret }, clock.nowUs())
  const refusal = async () => ((await isOver(provisioning, id)) ? ended() : alreadyThere())
  return { ...plan, statusCode: 201, body, refusal }
}

/** Whether a key was revoked meanwhile, or is gone with its vault. */
async function isOver(provisioning: ProvisioningStore, id: string): Promise<boolean> {
  const now = await provisioning.find(id)
  return now === undefined || now.revokedAtUs !== undefined
}

/** The stream that a new device gets, or has. */
interface StreamOfNewcomer {
  readonly id: StreamId
  readonly changes: readonly Compilable[]
  /** Why the changes were not made, where it is because of the stream. */
  readonly refusal?: () => Promise<DomainError | undefined>
}

async function newcomer(
  needs: RegistrationRoutesNeeds,
  key: ProvisioningKey,
  { serial, name }: NewDevice,
): Promise<Effect> {
  const { state, devices, registered, provisioning } = needs
  const { id, ownerId, vaultId, fleetId, rateLimit, foreignTopics } = key
  const given = { serial, name }
  const stream =
    fleetId === undefined
      ? await streamByDefinition(needs, key, given)
      : await streamOfFleet(needs, { ...key, fleetId }, given)
  const settings = { ...nothing, name, streamIds: [stream.id], rateLimit, foreignTopics }
  const { device, secret, insertions } = devices.planOne(ownerId, settings, id)
  return {
    statusCode: 201,
    body: answerBody(
      { device: { ...device, registered: { vaultId, serial } }, secret },
      needs.clock.nowUs(),
    ),
    changes: [
      provisioning.taking(id),
      ...stream.changes,
      ...insertions(sql<boolean>`${isBelow('devices', ownerId, devicesOfUserMax)}`, {
        vault_id: vaultId,
        serial,
      }),
      countChange(state, 'devices', ownerId, 1),
    ],
    async refusal() {
      if (await registered.find(vaultId, serial)) return alreadyThere()
      const now = await provisioning.find(id)
      if (!now || now.revokedAtUs !== undefined) return ended()
      if (now.devicesRegistered >= now.devicesMax) {
        return conflict(
          `${now.devicesMax} devices have registered, and no more may`,
          'The owner of the vault makes another provisioning key with a greater devicesMax: POST /vaults/{vaultId}/provisioning-keys.',
        )
      }
      const ofStream = await stream.refusal?.()
      if (ofStream) return ofStream
      if (await devices.hasRoom(ownerId, 1)) return ended()
      return noRoom(`a user can have ${devicesOfUserMax} devices`, 'DELETE /devices/{deviceId}')
    },
  }
}

async function streamByDefinition(
  { streams, units, lifecycle, publicUrl }: RegistrationRoutesNeeds,
  { id: apiKeyId, ownerId, vaultId, definition }: ProvisioningKey,
  { name }: NewDevice,
): Promise<StreamOfNewcomer> {
  const wanted = parseDefinition({ ...definition, name, vaultId })
  const planned = streams.plan(ownerId, await withConversions(units, wanted), apiKeyId)
  const { stream, changes } = planned
  const event = {
    event: 'stream.created',
    ownerId,
    resourceId: stream.id,
    name,
    notice: noticeOf(stream, 'created', publicUrl),
    actor: { userId: ownerId, apiKeyId },
  } as const
  return { id: stream.id, changes: [...changes, ...lifecycle.record(event)] }
}

/**
 * The stream of a device of a fleet, whose name there is its serial: the one that its first message has made, or a new
 * one, made as that message would have made it.
 *
 * @throws DomainError `conflict`, `invalid_request`
 */
async function streamOfFleet(
  { fleets, newStreams, state }: RegistrationRoutesNeeds,
  { id, fleetId }: ProvisioningKey & { readonly fleetId: FleetId },
  { serial, name }: NewDevice,
): Promise<StreamOfNewcomer> {
  const problem = deviceNameProblem(serial)
  if (problem !== undefined) throw invalidParameter('serial', problem)
  const fleet = await fleets.load(fleetId)
  if (!fleet) throw fleetEnded()
  const route = (await newStreams.known(fleetId, [serial])).get(serial)
  if (route?.problem !== undefined) throw denied(serial)
  if (route !== undefined) {
    const { streamId } = route
    const isItsOwn = state
      .updateTable('fleet_devices')
      .set({ stream_id: streamId })
      .where('fleet_id', '=', fleetId)
      .where('name', '=', serial)
      .where('stream_id', '=', streamId)
      .where('denied_at', 'is', null)
    return { id: streamId, changes: [isItsOwn], refusal: async () => meanwhile() }
  }
  const { streamId, changes } = newStreams.plan(fleet, serial, { name, madeBy: id })
  return {
    id: streamId,
    changes: [...newStreams.places(fleet, 1), ...changes],
    async refusal() {
      const now = await fleets.load(fleetId)
      if (!now) return fleetEnded()
      const other = (await newStreams.known(fleetId, [serial])).get(serial)
      if (other?.problem !== undefined) return denied(serial)
      if (other !== undefined || now.version !== fleet.version) return meanwhile()
      return (await newStreams.hasPlace(now)) ? undefined : full(now.streamsMax)
    },
  }
}

function meanwhile(): DomainError {
  return changedMeanwhile('the fleet or the device', 'GET /fleets/{fleetId}')
}

function fleetEnded(): DomainError {
  return conflict(
    'the fleet of the provisioning key is deleted',
    'Ask the owner of the vault for a new provisioning key: POST /vaults/{vaultId}/provisioning-keys makes one.',
  )
}

function denied(serial: string): DomainError {
  return conflict(
    `the fleet denies the device ${serial}`,
    'The owner of the fleet allows it with POST /fleets/{fleetId}/devices/{device}/allow.',
  )
}

function full(streamsMax: number): DomainError {
  return conflict(
    `the fleet has ${streamsMax} streams, and can have no more`,
    'The owner of the fleet sets a greater streamsMax with PUT /fleets/{fleetId}.',
  )
}

const nothing = { clientId: undefined, certificateName: undefined, expiresAtUs: undefined }

function answerBody(made: DeviceWithSecret, nowUs: number): Static<typeof registeredSchema> {
  const [streamId] = made.device.streamIds
  if (streamId === undefined)
    throw conflict(
      'the stream of the device is deleted',
      'Register the device with another serial, or have its owner give it a stream with PUT /devices/{deviceId}.',
    )
  return { streamId, topic: `streams/${streamId}/data`, device: bodyWithSecret(made, nowUs) }
}

interface NewDevice {
  readonly serial: string
  readonly name: string
}

function parseRequest(body: unknown): NewDevice {
  const found: ErrorDetail[] = []
  const value = isObject(body) ? body : {}
  const rules = { serial: plainText(128), name: plainText(200) }
  check(value, { rules, required: ['serial'] }, new Problems('', found))
  if (found.length > 0) {
    throw new DomainError('invalid_request', 'the device is not valid', { details: found })
  }
  const serial = value['serial'] as string
  return { serial, name: (value['name'] as string | undefined) ?? serial }
}

function alreadyThere(): DomainError {
  const message = 'a device has registered with this serial: its owner can allow it to do so again'
  return conflict(
    message,
    'The owner of the device sets mayRegisterAgain with PUT /devices/{deviceId}; or register with another serial.',
  )
}

function ended(): DomainError {
  return conflict(
    'the provisioning key or its vault has ended',
    'Ask the owner of the vault for a new provisioning key: POST /vaults/{vaultId}/provisioning-keys makes one.',
  )
}
