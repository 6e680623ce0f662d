import { publishOf } from './killed-broker.ts'
import { packetTypes } from './mqtt-bytes.ts'
import {
  answerPacket,
  connectPacket,
  type MqttPacket,
  packetIdOf,
  RawMqttConnection,
  subscribePacket,
} from './mqtt-packets.ts'

/** A client with a session, which it keeps on its own side, too: as section 4.3 asks of it. */
export class SessionSubscriber {
  readonly clientId: string
  /** What it has handed on to its application, in order. */
  readonly delivered: string[] = []
  /** Packet ids of QoS 2 that it has received and that were not released. */
  readonly #received = new Set<number>()
  #connection: RawMqttConnection | undefined

  constructor(clientId: string) {
    this.clientId = clientId
  }

  /** @param isSilent it takes what comes, and never says so */
  async connect(port: number, { isSilent = false } = {}): Promise<void> {
    this.disconnect()
    const connection = await RawMqttConnection.open(port)
    this.#connection = connection
    connection.send(connectPacket({ clientId: this.clientId, isClean: false }))
    await connection.next()
    if (!isSilent) void this.#listen(connection)
  }

  async subscribe(port: number, filter: string, qos: number): Promise<void> {
    await this.connect(port, { isSilent: true })
    this.#connection?.send(subscribePacket(1, filter, qos))
    // What waited may come before.
    for (;;) {
      const [packet] = (await this.#connection?.next()) ?? []
      if (packet === undefined || packet.type === packetTypes.suback) break
    }
    this.disconnect()
  }

  disconnect(): void {
    this.#connection?.destroy()
    this.#connection = undefined
  }

  async #listen(connection: RawMqttConnection): Promise<void> {
    for (;;) {
      const [packet] = await connection.next().catch(() => [])
      if (packet === undefined || this.#connection !== connection) return
      this.#answer(connection, packet)
    }
  }

  #answer(connection: RawMqttConnection, packet: MqttPacket): void {
    if (packet.type === packetTypes.pubrel) {
      this.#received.delete(packetIdOf(packet))
      connection.send(answerPacket('pubcomp', packetIdOf(packet)))
      return
    }
    const { payload, packetId, qos } = publishOf(packet)
    const isRepeated = qos === 2 && this.#received.has(packetId)
    if (!isRepeated) this.delivered.push(payload)
    if (qos === 2) this.#received.add(packetId)
    connection.send(answerPacket(qos === 2 ? 'pubrec' : 'puback', packetId))
  }
}
