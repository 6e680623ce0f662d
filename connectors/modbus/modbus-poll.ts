import { isOfKind } from '../../src/contracts/definitions/source-kind.ts'
import type {
  FetchedPage,
  Poll,
  PollConnector,
  PolledSource,
} from '../../src/contracts/poll-connector.ts'
import { DeviceConnection } from './device-connection.ts'
import { DeviceTurns } from './device-turns.ts'
import { destinationOf, type ModbusOptions, modbusOptions, type RegisterItem } from './options.ts'
import { type PlannedRead, planReads } from './read-plan.ts'
import { valueIn } from './register-values.ts'
import { modbusSource } from './source.ts'

/** A round that takes longer is given up: others wait for the device meanwhile. */
const standardRoundMs = 120_000

/** Readings of registers: the state of a device, each time that it is asked. */
export function modbusPoll({ roundMs = standardRoundMs } = {}): PollConnector {
  const visits = { turns: new DeviceTurns(), roundMs }
  return {
    takes: (source) => isOfKind(modbusSource, source),
    destinationOf,
    open: ({ source }) => new PolledRegisters(modbusOptions(source), visits),
  }
}

/** How devices are called on. */
interface Visits {
  readonly turns: DeviceTurns
  readonly roundMs: number
}

class PolledRegisters implements PolledSource {
  readonly identity: string
  readonly #options: ModbusOptions
  readonly #visits: Visits
  readonly #reads: readonly PlannedRead[]

  constructor(options: ModbusOptions, visits: Visits) {
    const { host, port, items, gapMax } = options
    this.identity = `${host}:${port}`
    this.#options = options
    this.#visits = visits
    this.#reads = planReads(items, gapMax)
  }

  /** A device has no past: a round that has failed gives the state that there is when it is done again. */
  async *poll(poll: Poll): AsyncGenerator<FetchedPage, void> {
    const payload = await this.#read(poll)
    const messages = payload === undefined ? [] : [{ payload, source: `modbus ${this.identity}` }]
    yield { messages, position: undefined }
  }

  /** Nothing where every register says that there is no value. */
  async #read(poll: Poll): Promise<Buffer | undefined> {
    const { turns, roundMs } = this.#visits
    using _ = await turns.take(this.identity, poll.signal)
    using connection = await DeviceConnection.open(this.#options, poll, roundMs)
    const values = new Map<string, string>()
    for (const read of this.#reads) {
      const bytes = await connection.read(read)
      for (const item of read.items) {
        const value = valueIn(bytes, read, item)
        if (value !== undefined) values.set(item.field, value)
      }
    }
    const { items } = this.#options
    const isEmpty = values.size === 0 && items.some(({ format }) => format.missing.size > 0)
    return isEmpty ? undefined : asJson(items, values)
  }
}

/**
 * Writes the values in the order in which their fields are defined. What has no value is left out.
 */
function asJson(items: readonly RegisterItem[], values: ReadonlyMap<string, string>): Buffer {
  const members = items.flatMap(({ field }) => {
    const value = values.get(field)
    return value === undefined ? [] : [`${JSON.stringify(field)}:${value}`]
  })
  return Buffer.from(`{${members.join(',')}}`)
}
