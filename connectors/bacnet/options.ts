import { sourceOf } from '../../src/contracts/definitions/source-kind.ts'
import { durationUs } from '../../src/core/duration.ts'
import { type BacnetSource, bacnetSource } from './source.ts'

type Json = Readonly<Record<string, unknown>>

/** Where one field of a reading is. */
export interface ObjectItem {
  readonly field: string
  /** A name of the standard, such as `analog-input`, or a number. */
  readonly type: string
  readonly instance: number
  /** A name of the standard, such as `present-value`, or a number. */
  readonly property: string
  readonly scale: number
  readonly offset: number
}

export interface BacnetOptions {
  readonly host: string
  readonly port: number
  readonly items: readonly ObjectItem[]
  /** Time for one answer. */
  readonly timeoutMs: number
}

/** Port registered with IANA: `bacnet`, 0xBAC0. */
const standardPort = 47_808

export function destinationOf({ endpoint }: Json) {
  const { hostname, port } = new URL(String(endpoint))
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? standardPort : Number(port),
  }
}

export function bacnetOptions(given: Json): BacnetOptions {
  const { objects, timeout } = sourceOf(bacnetSource, given)
  return {
    ...destinationOf(given),
    items: objects.map(itemOf),
    timeoutMs: (durationUs(timeout) ?? 0) / 1_000,
  }
}

function itemOf({
  field,
  object,
  property = 'present-value',
  scale = 1,
  offset = 0,
}: BacnetSource['objects'][number]): ObjectItem {
  const [type = '', instance] = object.split(':')
  return { field, type, instance: Number(instance), property: String(property), scale, offset }
}
