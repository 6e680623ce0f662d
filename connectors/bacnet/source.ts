import { duration, finite, newField, part } from '../../src/contracts/definitions/fields.ts'
import { type SourceOf, sourceKind } from '../../src/contracts/definitions/source-kind.ts'
import { addressWith } from '../fields/addresses.ts'
import {
  answerTimeout,
  factor,
  fieldName,
  fieldsOfValues,
  valuesOf,
} from '../fields/polled-values.ts'

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

/** Longest time for one answer; each request is repeated twice. */
const timeoutSecondsMax = 20

const objectId = newField<string>(
  (value, key, problems) => {
    const [, type = '', instance] = /^([a-z-]+|\d{1,4}):(\d{1,7})$/.exec(String(value)) ?? []
    const isType = objectTypes.includes(type) || (/^\d+$/.test(type) && Number(type) <= typeMax)
    if (isType && Number(instance) <= instanceMax) return
    problems.add(
      key,
      `must be such as analog-input:1: ${objectTypes.join(', ')}, or the number of a type, and an instance`,
    )
  },
  { type: 'string', pattern: String.raw`^([a-z-]+|\d{1,4}):(\d{1,7})$` },
)

const property = newField<string | number>(
  (value, key, problems) => {
    if (typeof value === 'string' && properties.includes(value)) return
    if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= propertyMax) return
    problems.add(key, `must be ${properties.join(', ')}, or the number of a property`)
  },
  { anyOf: [{ enum: properties }, { type: 'integer', minimum: 0, maximum: propertyMax }] },
)

const object = part({
  field: { ...fieldName, isRequired: true, doc: 'of the schema' },
  object: {
    ...objectId,
    isRequired: true,
    doc: 'type and instance: `analog-input:1`, or with the number of the type, `0:1`',
  },
  property: { ...property, default: 'present-value', doc: 'a name, or a number: `103`' },
  scale: { ...factor, default: 1, doc: 'a number is what the device says times `scale`' },
  offset: { ...finite, default: 0, doc: 'added to it' },
})

/** Devices of BACnet/IP that are asked by a schedule. */
export const bacnetSource = sourceKind({
  name: 'BacnetSource',
  family: 'machine',
  protocols: ['bacnet'],
  isScheduled: true,
  messageFieldsOf: ({ objects }) => fieldsOfValues(objects),
  refuses: {
    formats: 'is of no use: objects have values',
    eventTypes: 'is of no use: objects have values',
  },
  fields: {
    endpoint: {
      ...addressWith(
        ['bacnet'],
        ({ pathname, search, hash }) => ['', '/'].includes(pathname) && search + hash === '',
        'bacnet://host:port, with nothing behind the port',
      ),
      isRequired: true,
      doc: '`bacnet://host:port` (port 47808 where none is given): the address of the device itself',
    },
    objects: {
      ...valuesOf(object, 'objects'),
      isRequired: true,
      doc: 'up to 256 fields, [below](#objects)',
    },
    timeout: {
      ...answerTimeout(duration, timeoutSecondsMax),
      default: '3s',
      doc: 'for each answer; 20 seconds at most. A request is repeated twice, as datagrams may be lost',
    },
  },
})

export type BacnetSource = SourceOf<typeof bacnetSource>
