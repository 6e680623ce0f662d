import {
  type ForeignTopics,
  foreignTopics as foreignTopicsValues,
} from '../../access/auth/foreign-topics.ts'
import { isObject } from '../../contracts/definitions/field-map.ts'
import {
  check,
  flag,
  type Json,
  Problems,
  part,
  type Rule,
  type Rules,
} from '../../contracts/definitions/problems.ts'
import { DomainError, type ErrorDetail } from '../../core/errors.ts'
import { expiryOf } from '../../core/expiry.ts'
import { parseId, type StreamId } from '../../core/ids.ts'
import { type DeviceSettings, type RateLimit, streamsOfDeviceMax } from './device.ts'

/** RFC 5280, appendix A.1: ub-common-name. */
const certificateNameMax = 64
const clientIdMax = 256
/** About one a day. */
export const readingsPerSecondMin = 0.000_01
const readingsPerSecondMax = 1_000_000
const burstMax = 10_000_000

/** What somebody asks for: of what is left out, nothing; of what is to be taken away, `null`. */
export interface DeviceRequest {
  readonly name?: string
  readonly streamIds?: readonly StreamId[]
  readonly streamName?: string
  readonly clientId?: string | undefined
  readonly certificateName?: string | undefined
  readonly rateLimit?: RateLimit | undefined
  readonly expiresAtUs?: number | undefined
  readonly foreignTopics?: ForeignTopics
  readonly mayRegisterAgain?: boolean
}

/** Which kind of request it is: they differ in what has to be there. */
export type RequestKind = 'new' | 'one of many' | 'change'

/** @throws DomainError `invalid_request` naming everything that is wrong */
export function parseDeviceRequest(
  body: unknown,
  kind: 'new' | 'change',
  nowUs: number,
): DeviceRequest {
  const found: ErrorDetail[] = []
  const request = readDeviceRequest(body, { kind, nowUs }, new Problems('', found))
  if (found.length > 0) throw invalidDevices(found)
  return request
}

function invalidDevices(details: readonly ErrorDetail[]): DomainError {
  return new DomainError('invalid_request', 'the device is not valid', { details })
}

/** Reads a device. What is wrong is added to the problems; what is returned is then of no use. */
export function readDeviceRequest(
  body: unknown,
  { kind, nowUs }: { readonly kind: RequestKind; readonly nowUs: number },
  problems: Problems,
): DeviceRequest {
  if (!isObject(body)) {
    problems.add('', 'must be an object')
    return {}
  }
  check(withoutNulls(body), { rules: rules[kind], required: required[kind] }, problems)
  if (kind === 'one of many' && (body['streamIds'] === undefined) === !body['streamName']) {
    problems.add('streamIds', 'or streamName has to be there, and not both')
  }
  const request: { -readonly [Key in keyof DeviceRequest]: DeviceRequest[Key] } = {}
  if (body['name'] !== undefined) request.name = body['name'] as string
  if (Array.isArray(body['streamIds'])) request.streamIds = idsOf(body['streamIds'])
  if (body['streamName'] !== undefined) request.streamName = body['streamName'] as string
  if (body['clientId'] !== undefined) request.clientId = given<string>(body['clientId'])
  if (body['certificateName'] !== undefined) {
    request.certificateName = given<string>(body['certificateName'])
  }
  if (body['rateLimit'] !== undefined) request.rateLimit = given<RateLimit>(body['rateLimit'])
  if (body['expiresAt'] !== undefined) {
    request.expiresAtUs = readExpiry(given<string>(body['expiresAt']), nowUs, problems)
  }
  if (body['foreignTopics'] !== undefined) {
    request.foreignTopics = body['foreignTopics'] as ForeignTopics
  }
  if (body['mayRegisterAgain'] !== undefined) {
    request.mayRegisterAgain = body['mayRegisterAgain'] as boolean
  }
  return request
}

/** A time to come. What is wrong with it is added to the problems. */
export function readExpiry(
  text: string | undefined,
  nowUs: number,
  problems: Problems,
): number | undefined {
  if (typeof text !== 'string') return undefined
  try {
    return expiryOf('expiresAt', text, nowUs)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    for (const { message } of error.details ?? []) problems.add('expiresAt', message)
    return undefined
  }
}

