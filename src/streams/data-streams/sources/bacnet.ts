import {
  duration,
  finite,
  type Json,
  type Problems,
  part,
  type Rule,
  type Rules,
} from '../definition-problems.ts'
import { fieldNameProblem, fieldsMax, isObject } from '../field-map.ts'
import { formatKeys } from '../payload-format.ts'
import { timeout } from './http-rules.ts'
import { address, type SourceRules, schedule, timezone } from './source-rules.ts'

/** Types of objects that have a name here; all have a number (ANSI/ASHRAE 135, clause 21). */
const objectTypes: readonly string[] = [
  'accumulator',
  'analog-input',
  'analog-output',
  'analog-value',
  'binary-input',
  'binary-lighting-output',
  'binary-output',
  'binary-value',
  'characterstring-value',
  'device',
  'integer-value',
  'large-analog-value',
  'lighting-output',
  'load-control',
  'loop',
  'multi-state-input',
  'multi-state-output',
  'multi-state-value',
  'positive-integer-value',
  'program',
  'pulse-converter',
  'schedule',
]

/** Properties of a single value that have a name here. */
const properties: readonly string[] = [
  'present-value',
  'out-of-service',
  'reliability',
  'event-state',
  'object-name',
  'description',
  'units',
  'min-pres-value',
  'max-pres-value',
  'high-limit',
  'low-limit',
  'relinquish-default',
  'controlled-variable-value',
  'setpoint',
  'system-status',
  'firmware-revision',
  'model-name',
  'vendor-name',
]

/** Ten bits, and 22 bits (clause 20.2.14). The last instance stands for any. */
const typeMax = 1_023
const instanceMax = 4_194_302
const propertyMax = 4_194_303

/** For one answer; each request is repeated twice. */
const timeoutSecondsMax = 20

const endpoint: Rule = (value, key, problems) => {
  const before = problems.found.length
  address('bacnet')(value, key, problems)
  if (problems.found.length > before) return
  const { pathname, search, hash } = new URL(String(value))
  if (!['', '/'].includes(pathname) || search !== '' || hash !== '') {
    problems.add(key, 'must be an address such as bacnet://host:port, with nothing behind the port')
  }
}

const field: Rule = (value, key, problems) => {
  const problem =
    typeof value === 'string' ? fieldNameProblem(value, new Set()) : 'must be the name of a field'
  if (problem !== undefined) problems.add(key, problem)
}

const object: Rule = (value, key, problems) => {
  const [, type = '', instance] = /^([a-z-]+|\d{1,4}):(\d{1,7})$/.exec(String(value)) ?? []
  const isType = objectTypes.includes(type) || (/^\d+$/.test(type) && Number(type) <= typeMax)
  if (isType && Number(instance) <= instanceMax) return
  problems.add(
    key,
    `must be such as analog-input:1: ${objectTypes.join(', ')}, or the number of a type, and an instance`,
  )
}

const property: Rule = (value, key, problems) => {
  if (typeof value === 'string' && properties.includes(value)) return
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= propertyMax) return
  problems.add(key, `must be ${properties.join(', ')}, or the number of a property`)
}

const factor: Rule = (value, key, problems) => {
  if (value === 0) problems.add(key, 'must not be 0')
  else finite(value, key, problems)
}

const objectRules: Rules = { field, object, property, scale: factor, offset: finite }

const objects: Rule = (value, key, problems) => {
  const listed: readonly unknown[] = Array.isArray(value) ? value : []
  if (listed.length === 0 || listed.length > fieldsMax) {
    problems.add(key, `must be an array of 1 to ${fieldsMax} objects`)
    return
  }
  const inner = problems.within(key)
  const seen = new Set<string>()
  for (const [index, item] of listed.entries()) {
    part(objectRules, ['field', 'object'])(item, `${index}`, inner)
    if (!isObject(item)) continue
    const name = String(item['field']).toLowerCase()
    if (seen.has(name)) inner.add(`${index}.field`, 'comes twice')
    seen.add(name)
  }
}

const answerTimeout: Rule = (value, key, problems) => {
  const before = problems.found.length
  timeout(value, key, problems)
  if (problems.found.length > before) return
  const [, count, unit] = /^(\d+)([smhd])$/.exec(String(value)) ?? []
  const isLong = unit !== 's' || Number(count) > timeoutSecondsMax
  if (isLong) problems.add(key, `must be ${timeoutSecondsMax}s at most`)
}

/** Devices of BACnet/IP that are asked by a schedule. */
export const bacnetSource: SourceRules = {
  rules: { endpoint, objects, schedule, timezone, jitter: duration, timeout: answerTimeout },
  required: ['endpoint', 'objects', 'schedule'],
  checkAll: checkBacnetSource,
}

function checkBacnetSource(source: Json, problems: Problems): void {
  for (const key of [...formatKeys, 'eventTypes', 'eventTypeField']) {
    if (source[key] !== undefined) problems.add(key, 'is of no use: objects have values')
  }
}
