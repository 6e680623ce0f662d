import { Duplex } from 'node:stream'
import type { Settled } from '../../../src/contracts/connector.ts'
import type { Place } from './admission.ts'
import { BrokerLane } from './broker-lane.ts'
import type { ClientSocket } from './client-socket.ts'
import { ClosingError, violation } from './closing.ts'
import { Deadline } from './deadline.ts'
import { packetType } from './fixed-header.ts'
import {
  type Packet,
  PacketFramer,
  type TakeFilters,
  type TakePublish,
  takePublish,
} from './framing.ts'
import type { MqttGuards } from './guards.ts'
import { InFlight } from './in-flight.ts'
import { Outgoing } from './outgoing.ts'
import type { Holder } from './shared-bytes.ts'

/** After a failure that may pass, what failed is offered again this much later. */
const retryMs = 250

/** Readings of one client that wait to be offered again, before it is read no further. */
const waitingBytesMax = 64 * 1024

/** What the broker may write before it would wait: more than any packet of ours has. */
const writeBytesMax = 8 * 1024 * 1024

export interface MqttConnectionNeeds {
  readonly socket: ClientSocket
  readonly guards: MqttGuards
  readonly place: Place
}

/**
 * Stands between a client's socket and the broker, as a stream that the broker reads and writes.
 *
 * Every packet is checked here before the broker gets it, because the broker takes what the standard
 * forbids. Readings with QoS 0 and 1, nearly all of what arrives, are taken out here and acknowledged
 * here: many acknowledgements become one write. Everything else, from CONNECT to QoS 2, goes on to
 * the broker, in turns. The keep-alive is watched here too, because the broker does not see the
 * readings.
 */
export class MqttConnection extends Duplex implements Holder {
  readonly #needs: MqttConnectionNeeds
  readonly #framer = new PacketFramer()
  #halfSentBytes = 0
  readonly #inFlight = new InFlight()
  readonly #outgoing: Outgoing
  #take: TakePublish | undefined
  #filters: TakeFilters | undefined
  /** Nothing goes on while a CONNECT, or a list of filters, is being answered. */
  #isAnswering = false
  readonly #lane: BrokerLane
  #isFlushing = false
  #retry: NodeJS.Timeout | undefined
  readonly #deadline: Deadline

  /** Set when something arrives; whoever wants to know what is new sets it back. */
  hasReceived = false

