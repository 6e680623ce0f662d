import { setTimeout as sleep } from 'node:timers/promises'
import { contextTexts } from '../../src/contracts/context-texts.ts'
import {
  type FetchConnector,
  type FetchedMessage,
  type FetchedSource,
  type FetchRun,
  SourceRefused,
} from '../../src/contracts/fetch-connector.ts'
import { aborted } from '../../src/core/aborted.ts'
import { cutText } from '../../src/core/cut-text.ts'
import { race } from '../../src/core/race.ts'
import { SharedBytes } from '../mqtt-broker/guard/shared-bytes.ts'
import { Retransmissions, usesReceiptTime } from '../mqtt-broker/retransmissions.ts'
import type { Arrival, MqttVersion } from './arrivals.ts'
import { packetBytesMax } from './broker-packets.ts'
import { MqttIntercept, unsettledMax } from './intercept.ts'
import { type MqttClientOptions, mqttClientOptions, takesSource } from './options.ts'
import { MqttSession, VersionRefused } from './session.ts'
import { openMqttTransport, parseMqttEndpoint } from './transport.ts'
import { userProperties } from './user-properties.ts'

/** How long what is on its way to the disk is waited for when a run is told to end. */
const finishMs = 2_000

/** Bytes that all brokers together have sent, and that are not durable yet. */
const sharedBytesMax = 256 * 1024 * 1024

const shared = new SharedBytes(sharedBytesMax)

/** Characters of a topic that are kept with each reading that is refused. */
const shownTopicLength = 200

/** Readings from a broker that somebody else runs: a client of it, one connection for each stream. */
export const mqttClient: FetchConnector = {
  takes: takesSource,
  destinationOf: ({ endpoint }) => parseMqttEndpoint(endpoint as string),
  // A name of its own takes nothing away from who is connected by that which the source has.
  // What was retained is a sample like any other.
  forTrial: (source) => ({
    ...source,
    clientId: undefined,
    sharedGroup: undefined,
    retained: 'keep',
  }),
  open: (definition) => new MqttSource(mqttClientOptions(definition)),
}

class MqttSource implements FetchedSource {
  readonly identity: string
  readonly #options: MqttClientOptions
  #version: MqttVersion
  /** Whether the version was found to be spoken by the broker. */
  #isVersionKnown: boolean
  readonly #kept = new Set<number>()
  /** Retransmissions that are known: as many as a broker may send anew. */
  readonly #retransmissions = new Retransmissions(unsettledMax)
  /** Whether the session that the broker has of us is subscribed, as far as we know. */
  #isSubscribed = false
  /** The connection that there is now. */
  #session: MqttSession | undefined

  constructor(options: MqttClientOptions) {
    const { endpoint, clientId, filter, qos } = options
    this.identity = JSON.stringify([endpoint, clientId, filter, qos])
    this.#options = options
    this.#isVersionKnown = options.version !== 'auto'
    this.#version = options.version === 'auto' ? 5 : options.version
  }

  async run(run: FetchRun): Promise<void> {
    for (;;) {
      try {
        return await this.#connect(run)
      } catch (error) {
        if (run.signal.aborted) return
        if (!(error instanceof VersionRefused) || !this.#mayFallBack()) throw error
      }
    }
  }

  /** Begins a session anew and ends it: what the broker had kept for us is gone with the old one. */
  async release({ dial, signal }: Pick<FetchRun, 'dial' | 'signal'>): Promise<void> {
    const { endpoint, tls } = this.#options
    const transport = await openMqttTransport(endpoint, { dial, tls, signal })
    signal.addEventListener('abort', () => transport.destroy())
    transport.on('error', () => undefined)
    try {
      const session = await MqttSession.connect(transport, this.#sessionOptions(true))
      await session.end()
    } finally {
      transport.destroy()
    }
  }

  /** Takes the other version for the next try; whether that may be at once. */
  #mayFallBack(): boolean {
    if (this.#isVersionKnown) return false
    this.#version = this.#version === 5 ? 4 : 5
    return this.#version === 4
  }

  /** A broker of MQTT 3.1.1 says that it does not know MQTT 5, or just closes the connection. */
  async #greet(intercept: MqttIntercept): Promise<MqttSession> {
    try {
      const session = await MqttSession.connect(intercept, this.#sessionOptions(false))
      this.#isVersionKnown = true
      return session
    } catch (error) {
      const isMute = !(error instanceof VersionRefused || error instanceof SourceRefused)
      if (isMute) this.#mayFallBack()
      throw error
    }
  }

  async #connect(run: FetchRun): Promise<void> {
    const { dial, signal } = run
    const { endpoint, tls } = this.#options
    const transport = await openMqttTransport(endpoint, { dial, tls, signal })
    if (signal.aborted) {
      transport.destroy()
      return
    }
    const intercept = this.#intercept(transport, run)
    const giveUp = () => intercept.destroy()
    signal.addEventListener('abort', giveUp)
    try {
      const session = await this.#greet(intercept)
      this.#session = session
      await this.#subscribe(session)
      signal.removeEventListener('abort', giveUp)
      run.onRunning()
      await race([session.ended, aborted(signal)])
      await race([intercept.finish(), sleep(finishMs, undefined, { ref: false })])
      await session.end()
    } finally {
      this.#session = undefined
      signal.removeEventListener('abort', giveUp)
      intercept.destroy()
      // A message that is sent again is known by what became of it the first time.
      await intercept.finish()
    }
  }

  #intercept(transport: ConstructorParameters<typeof MqttIntercept>[0], run: FetchRun) {
    const intercept = new MqttIntercept(transport, {
      version: this.#version,
      kept: this.#kept,
      shared,
      take: (arrivals) => this.#take(arrivals, run),
      onSession: (isPresent) => {
        if (isPresent) return
        this.#kept.clear()
        this.#isSubscribed = false
      },
    })
    intercept.on('error', () => undefined)
    return intercept
  }

