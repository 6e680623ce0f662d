import { type Dial, SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { BrokerConnection } from './broker-connection.ts'
import type { Answer, Arguments, CallName, Library } from './library.ts'
import { logIn } from './log-in.ts'
import type { KafkaAddress, KafkaOptions } from './options.ts'
import { describeFailure, SourceGone } from './refusals.ts'

/** Longest time for an answer, beyond what a request itself lets the broker wait. */
const answerMs = 30_000

/** Connections at a time: one for what is fetched from each broker, and some for the rest. */
const connectionsMax = 500

/** Partitions of a topic: how far each was read goes to the journal with what was read. */
const partitionsMax = 10_000

export interface Partition {
  readonly topic: string
  readonly index: number
}

export interface Topic {
  readonly name: string
  /**
   * Id that is another one after the topic was deleted and created anew; its name where the broker
   * is too old for that.
   */
  readonly id: string
  /** Brokers that have the newest log, by index of the partition. */
  readonly leaders: readonly number[]
}

interface ClusterNeeds {
  readonly library: Library
  readonly options: KafkaOptions
  readonly dial: Dial
}

/** The brokers of one cluster, each reached through the way out that was given. */
export class Cluster {
  readonly #needs: ClusterNeeds
  readonly #stop = new AbortController()
  readonly #connections = new Map<string, Promise<BrokerConnection>>()
  #addresses: ReadonlyMap<number, KafkaAddress> = new Map()

  constructor(needs: ClusterNeeds) {
    this.#needs = needs
  }

  get library(): Library {
    return this.#needs.library
  }

  /**
   * @param purpose what waits for one purpose keeps no other from being answered
   * @param waitMs how long the broker may take by itself
   */
  async connection(node: number, purpose: string, waitMs = 0): Promise<BrokerConnection> {
    const address = this.#addresses.get(node)
    if (!address) throw new SourceGone(`no broker has the number ${node} any more`)
    return await this.#connectionTo(`${node} ${purpose}`, address, waitMs)
  }

  /** The broker that takes care of the group. */
  async coordinator(group: string): Promise<number> {
    const connection = await this.#anyConnection()
    const answer = await this.#ask(connection, 'FindCoordinator', [0, [group]])
    const found = answer.coordinators[0]
    if (!found) throw new SourceGone('no broker takes care of the group')
    const { nodeId, host, port } = found
    this.#addresses = new Map([...this.#addresses, [nodeId, { host, port }]])
    return nodeId
  }

  /** @throws SourceRefused when one is missing */
  async topics(names: readonly string[]): Promise<readonly Topic[]> {
    const connection = await this.#anyConnection()
    const answer = await this.#ask(connection, 'Metadata', [[...names], false, false])
    this.#addresses = new Map(
      answer.brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]),
    )
    const hasIds = connection.versionOf('Metadata') >= 10 && connection.versionOf('Fetch') > 12
    return names.map((name) => {
      const topic = answer.topics.find((one) => one.name === name)
      if (!topic) throw new SourceGone(`the broker says nothing of the topic ${name}`)
      const leaders: number[] = []
      for (const { partitionIndex: index, leaderId } of topic.partitions) {
        if (index < 0 || index >= partitionsMax) {
          throw new SourceRefused(
            `topic ${name} has a partition ${index}, and ${partitionsMax} are read`,
          )
        }
        leaders[index] = leaderId
      }
      return { name, id: hasIds ? topic.topicId : name, leaders }
    })
  }

  /** @throws SourceRefused, SourceGone and others */
  async call<Name extends CallName>(
    connection: BrokerConnection,
    name: Name,
    ...rest: Arguments<Name>
  ): Promise<Answer<Name>> {
    return await this.#ask(connection, name, rest)
  }

  /** Ends all connections; requests that are under way fail. */
  async close(): Promise<void> {
    this.#stop.abort(new Error('the source is stopped'))
    const connections = await Promise.allSettled(this.#connections.values())
    const opened = connections.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    await Promise.all(opened.map((one) => one.close()))
  }

  async #ask<Name extends CallName>(
    connection: BrokerConnection,
    name: Name,
    rest: Arguments<Name>,
  ): Promise<Answer<Name>> {
    try {
      return await connection.call(name, ...rest)
    } catch (error) {
      throw describeFailure(this.library, error)
    }
  }

  /** Connects to the first of the named brokers that can be reached. */
  async #anyConnection(): Promise<BrokerConnection> {
    const errors: unknown[] = []
    for (const address of this.#needs.options.brokers) {
      const { host, port } = address
      try {
        return await this.#connectionTo(`${host} ${port}`, address, 0)
      } catch (error) {
        errors.push(error)
      }
    }
    throw errors[0]
  }

  async #connectionTo(
    key: string,
    address: KafkaAddress,
    waitMs: number,
  ): Promise<BrokerConnection> {
    const known = this.#connections.get(key)
    if (known) return await known
    if (this.#connections.size >= connectionsMax) throw new Error('there are too many brokers')
    const opening = this.#open(address, waitMs)
    this.#connections.set(key, opening)
    opening.catch(() => this.#connections.delete(key))
    return await opening
  }

  async #open({ host, port }: KafkaAddress, waitMs: number): Promise<BrokerConnection> {
    const { library, options, dial } = this.#needs
    const { tls, login } = options
    const { signal } = this.#stop
    signal.throwIfAborted()
    const socket = await dial({ host, port, tls, signal })
    const connection = new BrokerConnection({ library, socket, answerMs: answerMs + waitMs })
    try {
      signal.throwIfAborted()
      await connection.negotiate()
      if (login) await logIn(library, connection, login)
      return connection
    } catch (error) {
      await connection.close()
      throw describeFailure(library, error)
    }
  }
}
