import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { generate, type NamedOption, type Packet, type ParsedPacket, parse } from 'coap-packet'

type Answer = (request: ParsedPacket, device: RawCoapDevice) => void

/** A device that does whatever a test wants it to: it speaks no CoAP of its own. */
export class RawCoapDevice implements AsyncDisposable {
  readonly #socket = createSocket('udp4')
  readonly #answer: Answer
  #observerPort = 0
  /** All that was sent to it, in its order. */
  readonly heard: ParsedPacket[] = []

  static async start(answer: Answer): Promise<RawCoapDevice> {
    const device = new RawCoapDevice(answer)
    device.#socket.bind(0, '127.0.0.1')
    await once(device.#socket, 'listening')
    return device
  }

  private constructor(answer: Answer) {
    this.#answer = answer
    this.#socket.on('message', (datagram, { port }) => {
      const packet = parse(datagram)
      this.#observerPort = port
      this.heard.push(packet)
      if (packet.code === '0.01') this.#answer(packet, this)
    })
  }

  get port(): number {
    return this.#socket.address().port
  }

  get source() {
    return { protocol: 'coap', endpoint: `coap://127.0.0.1:${this.port}/plant/boiler` }
  }

  send(packet: Packet): void {
    this.sendBytes(generate(packet))
  }

  sendBytes(datagram: Buffer): void {
    this.#socket.send(datagram, this.#observerPort, '127.0.0.1')
  }

  /** Message ids that were acknowledged, and those that were sent back. */
  get settled() {
    const ids = (kind: 'ack' | 'reset') =>
      this.heard.flatMap((packet) => (packet[kind] ? [packet.messageId] : []))
    return { acknowledged: ids('ack'), sentBack: ids('reset') }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close()
  }
}

/** An option that holds an unsigned integer. */
export function numberOption(name: NamedOption['name'], value: number): NamedOption {
  const digits = value === 0 ? '' : value.toString(16)
  return {
    name,
    value: Buffer.from(digits.padStart(digits.length + (digits.length % 2), '0'), 'hex'),
  }
}

export function optionsOf({ options }: ParsedPacket, name: string): readonly string[] {
  return options.flatMap((option) => (option.name === name ? [option.value.toString()] : []))
}
