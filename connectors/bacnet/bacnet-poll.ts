import type { Socket } from 'node:dgram'
import { isOfKind } from '../../src/contracts/definitions/source-kind.ts'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type {
  FetchedPage,
  Poll,
  PollConnector,
  PolledSource,
} from '../../src/contracts/poll-connector.ts'
import { DeviceError, DeviceRefusal, failureOf, knowsNoMultiple } from './device-failures.ts'
import { DeviceRequests, type ObjectProperty } from './device-requests.ts'
import { bacnetLibrary, type Library } from './library.ts'
import { type ApplicationValue, valueText } from './object-values.ts'
import { type BacnetOptions, bacnetOptions, destinationOf, type ObjectItem } from './options.ts'
import { bacnetSource } from './source.ts'

/** A round that takes longer is given up. */
const standardRoundMs = 120_000

/** Objects of one request, which then fits into what the smallest devices of BACnet/IP take: 480 bytes. */
const groupMax = 20

/** Objects whose present value is inactive or active: input, output, value (ANSI/ASHRAE 135, clause 21). */
const binaryTypes: readonly number[] = [3, 4, 5]
const binaryProperties: readonly number[] = [85]

/** Readings of objects: the state of a device, each time that it is asked. */
export function bacnetPoll({ roundMs = standardRoundMs } = {}): PollConnector {
  return {
    takes: (source) => isOfKind(bacnetSource, source),
    destinationOf,
    open: ({ source }) => new PolledObjects(bacnetOptions(source), roundMs),
  }
}

type NumberedItem = ObjectItem & { readonly numbers: ObjectProperty }

class PolledObjects implements PolledSource {
  readonly identity: string
  readonly #options: BacnetOptions
  readonly #roundMs: number
  /** Whether the device reads one property at a time. */
  #isSingle = false

  constructor(options: BacnetOptions, roundMs: number) {
    const { host, port } = options
    this.identity = `${host}:${port}`
    this.#options = options
    this.#roundMs = roundMs
  }

  /** A device has no past: a round that has failed gives the state that there is when it is done again. */
  async *poll(poll: Poll): AsyncGenerator<FetchedPage, void> {
    const payload = await this.#read(poll)
    const message = { payload, source: `bacnet ${this.identity}` }
    yield { messages: [message], position: undefined }
  }

  async #read({ dial, signal: stopped }: Poll): Promise<Buffer> {
    const { host, port } = this.#options
    const roundMs = this.#roundMs
    const late = new AbortController()
    const signal = AbortSignal.any([stopped, late.signal])
    const timer = setTimeout(
      () => late.abort(new Error(`the round has not ended in ${roundMs / 1_000} s`)),
      roundMs,
    )
    try {
      const values = await this.#values(await dial.datagrams({ host, port, signal }), signal)
      return asJson(this.#options.items, values)
    } finally {
      clearTimeout(timer)
    }
  }

  async #values(socket: Socket, signal: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const { items, timeoutMs } = this.#options
    const library = bacnetLibrary()
    // Each request listens itself: this is for what comes between two of them.
    socket.on('error', () => undefined)
    try {
      const requests = new DeviceRequests({ library, socket, timeoutMs, signal })
      const values = new Map<string, string>()
      const numbered = items.map((item) => ({ ...item, numbers: numbersOf(item, library) }))
      for (let at = 0; at < items.length; at += groupMax) {
        await this.#readGroup(requests, numbered.slice(at, at + groupMax), values)
      }
      return values
    } finally {
      socket.close()
    }
  }

  /**
   * Reads a group of values. Some devices have no room for a long answer, and some have no such
   * service: they are asked for less.
   */
  async #readGroup(
    requests: DeviceRequests,
    items: readonly NumberedItem[],
    values: Map<string, string>,
  ): Promise<void> {
    const [only] = items
    if (items.length === 1 && only !== undefined) return await readOne(requests, only, values)
    try {
      if (!this.#isSingle) return await readMany(requests, items, values)
    } catch (error) {
      if (!isRefusal(error)) throw error
      this.#isSingle = knowsNoMultiple(error)
    }
    const size = this.#isSingle ? 1 : Math.ceil(items.length / 2)
    for (let at = 0; at < items.length; at += size) {
      await this.#readGroup(requests, items.slice(at, at + size), values)
    }
  }
}

async function readMany(
  requests: DeviceRequests,
  items: readonly NumberedItem[],
  values: Map<string, string>,
): Promise<void> {
  const answers = await requests.many(items.map(({ numbers }) => numbers))
  for (const [index, item] of items.entries()) {
    const given = answers[index] ?? []
    if (given instanceof DeviceError) throw failureOf(given, [item])
    keep(given, item, values)
  }
}

async function readOne(
  requests: DeviceRequests,
  item: NumberedItem,
  values: Map<string, string>,
): Promise<void> {
  try {
    keep(await requests.one(item.numbers), item, values)
  } catch (error) {
    throw failureOf(error, [item])
  }
}

function keep(
  given: readonly ApplicationValue[],
  item: NumberedItem,
  values: Map<string, string>,
): void {
  const { type, property } = item.numbers
  const isBinary = binaryTypes.includes(type) && binaryProperties.includes(property)
  const text = valueText(given, item, isBinary)
  if (text !== undefined) values.set(item.field, text)
}

/** Whether the device has refused a whole request. */
function isRefusal(error: unknown): boolean {
  return error instanceof DeviceError || error instanceof DeviceRefusal
}

/** Names of the standard are those of the library in lower case, with hyphens. */
function numbersOf({ type, instance, property }: ObjectItem, library: Library): ObjectProperty {
  return {
    type: numberOf(type, library.ObjectType),
    instance,
    property: numberOf(property, library.PropertyIdentifier),
  }
}

function numberOf<Numbered extends number>(
  name: string,
  numbers: Readonly<Record<string, Numbered | string>>,
): Numbered {
  if (/^\d+$/.test(name)) return Number(name) as Numbered
  const found = numbers[name.toUpperCase().replaceAll('-', '_')]
  if (typeof found === 'number') return found
  throw new SourceRefused(`BACnet has no ${name} that is known here`)
}

/**
 * Writes the values in the order in which their fields are defined. What has no value is left out.
 */
function asJson(items: readonly ObjectItem[], values: ReadonlyMap<string, string>): Buffer {
  const members = items.flatMap(({ field }) => {
    const value = values.get(field)
    return value === undefined ? [] : [`${JSON.stringify(field)}:${value}`]
  })
  return Buffer.from(`{${members.join(',')}}`)
}
