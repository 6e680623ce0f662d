import { once } from 'node:events'
import { isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import {
  type DialedTls,
  type FetchRun,
  SourceRefused,
} from '../../src/contracts/fetch-connector.ts'
import { race } from '../../src/core/race.ts'
import { readInfo, ServerFault, type ServerGreeting } from './frames.ts'
import type { NatsOptions } from './options.ts'

/** Time for a server to say what it is, and for the TLS handshake after that. */
const greetingMs = 10_000

/** Bytes that a server may say before it is known to be one. */
const greetingBytesMax = 64 * 1024

/** A connection that nothing was said over yet, but by the server. */
export interface OpenedSocket {
  readonly socket: Socket
  /** What the server has said: the library has yet to read it. */
  readonly said: Buffer
}

/**
 * Connects, with TLS or not. A server says in plain text what it is, and then TLS begins (protocol of clients, INFO),
 * or TLS begins at once, where it is set up so.
 *
 * @throws SourceRefused when one wants TLS and the other has none
 */
export async function openSocket(
  options: NatsOptions,
  { dial, signal }: Pick<FetchRun, 'dial' | 'signal'>,
): Promise<OpenedSocket> {
  const { host, port, tls, isTlsFirst } = options
  if (isTlsFirst) {
    return { socket: await dial({ host, port, tls, signal }), said: Buffer.alloc(0) }
  }
  const socket = await dial({ host, port, signal })
  // Listeners that come later learn of the failure by the end of the socket.
  socket.on('error', () => undefined)
  const patience = AbortSignal.any([signal, AbortSignal.timeout(greetingMs)])
  try {
    const { said, greeting } = await greeted(socket, patience)
    assertTls(greeting, tls)
    if (tls === undefined) return { socket, said }
    const secured = secure(socket, host, tls)
    await once(secured, 'secureConnect', { signal: patience })
    return { socket: secured, said }
  } catch (error) {
    socket.destroy()
    if (signal.aborted || (error as Error).name !== 'AbortError') throw error
    throw new Error('the server has not greeted us in time', { cause: error })
  }
}

async function greeted(socket: Socket, signal: AbortSignal) {
  let said = Buffer.alloc(0)
  for (;;) {
    const [chunk] = (await race([
      once(socket, 'data', { signal }),
      once(socket, 'close', { signal }),
    ])) as [Buffer | boolean]
    if (!Buffer.isBuffer(chunk)) throw new Error('the server has closed the connection')
    // What comes next is for somebody else.
    socket.pause()
    said = Buffer.concat([said, chunk])
    const end = said.indexOf('\r\n')
    if (end >= 0) {
      const greeting = readInfo(said.toString('latin1', 0, end))
      // Bytes behind the greeting, before TLS, could be of anybody.
      if (end + 2 < said.length) throw new ServerFault('the server has sent more than a greeting')
      return { said, greeting }
    }
    if (said.length > greetingBytesMax) throw new ServerFault('the server does not speak NATS')
    socket.resume()
  }
}

function assertTls(greeting: ServerGreeting, tls: DialedTls | undefined): void {
  const hasTls = greeting.tls_required === true || greeting.tls_available === true
  if (tls !== undefined && !hasTls)
    throw new SourceRefused('the server has no TLS: tls:// is asked for')
  if (tls === undefined && greeting.tls_required === true) {
    throw new SourceRefused('the server wants TLS: the endpoint must begin with tls://')
  }
}

function secure(socket: Socket, host: string, { ca, cert, key, servername }: DialedTls): Socket {
  const secured = connectTls({
    socket,
    // Whom the certificate has to name.
    host,
    // A name for the server to choose by: an address is none (RFC 6066, section 3).
    servername: servername ?? (isIP(host) === 0 ? host : ''),
    minVersion: 'TLSv1.2',
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  })
  secured.on('error', () => undefined)
  return secured
}