/** The settings of a new device, and what a change leaves as it was. */
export function settingsOf(
  request: DeviceRequest,
  streamIds: readonly StreamId[],
  before?: DeviceSettings,
): DeviceSettings {
  const { name = before?.name ?? '' } = request
  const member = <Key extends keyof DeviceRequest & keyof DeviceSettings>(key: Key) =>
    (key in request ? request[key] : before?.[key]) as DeviceSettings[Key]
  return {
    name,
    streamIds,
    clientId: member('clientId'),
    certificateName: member('certificateName'),
    rateLimit: member('rateLimit'),
    expiresAtUs: member('expiresAtUs'),
    foreignTopics: request.foreignTopics ?? before?.foreignTopics ?? 'refuse',
  }
}

function given<Value>(value: unknown): Value | undefined {
  return value === null ? undefined : (value as Value)
}

/** `null` takes away what can be left out. */
function withoutNulls(body: Json): Json {
  return Object.fromEntries(
    Object.entries(body).filter(([key, value]) => value !== null || !removable.includes(key)),
  )
}

const removable: readonly string[] = ['clientId', 'certificateName', 'rateLimit', 'expiresAt']

/** A text without control characters. */
export function plainText(lengthMax: number): Rule {
  return (value, key, problems) => {
    const fits = typeof value === 'string' && value.trim() !== '' && value.length <= lengthMax
    if (fits && !/\p{Cc}/u.test(value)) return
    problems.add(key, `must be a text of 1 to ${lengthMax} characters without control characters`)
  }
}

const streamIdList: Rule = (value, key, problems) => {
  const isList = Array.isArray(value) && value.length >= 1 && value.length <= streamsOfDeviceMax
  if (!isList) {
    problems.add(key, `must be a list of 1 to ${streamsOfDeviceMax} ids of streams`)
    return
  }
  for (const [index, id] of (value as readonly unknown[]).entries()) {
    if (typeof id === 'string' && parseId<StreamId>(id) !== undefined) continue
    problems.within(key).add(String(index), 'must be the id of a stream')
  }
}

const readingsPerSecond: Rule = (value, key, problems) => {
  const [min, max] = [readingsPerSecondMin, readingsPerSecondMax]
  if (typeof value === 'number' && value >= min && value <= max) return
  problems.add(key, `must be a number from ${min.toFixed(5)} to ${max}`)
}

const burst: Rule = (value, key, problems) => {
  if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= burstMax) return
  problems.add(key, `must be an integer from 1 to ${burstMax}`)
}

const expiresAt: Rule = (value, key, problems) => {
  if (typeof value !== 'string' || value.length > 64) problems.add(key, 'must be a time')
}

export const rateLimitRule: Rule = part({ readingsPerSecond, burst }, [
  'readingsPerSecond',
  'burst',
])

export const foreignTopicsRule: Rule = (value, key, problems) => {
  if (foreignTopicsValues.some((one) => one === value)) return
  problems.add(key, `must be one of: ${foreignTopicsValues.join(', ')}`)
}

const ofAll: Rules = {
  name: plainText(200),
  streamIds: streamIdList,
  clientId: plainText(clientIdMax),
  certificateName: plainText(certificateNameMax),
  rateLimit: rateLimitRule,
  expiresAt,
  foreignTopics: foreignTopicsRule,
}

const rules: Readonly<Record<RequestKind, Rules>> = {
  new: ofAll,
  'one of many': { ...ofAll, streamName: plainText(200) },
  change: { ...ofAll, mayRegisterAgain: flag },
}

const required: Readonly<Record<RequestKind, readonly string[]>> = {
  new: ['name', 'streamIds'],
  'one of many': ['name'],
  change: [],
}

function idsOf(texts: readonly unknown[]): readonly StreamId[] {
  const ids = texts.map((text) => (typeof text === 'string' ? parseId<StreamId>(text) : undefined))
  return [...new Set(ids.filter((id) => id !== undefined))].toSorted()
}
