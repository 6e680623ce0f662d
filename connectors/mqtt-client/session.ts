import type { Duplex } from 'node:stream'
import type { MqttClient } from 'mqtt'
import type { PublishRequest } from '../../src/contracts/connector.ts'
import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { race } from '../../src/core/race.ts'
import type { MqttVersion } from './arrivals.ts'

/** Time for a CONNACK, and for a SUBACK. */
const answerMs = 15_000

/** Seconds; a broker that says nothing for half as long again is taken for dead. */
const keepAliveSeconds = 30

/** Seconds for which a broker keeps what arrives while we are away: a week. */
const sessionSeconds = 7 * 24 * 3_600

/** Time for a connection to end in good order. */
const endMs = 1_000

/** The broker does not speak this version: reason 0x84 of MQTT 5, code 1 of MQTT 3.1.1. */
export class VersionRefused extends Error {
  override readonly name = 'VersionRefused'
}

const versionCodes = [1, 132]

/** Identifier, credentials, permission, method, ban: codes of MQTT 3.1.1 (table 3.1) and 5 (2.4). */
const refusalCodes = [2, 4, 5, 133, 134, 135, 138, 140, 143, 157, 158, 162]

export interface MqttSessionOptions {
  readonly version: MqttVersion
  readonly clientId: string
  readonly username: string | undefined
  readonly password: string | undefined
  /** Messages that the broker may send before the first of them is acknowledged: MQTT 5 only. */
  readonly receiveMaximum: number
  /** Bytes of the largest packet that the broker may send: MQTT 5 only. */
  readonly packetBytesMax: number
  /** Begins without what the broker has kept, and leaves nothing behind. */
  readonly isFresh: boolean
}

export interface MqttSubscription {
  readonly filter: string
  readonly qos: 0 | 1 | 2
}

export interface MqttSessionNeeds {
  readonly client: MqttClient
  readonly stream: Duplex
  readonly version: MqttVersion
}

/** One connection to a broker, as a client with a session that outlasts it. */
export class MqttSession {
  readonly #needs: MqttSessionNeeds
  /** Rejects when the connection has ended, with the reason as far as it is known. */
  readonly ended: Promise<never>

  /**
   * @throws VersionRefused; SourceRefused when the broker does not want us; any other Error
   */
  static async connect(stream: Duplex, options: MqttSessionOptions): Promise<MqttSession> {
    const { MqttClient } = await import('mqtt')
    const { version, clientId, username, password, isFresh } = options
    const client = new MqttClient(() => stream, {
      protocolVersion: version,
      protocolId: version === 3 ? 'MQIsdp' : 'MQTT',
      clientId,
      clean: isFresh,
      keepalive: keepAliveSeconds,
      connectTimeout: answerMs,
      reconnectPeriod: 0,
      resubscribe: false,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(version === 5 && {
        properties: {
          receiveMaximum: options.receiveMaximum,
          maximumPacketSize: options.packetBytesMax,
          sessionExpiryInterval: isFresh ? 0 : sessionSeconds,
        },
      }),
    })
    const session = new MqttSession({ client, stream, version })
    await race([session.ended, connected(client)])
    return session
  }

  private constructor(needs: MqttSessionNeeds) {
    this.#needs = needs
    const { client, stream } = needs
    this.ended = new Promise<never>((_, reject) => {
      let reason: Error | undefined
      client.on('error', (error) => (reason ??= error))
      client.on('disconnect', ({ reasonCode = 0 }) => {
        reason ??= Object.assign(new Error(`the broker has ended the connection (${reasonCode})`))
      })
      client.on('close', () => reject(endOf(stream.errored ?? reason)))
    })
    // Nobody may be waiting for it at the time.
    this.ended.catch(() => undefined)
  }

  /** @throws SourceRefused when the broker does not grant it, Error when it does not answer */
  async subscribe({ filter, qos }: MqttSubscription): Promise<void> {
    const { client, version } = this.#needs
    // Retained messages come with a new subscription only, and the flag says that they were retained: it is not that
    // of their publisher (MQTT 5, section 3.8.3.1).
    const options = version === 5 ? { qos, rh: 1, rap: false } : { qos }
    const subscribed = client.subscribeAsync(filter, options).catch((error: unknown) => {
      const { code } = error as { readonly code?: unknown }
      if (typeof code !== 'number') throw error
      throw new SourceRefused(`the broker refuses the subscription (${code})`, { cause: error })
    })
    const silence = Promise.withResolvers<never>()
    const giveUp = () => silence.reject(new Error('the broker does not answer the subscription'))
    const patience = setTimeout(giveUp, answerMs)
    try {
      await race([this.ended, subscribed, silence.promise])
    } finally {
      clearTimeout(patience)
    }
  }

  /** Says something once, without waiting whether anybody hears it. */
  publish({ topic, payload }: PublishRequest): void {
    this.#needs.client.publish(topic, Buffer.from(payload), { qos: 0 }, () => undefined)
  }

  /** Says good-bye, or breaks the connection when nobody listens. */
  async end(): Promise<void> {
    const { client } = this.#needs
    const patience = setTimeout(() => client.end(true), endMs)
    await Promise.allSettled([client.endAsync(), this.ended])
    clearTimeout(patience)
  }
}

async function connected(client: MqttClient): Promise<void> {
  await new Promise<void>((resolve) => {
    client.once('connect', () => resolve())
  })
}

function endOf(reason: Error | undefined): Error {
  const { code } = (reason ?? {}) as { readonly code?: unknown }
  if (reason === undefined) return new Error('the broker has closed the connection')
  if (typeof code !== 'number') return reason
  if (versionCodes.includes(code)) return new VersionRefused(reason.message, { cause: reason })
  if (refusalCodes.includes(code)) return new SourceRefused(reason.message, { cause: reason })
  return reason
}
