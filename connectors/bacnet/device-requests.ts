import { randomInt } from 'node:crypto'
import type { Socket } from 'node:dgram'
import type { ObjectType, PropertyIdentifier } from '@bacnet-js/client'
import { race } from '../../src/core/race.ts'
import { DeviceError, DeviceRefusal } from './device-failures.ts'
import { GuardedTransport, theDevice } from './guarded-transport.ts'
import type { Library } from './library.ts'
import type { ApplicationValue } from './object-values.ts'

type Client = InstanceType<Library['default']>

/** A request and two repetitions: a datagram may be lost (Number_Of_APDU_Retries, clause 12.11.29). */
const attempts = 3

/** Ids go from 1 to 255: an id is an octet, and the library takes 0 for none. */
const invokeIds = 255

/** Services that are asked for (ANSI/ASHRAE 135, clause 21), and the tag that their answers have values in. */
const readProperty = { service: 12, valueTag: 3 } as const
const readPropertyMultiple = { service: 14, valueTag: 4 } as const

/** A property of an object, by its numbers. */
export interface ObjectProperty {
  readonly type: ObjectType
  readonly instance: number
  readonly property: PropertyIdentifier
}

interface Needs {
  readonly library: Library
  /** Socket that is connected to the device. */
  readonly socket: Socket
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

/** What a request tells the library, so that what comes back can be known. */
interface Sent {
  readonly invokeId: number
}

/** Requests to one device, one after the other. */
export class DeviceRequests {
  readonly #needs: Needs
  #invokeId = randomInt(invokeIds)

  constructor(needs: Needs) {
    this.#needs = needs
  }

  /** @throws DeviceError, DeviceRefusal; any other Error when no answer comes */
  async one({ type, instance, property }: ObjectProperty): Promise<readonly ApplicationValue[]> {
    const asked = { type, instance }
    const answer = await this.#ask(readProperty, (client, sent) =>
      client.readProperty(theDevice, asked, property, sent),
    )
    const { objectId, property: given, values } = answer
    if (keyOf({ ...objectId, property: given.id }) === keyOf({ ...asked, property })) return values
    throw new Error('the device has answered what it was not asked')
  }

  /**
   * The values of each, or a DeviceError in their place, in the order in which they were asked for.
   *
   * @throws DeviceError, DeviceRefusal; any other Error when no answer comes
   */
  async many(
    asked: readonly ObjectProperty[],
  ): Promise<readonly (readonly ApplicationValue[] | DeviceError)[]> {
    const list = asked.map(({ type, instance, property }) => ({
      objectId: { type, instance },
      properties: [{ id: property, index: this.#needs.library.ASN1_ARRAY_ALL }],
    }))
    const { values } = await this.#ask(readPropertyMultiple, (client, sent) =>
      client.readPropertyMultiple(theDevice, list, sent),
    )
    const given = new Map<string, readonly ApplicationValue[]>()
    for (const { objectId, values: ofObject } of values) {
      for (const { id, value } of ofObject) given.set(keyOf({ ...objectId, property: id }), value)
    }
    return asked.map((item) => {
      const value = given.get(keyOf(item))
      if (value === undefined) throw new Error('the device has not answered all that it was asked')
      return errorIn(value) ?? value
    })
  }

  /**
   * Asks with a client of its own: an answer that was not complete leaves the library with half of
   * it.
   */
  async #ask<Answer>(
    kind: typeof readProperty | typeof readPropertyMultiple,
    ask: (client: Client, sent: Sent) => Promise<Answer>,
  ): Promise<Answer> {
    let hasDropped = false
    for (let attempt = 0; attempt < attempts; attempt++) {
      const invokeId = this.#nextInvokeId()
      const transport = new GuardedTransport(this.#needs.socket, { invokeId, ...kind })
      const answer = await this.#within(transport, (client) => ask(client, { invokeId }))
      if (answer !== undefined) return answer
      hasDropped ||= transport.hasDropped
    }
    const seconds = this.#needs.timeoutMs / 1_000
    const what = hasDropped ? 'answered in a way that can be understood' : 'answered'
    throw new Error(`the device has not ${what} in ${seconds} s, ${attempts} times`)
  }

  /** Gives an id that is none of the last ones: what comes late would be taken for the answer. */
  #nextInvokeId(): number {
    this.#invokeId = (this.#invokeId % invokeIds) + 1
    return this.#invokeId
  }

  /** Undefined: there was no answer in time. */
  async #within<Answer>(
    transport: GuardedTransport,
    ask: (client: Client) => Promise<Answer>,
  ): Promise<Answer | undefined> {
    const { library, socket, timeoutMs, signal } = this.#needs
    signal.throwIfAborted()
    const client = new library.default({ transport, apduTimeout: timeoutMs * 2 })
    const ended = Promise.withResolvers<undefined>()
    const abort = () => ended.reject(signal.reason)
    const timer = setTimeout(() => ended.resolve(undefined), timeoutMs)
    signal.addEventListener('abort', abort)
    socket.on('error', ended.reject)
    try {
      return await race([ended.promise, ask(client)])
    } catch (error) {
      throw refusalOf(error, transport)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      socket.off('error', ended.reject)
      client.close()
    }
  }
}

function keyOf({ type, instance, property }: ObjectProperty): string {
  return `${type}:${instance}:${property}`
}

/** The library has errors in the place of values as values of a kind of their own. */
function errorIn([first]: readonly ApplicationValue[]): DeviceError | undefined {
  const { errorClass, errorCode } = (first?.value ?? {}) as Partial<DeviceError>
  if (errorClass === undefined || errorCode === undefined) return undefined
  return new DeviceError(errorClass, errorCode)
}

/** The library tells what the device has said in the texts of its errors. */
function refusalOf(error: unknown, { refusal }: GuardedTransport): unknown {
  const { message = '' } = error as Partial<Error>
  const [, errorClass, code] = /^BacnetError - Class:(\d+) - Code:(\d+)$/.exec(message) ?? []
  if (code !== undefined) return new DeviceError(Number(errorClass), Number(code))
  const [, reason] = /^BacnetAbort - Reason:(\d+)$/.exec(message) ?? []
  if (reason !== undefined) return new DeviceRefusal(refusal ?? 'abort', Number(reason))
  return error
}
