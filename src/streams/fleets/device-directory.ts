import { deviceNameProblem } from '../../core/device-names.ts'
import { DomainError } from '../../core/errors.ts'
import type { FleetId } from '../../core/ids.ts'
import { LruMap } from '../../core/lru-map.ts'
import type { FleetPlace } from '../data-streams/data-stream-store.ts'
import { type DeviceRoute, type NewStreams, newStreamsMax } from './new-streams.ts'

/** Devices whose stream is at hand; another one costs one read of the state. */
const devicesMax = 100_000

/** Devices that wait for their stream. Beyond, messages of others are offered again later. */
const waitingMax = 20_000

/** As many more for fleets of which less than a portion waits: the crowd of one fleet does not keep out the others. */
const reservedMax = 20_000

/** A device that is looked up, or whose stream is made. */
interface Waiting {
  readonly promise: Promise<DeviceRoute>
  readonly resolve: (route: DeviceRoute) => void
  readonly reject: (error: unknown) => void
}

/**
 * Where the messages of devices go. The first message of a new device waits here until its stream is committed: what
 * goes to the journal then is an ordinary entry of an ordinary stream, and a crash before that leaves no more than a
 * stream that has no readings yet. Devices that come at once have their streams made by one transaction.
 */
export class DeviceDirectory {
  readonly #newStreams: Pick<NewStreams, 'known' | 'make'>
  readonly #routes = new LruMap<string, DeviceRoute>(devicesMax)
  readonly #waiting = new Map<FleetId, Map<string, Waiting>>()
  #waitingCount = 0
  /** Grows with each `forget`: what was read before it may be outdated. */
  #forgotten = 0
  /** Messages that were not taken, by the reason. */
  readonly refusals = { denied: 0, full: 0 }

  constructor(newStreams: Pick<NewStreams, 'known' | 'make'>) {
    this.#newStreams = newStreams
  }

  get size(): number {
    return this.#routes.size
  }

  /** Devices that wait for their stream. */
  get waiting(): number {
    return this.#waitingCount
  }

  /** The route of a device if it is at hand. */
  cached(fleetId: FleetId, device: string): DeviceRoute | undefined {
    return this.#routes.get(keyOf(fleetId, device))
  }

  /**
   * The route of a device.
   *
   * @param mayMake whether a new device gets its stream: otherwise it is `unknown`, as is a name that no device can have
   * @throws DomainError `overloaded` when too many devices wait
   */
  async find(fleetId: FleetId, device: string, mayMake: boolean): Promise<DeviceRoute> {
    const known = this.cached(fleetId, device)
    const route = known ?? (await this.#find(fleetId, device, mayMake))
    if (route.problem !== undefined) this.refused(route.problem)
    return route
  }

  /** To be called for each message that is not taken although the route of its device was at hand. */
  refused(problem: string): void {
    if (problem === 'denied' || problem === 'full') this.refusals[problem]++
  }

  async #find(fleetId: FleetId, device: string, mayMake: boolean): Promise<DeviceRoute> {
    // The name would be a tag of the stream, and part of addresses.
    if (deviceNameProblem(device) !== undefined) return { problem: 'unknown' }
    if (mayMake) return await this.#made(fleetId, device)
    const before = this.#forgotten
    const found = (await this.#newStreams.known(fleetId, [device])).get(device)
    if (found && before === this.#forgotten) this.#routes.set(keyOf(fleetId, device), found)
    return found ?? { problem: 'unknown' }
  }

  /** To be called once something has happened to a device, or its stream, before it is answered. */
  forget({ fleetId, device }: FleetPlace): void {
    this.#forgotten++
    this.#routes.delete(keyOf(fleetId, device))
  }

  async #made(fleetId: FleetId, device: string): Promise<DeviceRoute> {
    let devices = this.#waiting.get(fleetId)
    const known = devices?.get(device)
    if (known) return await known.promise
    this.#assertRoom(devices?.size ?? 0)
    const waiting = Promise.withResolvers<DeviceRoute>()
    this.#waitingCount++
    if (devices === undefined) {
      devices = new Map()
      this.#waiting.set(fleetId, devices)
      devices.set(device, waiting)
      void this.#work(fleetId, devices)
    } else devices.set(device, waiting)
    return await waiting.promise
  }

  /**
   * @param ofFleet devices of the fleet that wait
   * @throws DomainError `overloaded`
   */
  #assertRoom(ofFleet: number): void {
    const waiting = this.#waitingCount
    if (waiting < waitingMax) return
    if (ofFleet < newStreamsMax && waiting < waitingMax + reservedMax) return
    throw new DomainError('overloaded', `${waiting} devices wait for their streams`, {
      retryAfter: 1,
    })
  }

  /** Makes streams as long as devices wait, in the order of their first messages. */
  async #work(fleetId: FleetId, devices: Map<string, Waiting>): Promise<void> {
    while (devices.size > 0) {
      // What arrives in the same turn of the event loop belongs to the first transaction.
      await Promise.resolve()
      // Not all of them are copied for each portion: there may be many thousand.
      const some = [...devices.entries().take(newStreamsMax)]
      const before = this.#forgotten
      try {
        const names = some.map(([name]) => name)
        const routes = await this.#newStreams.make(fleetId, names)
        for (const [name, { resolve }] of some) {
          const route = routes.get(name) ?? { problem: 'unknown' }
          if (before === this.#forgotten) this.#keep(fleetId, name, route)
          this.#leave(devices, name)
          resolve(route)
        }
      } catch (error) {
        for (const [name, { reject }] of some) {
          this.#leave(devices, name)
          reject(error)
        }
      }
    }
    this.#waiting.delete(fleetId)
  }

  /** There may be room, and a fleet, at the next message. */
  #keep(fleetId: FleetId, device: string, route: DeviceRoute): void {
    if (route.problem === undefined || route.problem === 'denied') {
      this.#routes.set(keyOf(fleetId, device), route)
    }
  }

  #leave(devices: Map<string, Waiting>, name: string): void {
    if (devices.delete(name)) this.#waitingCount--
  }
}

function keyOf(fleetId: FleetId, device: string): string {
  return `${fleetId} ${device}`
}