  /**
   * A subscription that is there already is repeated in MQTT 5 only, which can leave out retained
   * messages: they would be new readings each time. In MQTT 3.1.1 that is for the first connection
   * after a start, because a crash may have come between session and subscription. One that is shared has no retained
   * messages, and mosquitto forgets it, and not the session, when it is started anew.
   */
  async #subscribe(session: MqttSession): Promise<void> {
    const { filter, qos } = this.#options
    const isShared = filter.startsWith('$share/')
    if (this.#isSubscribed && this.#version !== 5 && !isShared) return
    await session.subscribe({ filter, qos })
    this.#isSubscribed = true
  }

  async #take(arrivals: readonly Arrival[], run: FetchRun): Promise<void> {
    const taken = this.#withoutRetained(arrivals, run)
    // With none left, too: acknowledgements go out in the order of arrival.
    const outcomes = await run.accept(taken.map((arrival) => this.#messageOf(arrival)))
    for (const [index, outcome] of outcomes.entries()) {
      if (outcome.request !== undefined) this.#session?.publish(outcome.request)
      const arrival = taken[index]
      if (arrival === undefined || arrival.qos === 0 || !usesReceiptTime(outcome)) continue
      this.#retransmissions.remember(this.#identityOf(arrival), outcome.receivedAtUs)
    }
  }

  /** An empty message takes away the one that was retained ([MQTT-3.3.1-10]), and is sent to all who listen: no reading. */
  #withoutRetained(arrivals: readonly Arrival[], { onSkipped }: FetchRun): readonly Arrival[] {
    const { skipsRetained } = this.#options
    const taken = arrivals.filter(({ isRetained, payload, problem }) => {
      return problem !== undefined || (payload.length > 0 && !(skipsRetained && isRetained))
    })
    if (taken.length < arrivals.length) onSkipped?.(arrivals.length - taken.length)
    return taken
  }

  #messageOf(arrival: Arrival): FetchedMessage {
    const { payload, topic, isDuplicate, problem, properties } = arrival
    const isMapped = this.#options.isMapped && properties !== undefined
    const { host, port } = this.#options.endpoint
    const source = `mqtt topic '${cutText(topic, shownTopicLength)}' of ${host}:${port}`
    const seenAtUs = isDuplicate ? this.#retransmissions.find(this.#identityOf(arrival)) : undefined
    return {
      payload,
      source,
      topic,
      ...(isMapped && { headers: contextTexts(userProperties(properties)) }),
      ...(seenAtUs !== undefined && { receivedAtUs: seenAtUs }),
      ...(problem !== undefined && { problem }),
    }
  }

  #identityOf({ packetId, payload }: Arrival) {
    return { userId: '', clientId: this.#options.clientId, packetId, payload }
  }

  #sessionOptions(isFresh: boolean) {
    const { clientId, username, password } = this.#options
    const limits = { receiveMaximum: unsettledMax, packetBytesMax }
    return { version: this.#version, clientId, username, password, ...limits, isFresh }
  }
}
