import {
  duration,
  finite,
  type Given,
  integer,
  newField,
  oneOf,
  part,
  refined,
} from '../../src/contracts/definitions/fields.ts'
import type { Problems, Rule } from '../../src/contracts/definitions/problems.ts'
import { type SourceOf, sourceKind } from '../../src/contracts/definitions/source-kind.ts'
import { addressWith, hasScheme } from '../fields/addresses.ts'
import { clientCertificate, tls } from '../fields/credentials.ts'
import {
  answerTimeout,
  factor,
  fieldsOfValues,
  timedFieldName,
  valuesOf,
} from '../fields/polled-values.ts'

import {
  hexPattern,
  isNumberType,
  registersOfSentinel,
  type Sentinel,
  sentinelsMax,
} from '../fields/register-sentinels.ts'

/** Addresses of each table of a device: they have 16 bits. */
const addressesMax = 65_536

/** What one request may read: 125 registers (Modbus Application Protocol V1.1b3, section 6.3). */
const gapMax = 125
const textLengthMax = 250

const numberTypes = [
  'int16',
  'uint16',
  'int32',
  'uint32',
  'int64',
  'uint64',
  'float32',
  'float64',
] as const

/** Registers of a value of each type; those of a text follow from its length. */
export const registersOf = {
  bool: 1,
  int16: 1,
  uint16: 1,
  int32: 2,
  uint32: 2,
  float32: 2,
  int64: 4,
  uint64: 4,
  float64: 4,
} as const

const order = oneOf('big', 'little')

const missing: Rule = (value, key, problems) => {
  const listed: readonly unknown[] = Array.isArray(value) ? value : []
  if (listed.length > 0 && listed.length <= sentinelsMax && listed.every(isSentinel)) return
  problems.add(key, `must be an array of 1 to ${sentinelsMax} numbers, or texts such as "0x8000"`)
}

function isSentinel(value: unknown): boolean {
  return typeof value === 'string' ? hexPattern.test(value) : Number.isFinite(value)
}

const registerFields = {
  field: { ...timedFieldName, isRequired: true, doc: 'of the schema' },
  kind: {
    ...oneOf('holding', 'input', 'coil', 'discrete'),
    default: 'holding',
    doc: 'which of the four tables of a device it is in',
  },
  address: {
    ...integer(0, addressesMax - 1),
    isRequired: true,
    doc: 'as it is sent, **from 0**: see below',
  },
  type: {
    ...oneOf(...numberTypes, 'bool', 'string'),
    default: 'uint16',
    doc: 'of the value. A coil or a discrete input is a `bool`',
  },
  bit: {
    ...integer(0, 15),
    doc: 'of a `bool` in a register: which bit, 0 being the least. Without it: whether the register is not 0',
  },
  length: {
    ...integer(1, textLengthMax),
    doc: 'of a `string`: its characters, two in a register',
  },
  byteOrder: { ...order, doc: 'of the two bytes of a register; that of the source without it' },
  wordOrder: { ...order, doc: 'of the registers of a number; that of the source without it' },
  scale: { ...factor, default: 1, doc: 'the value is what is in the registers times `scale`' },
  offset: { ...finite, default: 0, doc: 'added to it' },
  missing: {
    ...newField<readonly Sentinel[]>(missing, {
      type: 'array',
      minItems: 1,
      maxItems: sentinelsMax,
      items: { type: ['number', 'string'] },
    }),
    doc: 'what is in the registers, before `scale` and `offset`, where there is no value: numbers, or texts such as `"0x8000"`',
  },
  unitId: { ...integer(0, 255), doc: 'that of the source without it' },
} as const

export type Register = Given<typeof registerFields>

const register = refined(part(registerFields), checkRegister)

