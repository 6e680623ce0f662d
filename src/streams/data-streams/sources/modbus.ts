import {
  duration,
  finite,
  integer,
  type Json,
  oneOf,
  type Problems,
  part,
  type Rule,
  type Rules,
  text,
} from '../definition-problems.ts'
import { fieldNameProblem, fieldsMax, isObject } from '../field-map.ts'
import { formatKeys } from '../payload-format.ts'
import { certificates, clientCertificate } from './broker.ts'
import { timeout } from './http-rules.ts'
import { address, type SourceRules, schedule, timezone } from './source-rules.ts'

/** Addresses of each table of a device: they have 16 bits. */
const addressesMax = 65_536

/** Registers that one request may read: 125 (Modbus Application Protocol V1.1b3, section 6.3). */
const gapMax = 125
const textLengthMax = 250

/** Others wait for the device meanwhile. */
const timeoutSecondsMax = 60

const registersOf: Readonly<Record<string, number>> = {
  bool: 1,
  int16: 1,
  uint16: 1,
  int32: 2,
  uint32: 2,
  float32: 2,
  int64: 4,
  uint64: 4,
  float64: 4,
}

const order = oneOf('big', 'little')

const endpoint: Rule = (value, key, problems) => {
  const before = problems.found.length
  address('modbus', 'modbus+tls')(value, key, problems)
  if (problems.found.length > before) return
  const { pathname, search, hash } = new URL(String(value))
  if (!['', '/'].includes(pathname) || search !== '' || hash !== '') {
    problems.add(key, 'must be an address such as modbus://host:port, with nothing behind the port')
  }
}

/** A register may be the clock of the device: then its field is that of the time. */
const field: Rule = (value, key, problems) => {
  if (value === 'timestamp') return
  const problem =
    typeof value === 'string' ? fieldNameProblem(value, new Set()) : 'must be the name of a field'
  if (problem !== undefined) problems.add(key, problem)
}

const factor: Rule = (value, key, problems) => {
  if (value === 0) problems.add(key, 'must not be 0')
  else finite(value, key, problems)
}

const registerRules: Rules = {
  field,
  kind: oneOf('holding', 'input', 'coil', 'discrete'),
  address: integer(0, addressesMax - 1),
  type: oneOf(...Object.keys(registersOf), 'string'),
  bit: integer(0, 15),
  length: integer(1, textLengthMax),
  byteOrder: order,
  wordOrder: order,
  scale: factor,
  offset: finite,
  unitId: integer(0, 255),
}

const registers: Rule = (value, key, problems) => {
  const listed: readonly unknown[] = Array.isArray(value) ? value : []
  if (listed.length === 0 || listed.length > fieldsMax) {
    problems.add(key, `must be an array of 1 to ${fieldsMax} registers`)
    return
  }
  const inner = problems.within(key)
  const seen = new Set<string>()
  for (const [index, item] of listed.entries()) {
    const before = problems.found.length
    part(registerRules, ['field', 'address'])(item, `${index}`, inner)
    if (!isObject(item) || problems.found.length > before) continue
    const name = String(item['field']).toLowerCase()
    if (seen.has(name)) inner.add(`${index}.field`, 'comes twice')
    seen.add(name)
    checkRegister(item, inner.within(`${index}`))
  }
}

/** Checks the keys that only make sense together. */
function checkRegister(register: Json, problems: Problems): void {
  const { kind = 'holding', address: first, length } = register
  const isBit = kind === 'coil' || kind === 'discrete'
  const { type = isBit ? 'bool' : 'uint16' } = register
  if (isBit && type !== 'bool') problems.add('type', `must be bool for ${kind}`)
  if (type === 'string' && length === undefined) problems.add('length', 'is required for string')
  const keys = isBit ? [] : keysOf(String(type))
  for (const key of ['bit', 'length', 'byteOrder', 'wordOrder', 'scale', 'offset']) {
    if (register[key] === undefined || keys.includes(key)) continue
    problems.add(key, `is of no use for ${isBit ? kind : String(type)}`)
  }
  const count = registersOf[String(type)] ?? Math.ceil(Number(length) / 2)
  if (Number(first) + count > addressesMax) {
    problems.add('address', `leaves no room for ${count} registers`)
  }
}

/** Keys that a register may have, by the type of its value. */
function keysOf(type: string): readonly string[] {
  if (type === 'bool') return ['bit', 'byteOrder']
  if (type === 'string') return ['length', 'byteOrder']
  const isLong = (registersOf[type] ?? 1) > 1
  return ['byteOrder', 'scale', 'offset', ...(isLong ? ['wordOrder'] : [])]
}

const answerTimeout: Rule = (value, key, problems) => {
  const before = problems.found.length
  timeout(value, key, problems)
  if (problems.found.length > before) return
  const [, count, unit] = /^(\d+)([smhd])$/.exec(String(value)) ?? []
  const seconds = Number(count) * (unit === 's' ? 1 : 60)
  const isLong = unit === 'h' || unit === 'd' || seconds > timeoutSecondsMax
  if (isLong) problems.add(key, `must be ${timeoutSecondsMax}s at most`)
}

/** Devices of Modbus over TCP that are asked by a schedule. */
export const modbusSource: SourceRules = {
  rules: {
    endpoint,
    unitId: integer(0, 255),
    byteOrder: order,
    wordOrder: order,
    registers,
    maxGap: integer(0, gapMax),
    schedule,
    timezone,
    jitter: duration,
    timeout: answerTimeout,
    tls: part({ ca: certificates, servername: text }),
    credentials: clientCertificate,
  },
  required: ['endpoint', 'registers', 'schedule'],
  checkAll: checkModbusSource,
}

function checkModbusSource(source: Json, problems: Problems): void {
  for (const key of [...formatKeys, 'eventTypes', 'eventTypeField']) {
    if (source[key] !== undefined) problems.add(key, 'is of no use: registers have values')
  }
  const { endpoint: given } = source
  if (typeof given !== 'string' || /^modbus\+tls:/i.test(given)) return
  for (const key of ['tls', 'credentials']) {
    if (source[key] !== undefined) problems.add(key, 'needs an endpoint of modbus+tls')
  }
}
