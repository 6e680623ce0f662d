import type { Socket } from 'node:net'
import type modbus from 'modbus-serial'
import type { Poll } from '../../src/contracts/poll-connector.ts'
import { race } from '../../src/core/race.ts'
import { failureOf } from './device-failures.ts'
import type { ModbusOptions } from './options.ts'
import type { PlannedRead } from './read-plan.ts'

type Client = InstanceType<typeof modbus.default>

/** An answer has up to 260 bytes (Modbus Messaging on TCP/IP V1.0b, section 4.1): who sends more was not asked. */
const answerBytesMax = 8 * 1024

interface DeviceConnectionNeeds {
  readonly socket: Socket
  readonly client: Client
  /** Time for one answer. */
  readonly timeoutMs: number
  /** Time for all answers of a round. */
  readonly roundMs: number
  readonly signal: AbortSignal
}

/**
 * A connection for one round. It ends with the first answer that is late, so that it cannot be taken for one to a later
 * request: the library has no more than 256 numbers for them.
 */
export class DeviceConnection implements Disposable {
  readonly #needs: DeviceConnectionNeeds
  readonly #ended = Promise.withResolvers<never>()
  readonly #roundTimer: NodeJS.Timeout
  #bytesBefore = 0

  static async open(
    { host, port, tls, timeoutMs }: ModbusOptions,
    { dial, signal }: Pick<Poll, 'dial' | 'signal'>,
    roundMs: number,
  ): Promise<DeviceConnection> {
    const { default: library } = await import('modbus-serial')
    const socket = await dial({ host, port, tls, signal })
    const client = new library.default()
    const connection = new DeviceConnection({ socket, client, timeoutMs, roundMs, signal })
    try {
      await client.linkTCP(socket, { port })
      return connection
    } catch (error) {
      connection[Symbol.dispose]()
      throw error
    }
  }

  private constructor(needs: DeviceConnectionNeeds) {
    this.#needs = needs
    const { socket, signal, roundMs } = needs
    // It is met where an answer is waited for; until then it is nobody's.
    this.#ended.promise.catch(() => undefined)
    socket.on('error', (error) => this.#end(error))
    socket.on('close', () => this.#end(new Error('the device has closed the connection')))
    socket.on('data', () => this.#count())
    signal.addEventListener('abort', this.#abort)
    if (signal.aborted) this.#abort()
    this.#roundTimer = setTimeout(
      () => this.#end(new Error(`the round has not ended in ${roundMs / 1_000} s`)),
      roundMs,
    )
  }

  /**
   * The bytes of the registers, or of the coils, that a request is for.
   *
   * @throws SourceRefused when the device has no such registers; any other Error when it may have them later
   */
  async read(read: PlannedRead): Promise<Buffer> {
    const { socket, timeoutMs } = this.#needs
    const seconds = timeoutMs / 1_000
    const timer = setTimeout(
      () => this.#end(new Error(`the device has not answered in ${seconds} s`)),
      timeoutMs,
    )
    this.#bytesBefore = socket.bytesRead
    try {
      const { buffer } = await race([this.#ended.promise, this.#ask(read)])
      // The library believes what an answer says about its own length.
      if (buffer.length === bytesOf(read)) return buffer
      throw new Error('the device has answered with another number of registers')
    } catch (error) {
      throw failureOf(error, read)
    } finally {
      clearTimeout(timer)
    }
  }

  [Symbol.dispose](): void {
    const { socket, signal } = this.#needs
    clearTimeout(this.#roundTimer)
    signal.removeEventListener('abort', this.#abort)
    socket.destroy()
  }

  #ask({ kind, address, count, unitId }: PlannedRead) {
    const { client } = this.#needs
    client.setID(unitId)
    switch (kind) {
      case 'coil':
        return client.readCoils(address, count)
      case 'discrete':
        return client.readDiscreteInputs(address, count)
      case 'holding':
        return client.readHoldingRegisters(address, count)
      case 'input':
        return client.readInputRegisters(address, count)
      default:
        return kind satisfies never
    }
  }

  #count(): void {
    if (this.#needs.socket.bytesRead - this.#bytesBefore <= answerBytesMax) return
    this.#end(new Error('the device sends more than it was asked for'))
  }

  readonly #abort = (): void => {
    this.#end(this.#needs.signal.reason as Error)
  }

  #end(failure: Error): void {
    this.#ended.reject(failure)
    this.#needs.socket.destroy()
  }
}

function bytesOf({ kind, count }: PlannedRead): number {
  return kind === 'coil' || kind === 'discrete' ? Math.ceil(count / 8) : count * 2
}
