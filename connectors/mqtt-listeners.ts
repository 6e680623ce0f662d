import { constants } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import {
  createServer as createTlsServer,
  type SecureContextOptions,
  type Server as TlsServer,
} from 'node:tls'
import { holdsOrHasNone } from './mqtt-client-certificates.ts'

/** Connections beyond this are closed at once, at each port. */
const connectionsMax = 10_000

/** Time for a TLS handshake: a client that takes longer only holds the connection. */
const handshakeTimeoutMs = 10_000

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

/** The ports of the broker: what comes in over either is handled alike. */
export class MqttListeners {
  readonly #plain: Server | undefined
  readonly #secure: TlsServer | undefined

  private constructor(plain: Server | undefined, secure: TlsServer | undefined) {
    this.#plain = plain
    this.#secure = secure
  }

  static async open(
    { host, port, secure }: MqttEndpoints,
    handle: (socket: Socket) => void,
  ): Promise<MqttListeners> {
    const plain = port === 0 ? undefined : createServer({ noDelay: true }, handle)
    const tls =
      secure &&
      createTlsServer(
        {
          ...contextOf(secure),
          requestCert: secure.clientCa !== undefined,
          rejectUnauthorized: secure.clientCa !== undefined && secure.requiresClientCertificate,
          handshakeTimeout: handshakeTimeoutMs,
          noDelay: true,
        },
        (socket) => {
          if (secure.clientCa === undefined || holdsOrHasNone(socket)) handle(socket)
          else socket.destroy()
        },
      )
    const listeners = new MqttListeners(plain, tls)
    if (plain) await listen(plain, port, host)
    if (tls && secure) await listen(tls, secure.port, host)
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
    this.#secure?.setSecureContext(contextOf(certificate))
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

async function listen(server: Server, port: number, host: string): Promise<void> {
  server.maxConnections = connectionsMax
  server.listen(port, host)
  await once(server, 'listening')
}

function portOf(server: Server | undefined): number | undefined {
  return (server?.address() as AddressInfo | undefined)?.port
}
