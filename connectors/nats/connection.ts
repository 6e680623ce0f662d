import type { Authenticator, NatsConnection } from '@nats-io/transport-node'
import { type FetchRun, SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { keepByteOrderMarksOfNats } from '../byte-order-marks.ts'
import type { NatsOptions } from './options.ts'
import { openSocket } from './socket.ts'
import type { NatsCredentials } from './source.ts'
import { type OpenedOptions, OpenedTransport } from './transport.ts'

/** Time for a server to let us in. */
const answerMs = 15_000

/** A server that does not answer two of these is dead. */
const pingMs = 20_000

/**
 * Connects to the server that is named, and to none of those that it names itself. The library does not connect
 * again: that is for whoever runs the source.
 *
 * @throws SourceRefused when credentials cannot be read, any other Error of the server or of the network
 */
export async function connectToNats(
  options: NatsOptions,
  run: Pick<FetchRun, 'dial' | 'signal'>,
): Promise<NatsConnection> {
  const { signal } = run
  const { NatsConnectionImpl, setTransportFactory } = await import('@nats-io/transport-node')
  keepByteOrderMarksOfNats()
  const authenticator = await authenticatorOf(options.credentials)
  const opened = await openSocket(options, run)
  const giveUp = () => opened.socket.destroy()
  signal.addEventListener('abort', giveUp)
  try {
    signal.throwIfAborted()
    setTransportFactory({ factory: () => new OpenedTransport() })
    const connecting: OpenedOptions = {
      opened,
      // Whom the library takes it for: it resolves no name.
      servers: 'source:4222',
      name: 'streamvault',
      reconnect: false,
      maxReconnectAttempts: 0,
      ignoreClusterUpdates: true,
      noAsyncTraces: true,
      timeout: answerMs,
      pingInterval: pingMs,
      maxPingOut: 2,
      ...(authenticator !== undefined && { authenticator }),
      ...(options.tls !== undefined && { tls: {} }),
    }
    return await NatsConnectionImpl.connect(connecting)
  } catch (error) {
    opened.socket.destroy()
    throw error ?? new Error('the server has closed the connection')
  } finally {
    signal.removeEventListener('abort', giveUp)
  }
}

/** @throws SourceRefused */
async function authenticatorOf(credentials: NatsCredentials): Promise<Authenticator | undefined> {
  const nats = await import('@nats-io/transport-node')
  const { username, password, token, credentialsFile, nkey } = credentials
  if (username !== undefined) return nats.usernamePasswordAuthenticator(username, password)
  if (token !== undefined) return nats.tokenAuthenticator(token)
  if (nkey !== undefined) return checked(nats.nkeyAuthenticator(Buffer.from(nkey.trim())))
  if (credentialsFile === undefined) return undefined
  return checked(nats.credsAuthenticator(Buffer.from(credentialsFile.replaceAll('\r\n', '\n'))))
}

/** What the library says about a key that it cannot read may tell of it. */
function checked(authenticator: Authenticator): Authenticator {
  try {
    authenticator('nonce')
    return authenticator
  } catch {
    throw new SourceRefused('the credentials are no NKey, or no file with a JWT and an NKey')
  }
}