export const modbusSource = sourceKind({
  name: 'ModbusSource',
  family: 'machine',
  protocols: ['modbus'],
  isScheduled: true,
  refuses: {
    formats: 'is of no use: registers have values',
    eventTypes: 'is of no use: registers have values',
  },
  fields: {
    endpoint: {
      ...addressWith(
        ['modbus', 'modbus+tls'],
        ({ pathname, search, hash }) => ['', '/'].includes(pathname) && search + hash === '',
        'modbus://host:port, with nothing behind the port',
      ),
      isRequired: true,
      doc: '`modbus://host:port` (port 502 where none is given), or `modbus+tls://host:port` (802)',
    },
    unitId: {
      ...integer(0, 255),
      default: 1,
      doc: 'the unit behind the address. Behind a gateway each device has its own; some that are alone want 255 or 0',
    },
    registers: {
      ...valuesOf(register, 'registers'),
      isRequired: true,
      doc: 'up to 256 fields, [below](#registers)',
    },
    byteOrder: { ...order, default: 'big', doc: 'for all registers that say nothing themselves' },
    wordOrder: { ...order, default: 'big', doc: 'for all registers that say nothing themselves' },
    maxGap: {
      ...integer(0, gapMax),
      default: 0,
      doc: 'how many registers that no field reads may be read to save a request',
    },
    timeout: {
      ...answerTimeout(duration, 60),
      default: '5s',
      doc: 'for each answer; a minute at most',
    },
    tls: {
      ...tls,
      doc: 'of `modbus+tls`: `{"ca": "PEM", "servername": "..."}`, whom to trust instead of the usual authorities, and whom to expect',
    },
    credentials: {
      ...clientCertificate,
      doc: 'of `modbus+tls`: `{"certificate": "PEM", "privateKey": "PEM"}`, which most of those devices ask for',
    },
  },
  messageFieldsOf: ({ registers }) => fieldsOfValues(registers),
  checkAll: (source, problems) => {
    if (typeof source['endpoint'] !== 'string' || hasScheme(source['endpoint'], 'modbus+tls'))
      return
    for (const key of ['tls', 'credentials']) {
      if (source[key] !== undefined) problems.add(key, 'needs an endpoint of modbus+tls')
    }
  },
})

export type ModbusSource = SourceOf<typeof modbusSource>
/** Says what is wrong with keys of a register beside each other. */
function checkRegister(
  { kind = 'holding', address, length, ...rest }: Register,
  key: string,
  problems: Problems,
): void {
  const inner = problems.within(key)
  const isBit = kind === 'coil' || kind === 'discrete'
  const { type = isBit ? 'bool' : 'uint16' } = rest
  if (isBit && type !== 'bool') inner.add('type', `must be bool for ${kind}`)
  if (type === 'string' && length === undefined) inner.add('length', 'is required for string')
  const keys = isBit ? [] : keysOf(type)
  const given = { length, ...rest }
  for (const name of keysOfSome) {
    if (given[name] === undefined || keys.includes(name)) continue
    inner.add(name, `is of no use for ${isBit ? kind : type}`)
  }
  const count = type === 'string' ? Math.ceil(Number(length) / 2) : registersOf[type]
  for (const [index, one] of (given.missing ?? []).entries()) {
    if (!isNumberType(type) || registersOfSentinel(one, type) !== undefined) continue
    inner.within('missing').add(`${index}`, `cannot be in the registers of ${type}`)
  }
  if (address + count > addressesMax) {
    inner.add('address', `leaves no room for ${count} registers`)
  }
}

/** Keys that are not for the values of every type. */
const keysOfSome = [
  'bit',
  'length',
  'byteOrder',
  'wordOrder',
  'scale',
  'offset',
  'missing',
] as const

/** Keys that say something of a value in registers. */
function keysOf(type: keyof typeof registersOf | 'string'): readonly string[] {
  if (type === 'bool') return ['bit', 'byteOrder']
  if (type === 'string') return ['length', 'byteOrder']
  const isLong = registersOf[type] > 1
  return ['byteOrder', 'scale', 'offset', 'missing', ...(isLong ? ['wordOrder'] : [])]
}
