import { constants } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  type Server as TlsServer,
} from 'node:tls'
import { holdsOrHasNone } from './client-certificates.ts'

/** Time for a TLS handshake: a client that takes longer only holds the connection. */
const handshakeTimeoutMs = 10_000

/**
 * What a socket may keep for a client that does not read, before it says so. Less than usual, because
 * there may be ten thousand of them.
 */
const socketOptions = { noDelay: true, highWaterMark: 16 * 1024 } as const

/** A certificate with its chain, and its key: PEM. */
export interface MqttCertificate {
  readonly cert: Buffer
  readonly key: Buffer
  /** Authorities whose certificates clients may show: PEM. Undefined: none is asked for. */
  readonly clientCa?: Buffer | undefined
}

export interface MqttEndpoints {
  readonly host: string
  /** 0: none. */
  readonly port: number
  /** MQTT over TLS. */
  readonly secure?: MqttCertificate & {
    readonly port: number
    /** Whether a client without a certificate is refused. */
    readonly requiresClientCertificate: boolean
  }
}

export interface ConnectionHandlers {
  /**
   * Connections at each port, in whatever state: what is beyond is closed without being asked
   * about.
   */
  readonly connectionsMax: number
  /** Called at once when somebody connects, before a handshake costs anything. */
  readonly mayEnter: (socket: Socket) => boolean
  readonly handle: (socket: Socket) => void
  /** Runs when the system could not accept a connection: it lacks memory or open files. */
  readonly onFailure: (error: Error) => void
}

/** The ports of the broker: what comes in over either is handled alike. */
export class MqttListeners {
  readonly #plain: Server | undefined
  /** Accepts the connections that `#tls` speaks on. */
  readonly #secure: Server | undefined
  readonly #tls: TlsServer | undefined

  private constructor(
    plain: Server | undefined,
    secure: { readonly server: Server; readonly tls: TlsServer } | undefined,
  ) {
    this.#plain = plain
    this.#secure = secure?.server
    this.#tls = secure?.tls
  }

  static async open(
    { host, port, secure }: MqttEndpoints,
    { connectionsMax, mayEnter, handle, onFailure }: ConnectionHandlers,
  ): Promise<MqttListeners> {
    const serve = (handler: (socket: Socket) => void) => {
      const server = createServer(socketOptions, (socket) => {
        if (mayEnter(socket)) handler(socket)
        else socket.destroy()
      })
      server.maxConnections = connectionsMax
      return server
    }
    const plain = port === 0 ? undefined : serve(handle)
    const tls = secure && tlsServer(secure, handle)
    const behind = tls && serve((socket) => tls.emit('connection', socket))
    const listeners = new MqttListeners(plain, tls && behind && { server: behind, tls })
    if (plain) await listen(plain, port, host)
    if (behind && secure) await listen(behind, secure.port, host)
    for (const server of [plain, behind]) server?.on('error', onFailure)
    return listeners
  }

  get port(): number | undefined {
    return portOf(this.#plain)
  }

  get securePort(): number | undefined {
    return portOf(this.#secure)
  }

  /** New connections get this certificate, and are held to these authorities. */
  setCertificate(certificate: MqttCertificate): void {
    this.#tls?.setSecureContext(contextOf(certificate))
  }

  /** Takes nobody new; resolves when the last connection has ended. */
  async close(): Promise<void> {
    const servers = [this.#plain, this.#secure].filter((server) => server !== undefined)
    await Promise.all(
      servers.map(async (server) => {
        const closed = once(server, 'close')
        server.close()
        await closed
      }),
    )
  }
}

function contextOf({ cert, key, clientCa }: MqttCertificate): SecureContextOptions {
  return {
    cert,
    key,
    minVersion: 'TLSv1.2',
    ...(clientCa && {
      ca: clientCa,
      // A session that is taken up again is not verified again: its authority may be gone by then.
      secureOptions: constants.SSL_OP_NO_TICKET,
    }),
  }
}

function tlsServer(
  secure: NonNullable<MqttEndpoints['secure']>,
  handle: (socket: Socket) => void,
): TlsServer {
  return createTlsServer(
    {
      ...contextOf(secure),
      ...socketOptions,
      requestCert: secure.clientCa !== undefined,
      rejectUnauthorized: secure.clientCa !== undefined && secure.requiresClientCertificate,
      handshakeTimeout: handshakeTimeoutMs,
    },
    (socket) => {
      if (secure.clientCa === undefined || holdsOrHasNone(socket)) handle(socket)
      else socket.destroy()
    },
  )
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen(port, host)
  await once(server, 'listening')
}

function portOf(server: Server | undefined): number | undefined {
  return (server?.address() as AddressInfo | undefined)?.port
}
