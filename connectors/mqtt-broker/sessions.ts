import type { AuthenticateError, Client, ConnectPacket } from 'aedes'
import { DomainError } from '../../src/core/errors.ts'
import type { UserId } from '../../src/core/ids.ts'
import type { MqttCaller, MqttCredentials } from './caller.ts'
import { innerClientId } from './client-ids.ts'
import type { DropWindow } from './drops.ts'
import type { MqttClientCertificate } from './guard/client-certificates.ts'
import type { MqttConnection } from './guard/connection.ts'
import type { Route } from './routes.ts'
import { spaceOf } from './topics.ts'

/** CONNACK return codes of MQTT 3.1.1, table 3.1. */
const connackCode = {
  identifierRejected: 2,
  serverUnavailable: 3,
  badCredentials: 4,
  notAuthorized: 5,
} as const

/** Who is connected. */
export interface Session extends MqttCaller {
  /** Name that the client has given itself. */
  readonly clientId: string
  readonly source: string
  /** What every topic of its own begins with. */
  readonly space: string
  /** Undefined for one whose client is gone. */
  readonly connection: MqttConnection | undefined
  readonly connectedAtUs: number
  /** What the client published to last is for. */
  route: Route | undefined
  readonly drops: DropWindow
  /** Pending while a stream is being looked up: what comes after it has to wait its turn, or to fail as it does. */
  lookingUp: Promise<DomainError | undefined> | undefined
  /** True when its credentials have ended: nothing is taken from it any more, not even its will. */
  hasEnded: boolean
}

/** A client that is connected, and who it is. */
export interface ConnectedClient {
  readonly client: Client
  readonly session: Session
}

/** A device, and where it is connected from. */
export interface ActiveDevice {
  readonly id: string
  readonly address: string
}

export interface MqttSessionNeeds {
  readonly nowUs: () => number
  /**
   * What has to be waited for before `authenticate` is asked; mostly nothing.
   *
   * @throws DomainError `rate_limited` after too many failures
   */
  readonly lookUp: (credentials: MqttCredentials) => Promise<void> | undefined
  /** Who is behind credentials. */
  readonly authenticate: (credentials: MqttCredentials) => MqttCaller | undefined
  /** False when nothing can be accepted now: clients are told so when they connect. */
  readonly isReady: () => boolean
  /** Whether a client may publish on this topic: asked for its will, when it connects. */
  readonly mayPublishTo: (session: Session, topic: string) => Promise<boolean>
}

/** Who is connected, and with which rights. */
export class Sessions {
  readonly #needs: MqttSessionNeeds
  readonly #sessions = new WeakMap<Client, Session>()
  readonly #certificates = new WeakMap<MqttConnection, MqttClientCertificate>()
  readonly #refusals = new WeakMap<Client, AuthenticateError>()
  /** Sessions whose connection is open: those that can be ended. */
  readonly #open = new Map<MqttConnection, ConnectedClient>()

  constructor(needs: MqttSessionNeeds) {
    this.#needs = needs
  }

  /** To be called for a connection whose client has proved to have a certificate. */
  present(connection: MqttConnection, certificate: MqttClientCertificate): void {
    this.#certificates.set(connection, certificate)
  }

  /**
   * Finds out who connects, and gives the client the id that it has within the broker: of a refused
   * one nothing may remain that could be taken for the id of somebody else.
   */
  async admit(client: Client, packet: ConnectPacket): Promise<void> {
    const refused = await this.#refusalOf(client, packet)
    const session = this.#sessions.get(client)
    if (refused !== undefined) this.#refusals.set(client, refused)
    const isAdmitted = session !== undefined && refused === undefined
    packet.clientId = isAdmitted ? innerClientId(session, packet.clientId) : ''
  }

  /** Why a client is not let in, or null. */
  refusalOf(client: Client): AuthenticateError | null {
    return this.#refusals.get(client) ?? null
  }

  of(client: Client): Session | undefined {
    return this.#sessions.get(client)
  }