  constructor(needs: MqttConnectionNeeds) {
    // Only one write and one packet at a time is counted here; the real limits are our own.
    super({ allowHalfOpen: false, readableHighWaterMark: 1, writableHighWaterMark: writeBytesMax })
    this.#needs = needs
    const { socket, guards } = needs
    this.#outgoing = new Outgoing({
      transport: socket,
      guards,
      close: (error) => this.destroy(error),
    })
    this.#lane = new BrokerLane({
      turns: guards.turns,
      onFilters: (packet) => {
        this.#takeFilters(packet).catch((error: Error) => this.destroy(error))
      },
      push: (bytes) => this.push(bytes),
      answer: (bytes) => this.#outgoing.write(bytes),
      onConnect: (keepAliveS) => {
        this.#isAnswering = true
        this.#deadline.connected(keepAliveS)
      },
      onRefusal: (returnCode) => this.#refuse(returnCode),
      resume: this.#proceed,
    })
    this.#deadline = new Deadline({
      close: (error) => this.destroy(error),
      isDeaf: () => socket.isPaused(),
    })
    socket.on('data', (chunk: Buffer) => this.#receive(chunk))
    socket.on('drain', () => {
      this.#proceed()
      this.emit('drain')
    })
    socket.on('end', () => this.push(null))
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy())
  }

  get remoteAddress(): string | undefined {
    return this.#needs.socket.remoteAddress
  }

  /** To be called once the client is connected: until then nothing behind CONNECT is looked at. */
  open(take: TakePublish, filters: TakeFilters): void {
    this.#take = take
    this.#filters = filters
    this.#isAnswering = false
    this.#framer.expectLaterPackets()
    this.#needs.socket.allowLargePackets?.()
    this.#proceed()
  }

  /** Reads nothing more of the client for so long: TCP holds it back, and nothing is lost. */
  holdFor(ms: number): void {
    this.#retry ??= setTimeout(() => this.#offerAgain(), ms)
  }

  /** To be called when it is known whose client it is; false when its user has no place left. */
  takePlaceFor(userId: string): boolean {
    return this.#needs.place.takeFor(userId)
  }

  /** What arrived of its packet takes too much memory together with that of others. */
  giveBack(): void {
    this.destroy(new ClosingError('memory', 'half-sent packets take too much memory'))
  }

  /** Nothing waits in this stream itself: whoever has much to say waits for the socket. */
  override write(chunk: unknown, ...rest: never[]): boolean {
    return super.write(chunk, ...rest) && !this.#outgoing.isFull
  }

  override _read(): void {
    this.#lane.clear()
    // The next turn goes on: the broker calls this while it is still handling the packet before.
    setImmediate(this.#proceed)
  }

  override _write(chunk: Buffer, _: BufferEncoding, callback: () => void): void {
    this.#send(chunk)
    callback()
  }

  /** The broker writes a packet in pieces, and holds them back until it is whole. */
  override _writev(chunks: { readonly chunk: Buffer }[], callback: () => void): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)))
    callback()
  }

  override _final(callback: () => void): void {
    this.#needs.socket.end(callback)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const { socket, guards, place } = this.#needs
    if (error instanceof ClosingError) guards.countClosed(error.reason)
    this.#deadline.clear()
    clearTimeout(this.#retry)
    this.#lane.close()
    place.leave()
    guards.halfSent.hold(this, 0)
    this.#outgoing.forget()
    socket.destroy()
    callback(error)
  }

  #send(packets: Buffer): void {
    if (this.destroyed) return
    this.#needs.guards.turns.spend(1)
    this.#outgoing.write(packets)
  }

  #receive(chunk: Buffer): void {
    this.hasReceived = true
    this.#deadline.postpone()
    this.#framer.push(chunk)
    this.#proceed()
  }

  /** Hands on all complete packets, as long as there is somebody to take them. */
  readonly #proceed = (): void => {
    try {
      while (this.#mayProceed()) {
        if (this.#lane.hasNext) this.#lane.passNext()
        else {
          const packet = this.#framer.next()
          if (packet === undefined) break
          this.#route(packet)
        }
      }
    } catch (error) {
      if (!(error instanceof ClosingError)) throw error
      this.destroy(error)
      return
    }
    if (this.#mayProceed()) {
      this.#listen()
      this.#account(this.#framer.unread)
    } else {
      this.#needs.socket.pause()
      this.#account(0)
    }
  }

  #listen(): void {
    const { socket } = this.#needs
    if (!socket.isPaused()) return
    socket.resume()
    // What the client has said meanwhile is still on its way to us.
    this.#deadline.postpone()
  }

  /** Counts what is here of a packet whose rest has not arrived. */
  #account(bytes: number): void {
    if (bytes === this.#halfSentBytes) return
    this.#halfSentBytes = bytes
    this.#needs.guards.halfSent.hold(this, bytes)
  }

  #mayProceed(): boolean {
    if (this.#isAnswering || this.#lane.isBlocked) return false
    // Who sends little is read on, because there may be a PINGREQ behind its readings.
    if (this.#retry !== undefined && this.#inFlight.bytes >= waitingBytesMax) return false
    // Who does not take our acknowledgements gets no more of them.
    return !this.#outgoing.isFull && !this.#inFlight.isFull && !this.destroyed
  }

  #route(packet: Packet): void {
    const type = (packet.bytes[packet.start] as number) >> 4
    if (type === packetType.publish && this.#take !== undefined) {
      const publish = takePublish(packet, this.#needs.guards.topicNames.read)
      // Readings that wait to be offered again come first, to keep the order.
      const settled = this.#retry === undefined ? this.#settle : undefined
      if (publish !== undefined && this.#take(publish, settled)) {
        if (settled !== undefined) this.#inFlight.add(packet, publish.packetId)
        else this.#inFlight.addFailed(packet, publish.packetId)
        return
      }
    }
    this.#lane.add(packet)
  }

  /** One list of filters at a time: what comes behind it may be about them. */
  async #takeFilters(filters: Packet): Promise<void> {
    this.#isAnswering = true
    const answer = await this.#filters?.(filters)
    this.#isAnswering = false
    if (answer !== undefined && !this.destroyed) this.#outgoing.write(answer)
    this.#proceed()
  }

  #refuse(returnCode: number): void {
    this.#isAnswering = true
    // CONNACK, section 3.2: without a session.
    this.#needs.socket.end(Buffer.from([0x20, 2, 0, returnCode]), () => {
      this.destroy(violation(`a CONNECT that is answered ${returnCode}`))
    })
  }

  /**
   * One function for all readings, because they settle in order. A failure that may pass holds up
   * the client: soon it is not read, so it sends no more. Any other closes the connection without
   * acknowledgement: the client then sends again.
   */
  readonly #settle: Settled = (error) => {
    if (this.destroyed) return
    if (error === undefined) {
      this.#inFlight.finish('durable')
      this.#scheduleFlush()
    } else if (error.retryable) {
      this.#inFlight.finish('failed')
      this.#retry ??= setTimeout(() => this.#offerAgain(), retryMs)
    } else this.destroy(error)
  }

  #offerAgain(): void {
    this.#retry = undefined
    for (const packet of this.#inFlight.takeFailed()) {
      const publish = takePublish(packet, this.#needs.guards.topicNames.read)
      if (publish !== undefined) this.#take?.(publish, this.#settle)
    }
    this.#proceed()
  }

  /** A commit settles many readings in one go: what it says to one client becomes one write. */
  #scheduleFlush(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    process.nextTick(() => {
      this.#isFlushing = false
      this.#acknowledge()
      this.#proceed()
    })
  }

  #acknowledge(): void {
    const { socket } = this.#needs
    const acknowledgements = this.#inFlight.takeAcknowledgements()
    if (acknowledgements !== undefined && !this.destroyed) socket.write(acknowledgements)
  }
}
