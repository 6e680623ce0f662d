import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientSession } from 'node-opcua-client'
import { isOfKind } from '../../src/contracts/definitions/source-kind.ts'
import type {
  FetchConnector,
  FetchedMessage,
  FetchedSource,
  FetchRun,
} from '../../src/contracts/fetch-connector.ts'
import type { SourcePosition } from '../../src/contracts/source-position.ts'
import { aborted } from '../../src/core/aborted.ts'
import { race } from '../../src/core/race.ts'
import { newKeyPair } from './attempt.ts'
import { OpcUaConnection } from './connection.ts'
import { type OpcUaOptions, opcUaOptions, parseEndpoint } from './options.ts'
import { PartialReadings } from './partial-readings.ts'
import { Publishing, ServerSilent, SubscriptionLost } from './publishing.ts'
import { lostSubscription, Readings, wideReadings } from './readings.ts'
import { ReportedValues } from './reported-values.ts'
import { opcUaSource } from './source.ts'
import {
  createSubscription,
  deleteSubscription,
  readOpen,
  readPosition,
  resumeSubscription,
  type Subscription,
  withoutSubscription,
  writePosition,
} from './subscription.ts'
import type { KeyPair } from './trust.ts'
import { ValueTexts } from './values.ts'

/** How long what is on its way to the disk is waited for when a run is told to end. */
const finishMs = 2_000

/** Connections in a row on which a server has said nothing of a subscription that it has handed over. */
const silencesMax = 2

/** Values of a server of OPC UA, which tells us when they change. */
export const opcua: FetchConnector = {
  takes: (source) => isOfKind(opcUaSource, source),
  destinationOf: ({ endpoint }) => parseEndpoint(endpoint),
  open: (definition) => new OpcUaSource(opcUaOptions(definition)),
  waitingIn: (position, timestampField) => {
    const timed = readOpen(position).map(({ time, fields }) => ({
      time,
      fields: new Map(Object.entries(fields)),
    }))
    return wideReadings(timed, { timestampField, source: 'an OPC UA server that was followed' })
  },
  forTrial: (source) => ({ ...source, isTrial: true }),
}

/** Where one connection begins, and whether the session may move to another one. */
interface Beginning {
  readonly position: SourcePosition | undefined
  readonly mayMove: boolean
}

class OpcUaSource implements FetchedSource {
  readonly identity: string
  readonly #options: OpcUaOptions
  #keyPair: KeyPair | undefined
  /** Session of a connection that has broken: the server may still have it. */
  #former: ClientSession | undefined
  /** The subscription that the server keeps for us. */
  #kept: Subscription | undefined
  readonly #reported = new ReportedValues()
  #silences = 0

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
      const { position } = run
      const moved = await this.#runOnce(run, { position, mayMove: true })
      // The session moves once, where it has to: never more often.
      if (moved !== undefined) await this.#runOnce(run, { position: moved, mayMove: false })
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  /** @returns how far it has come, where the session has to move to another connection before anything is heard */
  async #runOnce(run: FetchRun, from: Beginning): Promise<SourcePosition | undefined> {
    const { signal } = run
    const connection = await this.#open(run)
    const giveUp = () => connection.fail(new Error('the run was ended'))
    signal.addEventListener('abort', giveUp)
    const unlisten = () => signal.removeEventListener('abort', giveUp)
    try {
      signal.throwIfAborted()
      return await this.#follow(connection, run, { ...from, onFollowed: unlisten })
    } finally {
      unlisten()
      await connection.end(!this.#options.isTrial)
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

  async #follow(
    connection: OpcUaConnection,
    run: FetchRun,
    { position, mayMove, onFollowed }: Beginning & { readonly onFollowed: () => void },
  ): Promise<SourcePosition | undefined> {
    const subscription = await this.#subscribe(connection, run, position)
    this.#kept = subscription
    this.#reported.begin()
    const partial = this.#partialOf(subscription)
    const publishing = this.#publishing(connection, run, { subscription, partial })
    try {
      const isSound = await publishing.catchUp()
      if (!isSound && mayMove && subscription.isTransferred) {
        // Some servers hand a subscription over and go on answering to the connection before, until the session moves.
        this.#former = connection.session
        connection.fail(new Error('the session moves'))
        return publishing.position
      }
      publishing.start()
      onFollowed()
      run.onRunning()
      await race([connection.ended, aborted(run.signal)])
    } catch (error) {
      await finished(publishing)
      if (this.#isLost(error, publishing)) {
        const lost = this.#lossOf(publishing.position)
        await run.accept(lost, withoutSubscription(partial?.saved ?? []))
      } else this.#former = connection.session
      throw error
    } finally {
      await finished(publishing)
    }
    return undefined
  }

  /** Whether a new subscription is needed: also where the server has said nothing of the old one, twice in a row. */
  #isLost(error: unknown, publishing: Publishing): boolean {
    if (publishing.hasHeard) this.#silences = 0
    if (error instanceof ServerSilent && !publishing.hasHeard) this.#silences++
    if (!(error instanceof SubscriptionLost) && this.#silences < silencesMax) return false
    this.#silences = 0
    return true
  }

  #partialOf({ position, apartMs }: Subscription): PartialReadings | undefined {
    const { items, isTrial } = this.#options
    const fields = items.flatMap(({ field }) => field ?? [])
    if (fields.length === 0) return undefined
    return new PartialReadings({ fields, waitMs: isTrial ? 0 : apartMs }, position.open)
  }

  #publishing(
    connection: OpcUaConnection,
    run: FetchRun,
    kept: { readonly subscription: Subscription; readonly partial: PartialReadings | undefined },
  ): Publishing {
    const { items, timestampField } = this.#options
    const readings = new Readings({
      texts: new ValueTexts(connection.library),
      timestampField,
      source: this.#source,
    })
    return new Publishing({ connection, ...kept, items, readings, reported: this.#reported, run })
  }

  /** What there was to come of a subscription that the server does not go on with. */
  #lossOf(from: SourcePosition | undefined): readonly FetchedMessage[] {
    const before = readPosition(from)
    return before === undefined ? [] : [lostSubscription(before, this.#source)]
  }

  get #source(): string {
    return `the OPC UA server at ${this.#options.endpoint}`
  }

  /** A new one is durable before anything of it is read: that it was there is known then. */
  async #subscribe(
    connection: OpcUaConnection,
    run: FetchRun,
    from: SourcePosition | undefined,
  ): Promise<Subscription> {
    const before = readPosition(from)
    if (before !== undefined) {
      const resumed = await resumeSubscription(connection, this.#options, before)
      if (resumed !== undefined) return resumed
    }
    const created = await createSubscription(connection, this.#options)
    const position = { ...created.position, open: readOpen(from) }
    await run.accept(this.#lossOf(from), writePosition(position))
    return { ...created, position }
  }
}

/** What is under way is durable, or has failed, or takes too long. */
async function finished(publishing: Publishing): Promise<void> {
  await race([publishing.close(), sleep(finishMs, undefined, { ref: false })])
}