  async #refusalOf(client: Client, packet: ConnectPacket): Promise<AuthenticateError | undefined> {
    const { username, password, will } = packet
    if (!this.#needs.isReady()) return unable
    const connection = client.conn as MqttConnection
    const { remoteAddress = '' } = connection
    const certificate = this.#certificates.get(connection)
    const isNamed = username !== undefined || password !== undefined
    const credentials = {
      username: username ?? '',
      password: password?.toString() ?? '',
      address: remoteAddress,
      ...(certificate && !isNamed && { certificate }),
    }
    if (!(await this.#mayTry(credentials))) return tooManyFailures
    if (connection.destroyed) return unable
    const caller = this.#needs.authenticate(credentials)
    if (caller === undefined) {
      return refusal('the key or its secret is not valid', connackCode.badCredentials)
    }
    const { device } = caller
    if (device?.clientId !== undefined && device.clientId !== packet.clientId) {
      return refusal('the device has another client id', connackCode.identifierRejected)
    }
    if (!connection.takePlaceFor(caller.userId)) return tooManyConnections
    // The session is made in the turn of the check: a key that is revoked right after finds it
    // here.
    const session: Session = {
      ...caller,
      clientId: packet.clientId,
      source: `mqtt client '${packet.clientId}' at ${remoteAddress}`,
      space: spaceOf(caller),
      connection,
      connectedAtUs: this.#needs.nowUs(),
      route: undefined,
      drops: { sinceMs: 0, count: 0 },
      lookingUp: undefined,
      hasEnded: false,
    }
    this.#sessions.set(client, session)
    this.#open.set(connection, { client, session })
    connection.once('close', () => this.#open.delete(connection))
    if (will === undefined || (await this.#needs.mayPublishTo(session, will.topic)))
      return undefined
    return refusal('its will is for a topic that is not its own', connackCode.notAuthorized)
  }

  /** The devices that have sent something since this was asked the last time. */
  activeDevices(): readonly ActiveDevice[] {
    const active: ActiveDevice[] = []
    for (const [connection, { session }] of this.#open) {
      const { device } = session
      if (device === undefined || !connection.hasReceived) continue
      connection.hasReceived = false
      active.push({ id: device.id, address: connection.remoteAddress ?? '' })
    }
    return active
  }

  /** Clients of a user that are connected now. */
  ofUser(userId: UserId): readonly ConnectedClient[] {
    return [...this.#open.values()].filter(({ session }) => session.userId === userId)
  }

  /** Waits for what `authenticate` needs; false after too many failures. */
  async #mayTry(credentials: MqttCredentials): Promise<boolean> {
    try {
      await this.#needs.lookUp(credentials)
      return true
    } catch (error) {
      if (error instanceof DomainError && error.code === 'rate_limited') return false
      throw error
    }
  }

  /** Ends every session that was opened with this key, or with a token of it. */
  endKey(apiKeyId: string): void {
    this.#end((session) => session.apiKeyId === apiKeyId)
  }

  /** Ends every session of a user. */
  endUser(userId: UserId): void {
    this.#end((session) => session.userId === userId)
  }

  /** Ends every session whose key or token has expired. */
  endExpired(nowUs: number): void {
    this.#end(({ expiresAtUs }) => expiresAtUs !== undefined && expiresAtUs <= nowUs)
  }

  #end(shouldEnd: (session: Session) => boolean): void {
    for (const [connection, { session }] of this.#open) {
      if (!shouldEnd(session)) continue
      session.hasEnded = true
      connection.destroy()
    }
  }
}

function refusal(message: string, returnCode: number): AuthenticateError {
  // The library's type is a `const enum`, of which nothing is left to name at run time.
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment
  return Object.assign(new Error(message), { returnCode })
}

const unable = refusal('nothing can be accepted now', connackCode.serverUnavailable)

/** Refusal of a client that wants its session to be kept, when its user has too many of them. */
export const tooManySessions = refusal(
  'the user has too many sessions',
  connackCode.serverUnavailable,
)
const tooManyFailures = refusal('too many failed logins', connackCode.serverUnavailable)
const tooManyConnections = refusal('too many connections', connackCode.serverUnavailable)
