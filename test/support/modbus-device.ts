import { once } from 'node:events'
import { ServerTCP } from 'modbus-serial'
import { modbusPoll } from '../../connectors/modbus/modbus-poll.ts'
import { freePort } from '../../scripts/servers/free-port.ts'
import { systemClock } from '../../src/core/clock.ts'
import { newId, type StreamId } from '../../src/core/ids.ts'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'

type Json = Readonly<Record<string, unknown>>

type Table = 'coil' | 'discrete' | 'holding' | 'input'

/** A device of Modbus over TCP with the registers that it is given, as the library's own server. */
export class ModbusDevice implements AsyncDisposable {
  readonly port: number
  readonly #values = new Map<string, number>()
  #server: ServerTCP | undefined
  /** What was asked for, such as `holding 100 of 1`. */
  readonly asked: string[] = []
  /** Most connections that there were while it was asked. */
  connectionsMax = 0
  /** The exception that whatever is asked for is answered with. */
  exception: number | undefined

  static async start(): Promise<ModbusDevice> {
    const device = new ModbusDevice(await freePort())
    await device.start()
    return device
  }

  private constructor(port: number) {
    this.port = port
  }

  get endpoint(): string {
    return `modbus://127.0.0.1:${this.port}`
  }

  get connections(): number {
    return this.#server?.socks.size ?? 0
  }

  async start(): Promise<void> {
    const vector = {
      getCoil: (address: number, unit: number) => this.#read('coil', address, unit) === 1,
      getDiscreteInput: (address: number, unit: number) =>
        this.#read('discrete', address, unit) === 1,
      getHoldingRegister: (address: number, unit: number) => this.#read('holding', address, unit),
      getInputRegister: (address: number, unit: number) => this.#read('input', address, unit),
    }
    this.#server = new ServerTCP(vector, { host: '127.0.0.1', port: this.port })
    await once(this.#server, 'initialized')
  }

  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()))
  }

  set(table: Table, address: number, values: readonly number[], unit = 1): void {
    for (const [index, value] of values.entries()) {
      this.#values.set(`${table} ${address + index} of ${unit}`, value)
    }
  }

  #read(table: Table, address: number, unit: number): number {
    const place = `${table} ${address} of ${unit}`
    this.asked.push(place)
    this.connectionsMax = Math.max(this.connectionsMax, this.connections)
    const value = this.#values.get(place)
    if (this.exception === undefined && value !== undefined) return value
    throw Object.assign(new Error(place), { modbusErrorCode: this.exception ?? 2 })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}

const nowUs = () => systemClock.nowUs()

/** Asks once, and gives the payload of what comes. */
export async function pollOnce(
  source: Json,
  { signal = new AbortController().signal, connector = modbusPoll() } = {},
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
