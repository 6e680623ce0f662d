import { once } from 'node:events'
import type { ObjectType, PropertyIdentifier } from '@bacnet-js/client'
import { bacnetPoll } from '../../connectors/bacnet/bacnet-poll.ts'
import { bacnetLibrary, type Library } from '../../connectors/bacnet/library.ts'
import { freePort } from '../../scripts/servers/free-port.ts'
import { systemClock } from '../../src/core/clock.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'

type Json = Readonly<Record<string, unknown>>
type Client = InstanceType<Library['default']>

const bacnet = bacnetLibrary()

/** Type of an object, instance, property: `0:1:85` is the present value of the first analog input. */
type Place = `${number}:${number}:${number}`

interface Value {
  readonly type: number
  readonly value: unknown
}

export const tags = bacnet.ApplicationTag

/** Error class and code: object, unknown object; property, unknown property; services, unrecognized service. */
const unknownObject = [1, 31] as const
const unknownProperty = [2, 32] as const
const unrecognizedService = [5, 9] as const

interface Asked {
  readonly objectId: { readonly type: ObjectType; readonly instance: number }
  readonly property: { readonly id: PropertyIdentifier; readonly index: number }
}

/** A device of BACnet/IP with the properties that it is given, by the library's own functions for devices. */
export class BacnetDevice implements AsyncDisposable {
  readonly port: number
  readonly #values = new Map<Place, Value>()
  #client: Client | undefined
  /** Properties of each request. */
  readonly asked: Place[][] = []
  /** Whether it reads several properties at once. */
  hasMultiple = true
  /** How many of them at most. */
  multipleMax = Number.POSITIVE_INFINITY
  /** Class and code of the error that every request is answered with. */
  error: readonly [number, number] | undefined

  static async start(): Promise<BacnetDevice> {
    const device = new BacnetDevice(await freePort())
    await device.start()
    return device
  }

  private constructor(port: number) {
    this.port = port
  }

  get endpoint(): string {
    return `bacnet://127.0.0.1:${this.port}`
  }

  async start(): Promise<void> {
    const client = new bacnet.default({ port: this.port, interface: '127.0.0.1' })
    this.#client = client
    client.on('readProperty', ({ header, service = 0, invokeId = 0, payload }) => {
      const sender = header?.sender ?? { address: '' }
      const { objectId, property } = payload as Asked
      this.asked.push([placeOf({ objectId, property })])
      const found = this.error ?? this.#valueAt({ objectId, property })
      if (isError(found)) client.errorResponse(sender, service, invokeId, ...found)
      else client.readPropertyResponse(sender, invokeId, objectId, property, found as never)
    })
    client.on('readPropertyMultiple', ({ header, service = 0, invokeId = 0, payload }) => {
      const sender = header?.sender ?? { address: '' }
      const asked = payload.properties.flatMap(({ objectId, properties }) =>
        properties.map((property) => ({ objectId, property })),
      )
      this.asked.push(asked.map(placeOf))
      const error = this.error ?? this.#refusalOf(asked.length)
      if (error !== undefined) client.errorResponse(sender, service, invokeId, ...error)
      else client.readPropertyMultipleResponse(sender, invokeId, asked.map(this.#result))
    })
    await once(client as unknown as NodeJS.EventEmitter, 'listening')
  }

  async stop(): Promise<void> {
    this.#client?.close()
    this.#client = undefined
    await Promise.resolve()
  }

  set(place: Place, type: number, value: unknown): void {
    this.#values.set(place, { type, value })
  }

  #refusalOf(count: number): readonly [number, number] | undefined {
    if (!this.hasMultiple) return unrecognizedService
    // Resources: no space for the answer.
    return count > this.multipleMax ? [3, 20] : undefined
  }

  readonly #result = (asked: Asked) => {
    const found = this.#valueAt(asked)
    const value = isError(found)
      ? [{ value: { type: 'BacnetError', errorClass: found[0], errorCode: found[1] } }]
      : [found]
    return { objectId: asked.objectId, values: [{ property: asked.property, value }] }
  }

  #valueAt(asked: Asked): Value | readonly [number, number] {
    const place = placeOf(asked)
    const value = this.#values.get(place)
    if (value !== undefined) return value
    const object = place.slice(0, place.lastIndexOf(':') + 1)
    const isKnown = [...this.#values.keys()].some((known) => known.startsWith(object))
    return isKnown ? unknownProperty : unknownObject
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}

function isError(found: Value | readonly [number, number]): found is readonly [number, number] {
  return Array.isArray(found)
}

function placeOf({ objectId, property }: Asked): Place {
  return `${objectId.type}:${objectId.instance}:${property.id}`
}

const nowUs = () => systemClock.nowUs()

/** Asks once, and gives the payload of what comes. */
export async function pollOnce(
  source: Json,
  { signal = new AbortController().signal, connector = bacnetPoll() } = {},
): Promise<string> {
  const host = '127.0.0.1'
  const { port } = connector.destinationOf(source) ?? { port: 0 }
  const guard = new EgressGuard({ allowed: new AllowedDestinations([{ host, port }]) })
  const opened = connector.open({ streamId: newId<StreamId>(), source })
  const texts: string[] = []
  const poll = { position: undefined, dial: guardedDial(guard), signal, nowUs }
  for await (const { messages } of opened.poll(poll)) {
    for (const { payload } of messages) texts.push(Buffer.from(payload).toString())
  }
  return texts.join('\n')
}
