import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { ObjectItem } from './options.ts'

/** Fields that a message names at most. */
const namedMax = 5

/** An Error-PDU, or an error in the place of a value (ANSI/ASHRAE 135, clause 18). */
export class DeviceError extends Error {
  readonly errorClass: number
  readonly errorCode: number

  constructor(errorClass: number, errorCode: number) {
    super(codes.get(errorCode) ?? `error ${errorCode} of class ${errorClass}`)
    this.errorClass = errorClass
    this.errorCode = errorCode
  }
}

/** A Reject-PDU or an Abort-PDU. */
export class DeviceRefusal extends Error {
  readonly kind: 'reject' | 'abort'
  readonly reason: number

  constructor(kind: 'reject' | 'abort', reason: number) {
    const reasons = kind === 'reject' ? rejections : abortions
    super(`${kind}: ${reasons[reason] ?? `reason ${reason}`}`)
    this.kind = kind
    this.reason = reason
  }
}

const codes: ReadonlyMap<number, string> = new Map([
  [2, 'configuration in progress'],
  [3, 'device busy'],
  [25, 'operational problem'],
  [27, 'read access denied'],
  [29, 'service request denied'],
  [31, 'unknown object'],
  [32, 'unknown property'],
  [35, 'unsupported object type'],
  [42, 'invalid array index'],
  [50, 'property is not an array'],
])

/** These say that there is nothing to be read at that place: somebody has to mend the definition. */
const lasting: readonly number[] = [27, 31, 32, 35, 42, 50]

const rejections = [
  'other',
  'buffer overflow',
  'inconsistent parameters',
  'invalid parameter data type',
  'invalid tag',
  'missing required parameter',
  'parameter out of range',
  'too many arguments',
  'undefined enumeration',
  'unrecognized service',
]

const abortions = [
  'other',
  'buffer overflow',
  'invalid APDU in this state',
  'preempted by higher priority task',
  'segmentation not supported',
  'security error',
  'insufficient security',
  'window size out of range',
  'application exceeded reply time',
  'out of resources',
  'TSM timeout',
  'APDU too long',
]

/** Class and code of "unrecognized service" as an error; reason of it as a rejection (clauses 18.7 and 18.9). */
const ofServices = 5
const unrecognizedService = 9

/** Whether a device has no ReadPropertyMultiple at all: some say so with an error. */
export function knowsNoMultiple(error: unknown): boolean {
  if (error instanceof DeviceError) return error.errorClass === ofServices
  return (
    error instanceof DeviceRefusal &&
    error.kind === 'reject' &&
    error.reason === unrecognizedService
  )
}

/** What became of a request, as an error for people. */
export function failureOf(error: unknown, items: readonly ObjectItem[]): unknown {
  if (!(error instanceof DeviceError) && !(error instanceof DeviceRefusal)) return error
  const text = `the device does not give ${described(items)}: ${error.message}`
  const isLasting = error instanceof DeviceError && lasting.includes(error.errorCode)
  return isLasting ? new SourceRefused(text) : new Error(text)
}

export function described(items: readonly ObjectItem[]): string {
  const named = items
    .slice(0, namedMax)
    .map(({ field, type, instance, property }) => `${property} of ${type}:${instance} (${field})`)
  if (items.length > namedMax) named.push('...')
  return named.join(', ')
}
