import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import type { Dial, DialedTls } from '../../src/contracts/fetch-connector.ts'

/** Ports where an endpoint names none. */
const standardPorts: Readonly<Record<string, number>> = {
  'mqtt:': 1883,
  'mqtts:': 8883,
  'ws:': 80,
  'wss:': 443,
}

/** Larger frames of a WebSocket are not taken: a packet and a little more. */
const frameBytesMax = 5 * 1024 * 1024

/** Time for the answer to the upgrade of a WebSocket. */
const upgradeMs = 10_000

export interface MqttEndpoint {
  readonly protocol: string
  readonly host: string
  readonly port: number
  /** Path of a WebSocket. */
  readonly path: string
}

/** @throws Error when the text is no URL of these protocols */
export function parseMqttEndpoint(text: string): MqttEndpoint {
  const { protocol, hostname, port, pathname, search } = new URL(text)
  const standard = standardPorts[protocol]
  if (standard === undefined) throw new Error(`${protocol} is not a protocol of MQTT`)
  return {
    protocol,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? standard : Number(port),
    path: `${pathname}${search}`,
  }
}

/** Opens what MQTT is spoken over: a connection, with TLS or not, or a WebSocket in it. */
export async function openMqttTransport(
  { protocol, host, port, path }: MqttEndpoint,
  { dial, tls, signal }: { dial: Dial; tls: DialedTls; signal: AbortSignal },
): Promise<Duplex> {
  const isSecure = protocol === 'mqtts:' || protocol === 'wss:'
  const call = { host, port, tls: isSecure ? tls : undefined, signal }
  if (protocol === 'mqtt:' || protocol === 'mqtts:') return await dial(call)
  // The library is loaded before there is a connection, which could break meanwhile.
  const { WebSocket, createWebSocketStream } = await import('ws')
  const socket = await dial(call)
  const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`
  // TLS, where there is any, was done when the connection was made.
  const webSocket = new WebSocket(`ws://${authority}${path === '' ? '/' : path}`, 'mqtt', {
    createConnection: () => socket,
    handshakeTimeout: upgradeMs,
    maxPayload: frameBytesMax,
    perMessageDeflate: false,
  })
  // There may be more than one. What was sent right behind the answer is read once there is somebody to read it.
  webSocket.on('error', () => undefined)
  webSocket.once('open', () => webSocket.pause())
  const abort = () => webSocket.terminate()
  signal.addEventListener('abort', abort)
  try {
    await once(webSocket, 'open')
  } finally {
    signal.removeEventListener('abort', abort)
  }
  return createWebSocketStream(webSocket)
}
