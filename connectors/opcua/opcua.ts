import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientSession } from 'node-opcua-client'
import { aborted } from '../../src/core/aborted.ts'
import type { FetchConnector, FetchedSource, FetchRun } from '../../src/pipeline/fetch-connector.ts'
import { newKeyPair } from './attempt.ts'
import { OpcUaConnection } from './connection.ts'
import { type OpcUaOptions, opcUaOptions, parseEndpoint } from './options.ts'
import { ForeignSubscription, Publishing } from './publishing.ts'
import { Readings } from './readings.ts'
import {
  createSubscription,
  deleteSubscription,
  readPosition,
  resumeSubscription,
  type Subscription,
  writePosition,
} from './subscription.ts'
import type { KeyPair } from './trust.ts'
import { ValueTexts } from './values.ts'

/** How long what is on its way to the disk is waited for when a run is told to end. */
const finishMs = 2_000

/** Values of a server of OPC UA, which tells us when they change. */
export const opcua: FetchConnector = {
  takes: ({ protocol }) => protocol === 'opcua',
  destinationOf: ({ endpoint }) => parseEndpoint(endpoint),
  open: (definition) => new OpcUaSource(opcUaOptions(definition)),
  forTrial: (source) => ({ ...source, isTrial: true }),
}

class OpcUaSource implements FetchedSource {
  readonly identity: string
  readonly #options: OpcUaOptions
  #keyPair: KeyPair | undefined
  /** Of a connection that has broken: the server may still have it. */
  #former: ClientSession | undefined
  /** The subscription that the server keeps for us. */
  #kept: Subscription | undefined

  constructor(options: OpcUaOptions) {
    const { endpoint, items, publishingInterval, discardOldest, user, securityMode } = options
    const who = [user?.userName, securityMode]
    this.identity = JSON.stringify([
      'opcua',
      endpoint,
      who,
      publishingInterval,
      discardOldest,
      items,
    ])
    this.#options = options
  }

  async run(run: FetchRun): Promise<void> {
    const { signal } = run
    try {
      const connection = await this.#open(run)
      const giveUp = () => connection.fail(new Error('the run was ended'))
      signal.addEventListener('abort', giveUp)
      try {
        signal.throwIfAborted()
        await this.#follow(connection, run, () => signal.removeEventListener('abort', giveUp))
      } finally {
        signal.removeEventListener('abort', giveUp)
        await connection.end(!this.#options.isTrial)
      }
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /** A subscription that this process does not know of ends by itself. */
  async release(run: Pick<FetchRun, 'dial' | 'signal'>): Promise<void> {
    const kept = this.#kept
    if (kept === undefined) return
    const connection = await this.#open(run)
    try {
      await resumeSubscription(connection, this.#options, kept.position)
      await deleteSubscription(connection, kept.id)
    } finally {
      await connection.end(false)
    }
  }

  async #open(run: Pick<FetchRun, 'dial' | 'signal'>): Promise<OpcUaConnection> {
    this.#keyPair ??= await newKeyPair(this.#options)
    const former = this.#former
    this.#former = undefined
    return await OpcUaConnection.open(this.#options, run, { keyPair: this.#keyPair, former })
  }

  async #follow(connection: OpcUaConnection, run: FetchRun, onFollowed: () => void): Promise<void> {
    const { items, timestampField, endpoint } = this.#options
    const subscription = await this.#subscribe(connection, run)
    this.#kept = subscription
    const readings = new Readings({
      texts: new ValueTexts(connection.library),
      timestampField,
      source: `the OPC UA server at ${endpoint}`,
    })
    const publishing = new Publishing({ connection, subscription, items, readings, run })
    try {
      await publishing.start()
      onFollowed()
      run.onRunning()
      await Promise.race([connection.ended, aborted(run.signal)])
    } catch (error) {
      if (error instanceof ForeignSubscription) await run.accept([], {})
      else this.#former = connection.session
      throw error
    } finally {
      await Promise.race([publishing.close(), sleep(finishMs, undefined, { ref: false })])
    }
  }

  /** A new one is durable before anything of it is read: that it was there is known then. */
  async #subscribe(connection: OpcUaConnection, run: FetchRun): Promise<Subscription> {
    const before = readPosition(run.position)
    if (before !== undefined) {
      const resumed = await resumeSubscription(connection, this.#options, before)
      if (resumed !== undefined) return resumed
    }
    const created = await createSubscription(connection, this.#options)
    await run.accept([], writePosition(created.position))
    return created
  }
}
