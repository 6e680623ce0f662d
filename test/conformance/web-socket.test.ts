import { once } from 'node:events'
import { afterAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import {
  disconnectPacket,
  pingreqPacket,
  publishPacket,
  subscribePacket,
} from '../support/raw-mqtt.ts'
import { PacketReader, type ServerPacket } from '../support/raw-mqtt-reader.ts'
import { testedBroker } from './tested-broker.ts'

const broker = testedBroker()

/** How long packets may take on a busy machine. */
const patienceMs = 60_000
const sockets: WebSocket[] = []

afterAll(() => {
  for (const socket of sockets) socket.terminate()
})

/** An open socket that offers these sub-protocols. */
async function open(...protocols: string[]): Promise<WebSocket> {
  const url = `${broker.service.process.http.replace(/^http/, 'ws')}/mqtt`
  const socket = new WebSocket(url, protocols)
  sockets.push(socket)
  await once(socket, 'open')
  return socket
}

/** The packets that come in binary frames, in whatever frames they come. */
async function take(socket: WebSocket, count: number): Promise<ServerPacket[]> {
  const reader = new PacketReader()
  const packets: ServerPacket[] = []
  await new Promise<void>((resolve, reject) => {
    const end = () => reject(new Error('the server has closed the socket'))
    const late = () => reject(new Error(`${packets.length} of ${count} packets have come`))
    AbortSignal.timeout(patienceMs).addEventListener('abort', late)
    socket.once('close', end)
    socket.on('message', function read(data: Buffer, isBinary: boolean) {
      if (!isBinary) reject(new Error('a text frame'))
      packets.push(...reader.push(data))
      if (packets.length < count) return
      socket.off('close', end)
      socket.off('message', read)
      resolve()
    })
  })
  return packets
}

const connack = { type: 'connack', sessionPresent: false, returnCode: 0 }

describe('MQTT over a WebSocket', () => {
  test('[MQTT-6.0.0-4] has the sub-protocol mqtt, whatever else is offered', async () => {
    expect((await open('mqtt')).protocol).toBe('mqtt')
    expect((await open('chat', 'mqtt')).protocol).toBe('mqtt')
  })

  test('[MQTT-6.0.0-1] comes in binary frames', async () => {
    const socket = await open('mqtt')

    socket.send(broker.connectPacket())

    expect(await take(socket, 1)).toEqual([connack])
  })

  test('[MQTT-6.0.0-1] in a text frame closes the connection', async () => {
    const socket = await open('mqtt')
    const answered = take(socket, 1)
    socket.send(broker.connectPacket())
    await answered
    const closed = once(socket, 'close')

    socket.send(pingreqPacket.toString())

    await closed
  })

  test('[MQTT-6.0.0-2] may have several packets in one frame', async () => {
    const socket = await open('mqtt')
    const topic = broker.newRoot()
    const answers = take(socket, 4)

    socket.send(
      Buffer.concat([
        broker.connectPacket(),
        subscribePacket(1, [topic, 0]),
        publishPacket({ topic, payload: 'x' }),
        pingreqPacket,
      ]),
    )

    const [first, ...others] = await answers
    expect(first).toEqual(connack)
    expect(new Set(others.map(({ type }) => type))).toEqual(
      new Set(['suback', 'publish', 'pingresp']),
    )
  })

  test.each([1, 3, 7])(
    '[MQTT-6.0.0-2] may have its packets in frames of %i bytes, which end anywhere',
    async (size) => {
      const socket = await open('mqtt')
      const topic = broker.newRoot()
      const bytes = Buffer.concat([
        broker.connectPacket(),
        subscribePacket(1, [topic, 0]),
        publishPacket({ topic, payload: 'x'.repeat(300) }),
      ])
      const answers = take(socket, 3)

      for (let at = 0; at < bytes.length; at += size) socket.send(bytes.subarray(at, at + size))

      const packets = await answers
      expect(packets.map(({ type }) => type)).toEqual(['connack', 'suback', 'publish'])
    },
  )

  test('[MQTT-6.0.0-2] may have a frame without bytes', async () => {
    const socket = await open('mqtt')
    const answers = take(socket, 2)

    socket.send(Buffer.alloc(0))
    socket.send(broker.connectPacket())
    socket.send(Buffer.alloc(0))
    socket.send(pingreqPacket)

    expect(await answers).toEqual([connack, { type: 'pingresp' }])
  })

  test('[MQTT-6.0.0-2] ends with DISCONNECT like over TCP', async () => {
    const socket = await open('mqtt')
    const closed = once(socket, 'close')

    socket.send(Buffer.concat([broker.connectPacket(), disconnectPacket]))

    await closed
  })
})
