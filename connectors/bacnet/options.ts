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
  /** For one answer. */
  readonly timeoutMs: number
}

interface ObjectKeys {
  readonly field: string
  readonly object: string
  readonly property?: string | number
  readonly scale?: number
  readonly offset?: number
}

/** The keys of a source that this connector knows, as the domain of data streams has checked them. */
interface BacnetSourceKeys {
  readonly objects: readonly ObjectKeys[]
  readonly timeout?: string
}

/** As registered with IANA: `bacnet`, 0xBAC0. */
const standardPort = 47_808

/** The usual APDU_Timeout (ANSI/ASHRAE 135, clause 12.11.28). */
const standardTimeoutMs = 3_000

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000 }

export function takesSource({ protocol }: Json): boolean {
  return protocol === 'bacnet'
}

export function destinationOf({ endpoint }: Json) {
  const { hostname, port } = new URL(String(endpoint))
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? standardPort : Number(port),
  }
}

export function bacnetOptions(source: Json): BacnetOptions {
  const { objects, timeout } = source as unknown as BacnetSourceKeys
  return {
    ...destinationOf(source),
    items: objects.map(itemOf),
    timeoutMs: timeout === undefined ? standardTimeoutMs : msOf(timeout),
  }
}

function itemOf({ field, object, property, scale = 1, offset = 0 }: ObjectKeys): ObjectItem {
  const [type = '', instance] = object.split(':')
  const named = String(property ?? 'present-value')
  return { field, type, instance: Number(instance), property: named, scale, offset }
}

function msOf(duration: string): number {
  return Number(duration.slice(0, -1)) * (unitsMs[duration.slice(-1)] ?? 0)
}
