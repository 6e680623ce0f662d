import { createSocket, type Socket as DatagramSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Dial, DialedTls } from '../contracts/fetch-connector.ts'
import { race } from '../core/race.ts'
import type { Destination } from './allowed-destinations.ts'
import type { EgressGuard } from './egress-guard.ts'
import { unresolved } from './unresolved.ts'

/** Time for a connection to one address, and for the TLS handshake over it. */
const connectMs = 10_000

/** A connection without a word is probed, so that one that has died is found out. */
const probeMs = 30_000

/** Connects to the very addresses that the guard has checked, one after the other. */
export function guardedDial(guard: EgressGuard): Dial {
  const dial = async ({ tls, ...call }: Call) =>
    await firstOf(guard, call, (address) => connectTo(address, { ...call, tls }))
  const datagrams = async (call: Call) =>
    await firstOf(guard, call, (address) => datagramsTo(address, call))
  return Object.assign(dial, { datagrams })
}

async function firstOf<Opened>(
  guard: EgressGuard,
  { host, port, signal }: Call,
  open: (address: string) => Promise<Opened>,
): Promise<Opened> {
  const addresses = await unlessAborted(guard.addressesOf({ host, port }), signal)
  let failure = unresolved(host)
  for (const address of addresses) {
    signal.throwIfAborted()
    try {
      return await open(address)
    } catch (error) {
      failure = error as Error
    }
  }
  throw failure
}

/** Name servers may be silent for long, and whoever has given up does not wait for them. */
async function unlessAborted<Value>(value: Promise<Value>, signal: AbortSignal): Promise<Value> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    return await race([value, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

interface Call extends Destination {
  readonly tls?: DialedTls | undefined
  readonly signal: AbortSignal
}

async function connectTo(address: string, { host, port, tls, signal }: Call): Promise<Socket> {
  const socket = heard(connect({ host: address, port, noDelay: true, keepAlive: true }))
  socket.setKeepAlive(true, probeMs)
  try {
    await established(socket, 'connect', signal)
    if (tls === undefined) return socket
    const { ca, cert, key } = tls
    const secured = connectTls({
      socket,
      host,
      // A name for the server to choose by: an address is none (RFC 6066, section 3).
      servername: tls.servername ?? (isIP(host) === 0 ? host : ''),
      minVersion: 'TLSv1.2',
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
    })
    heard(secured)
    await established(secured, 'secureConnect', signal)
    return secured
  } catch (error) {
    socket.destroy()
    throw error
  }
}

/** The first address that there is a way to: whether anybody is there is not known before it has answered. */
async function datagramsTo(address: string, { port, signal }: Call): Promise<DatagramSocket> {
  const socket = heard(createSocket(isIP(address) === 6 ? 'udp6' : 'udp4'))
  try {
    socket.connect(port, address)
    await once(socket, 'connect', { signal })
    return socket
  } catch (error) {
    socket.close()
    throw error
  }
}

/**
 * Hears errors of a connection that nobody listens to yet. The one who asked for it does as soon
 * as they have it, which may be a while after it was made: it may break in between, and an error
 * that nobody listens to ends the process.
 */
function heard<Opened extends Socket | DatagramSocket>(socket: Opened): Opened {
  socket.on('error', () => undefined)
  return socket
}

async function established(socket: Socket, event: string, signal: AbortSignal): Promise<void> {
  const patience = AbortSignal.timeout(connectMs)
  try {
    await once(socket, event, { signal: AbortSignal.any([signal, patience]) })
  } catch (error) {
    socket.destroy()
    if (!patience.aborted) throw error
    throw new Error('the connection was not established in time', { cause: error })
  }
}
