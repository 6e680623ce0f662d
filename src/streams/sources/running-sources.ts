import { mapperOf } from '../../../processors/mapping/mapper.ts'
import type {
  FetchConnector,
  FetchedSource,
  SourceDefinition,
} from '../../contracts/fetch-connector.ts'
import { canonicalJson } from '../../core/canonical-json.ts'
import { messageOf } from '../../core/errors.ts'
import type { StreamId, UserId } from '../../core/ids.ts'
import type { DataStream } from '../data-streams/data-stream-store.ts'
import { schemaOf } from '../data-streams/definition.ts'
import { expanded } from '../data-streams/named-secrets.ts'
import { withSecrets } from '../data-streams/source-secrets.ts'
import type { SourceRounds, SourceStatus, StreamSources } from '../data-streams/stream-sources.ts'
import { HandedIn } from './handed-in.ts'
import { LeftMessages } from './left-messages.ts'
import type { SourcePositions } from './source-positions.ts'
import { SourceRunner, type SourceRunnerNeeds } from './source-runner.ts'
import type { SourceStore } from './source-store.ts'

/** Time for the other side to forget us. */
const releaseMs = 10_000

/** Time for the other side to forget us when the service ends. */
const lastReleaseMs = 3_000

/** Time that connections are spread over at the start: for each of them, and at most. */
const spreadMs = { each: 5, inAll: 5_000 } as const

export interface RunningSourcesNeeds
  extends Omit<SourceRunnerNeeds, 'handedIn' | 'left' | 'positions'> {
  readonly positions: SourcePositions
  readonly store: SourceStore
  readonly connectors: readonly FetchConnector[]
  readonly loadStream: (id: StreamId) => Promise<DataStream | undefined>
  /** Called when the other side may still keep something for us, with the reason. */
  readonly onNotReleased: (id: StreamId, reason: string) => void
  /** Called with a failure that should not have happened. */
  readonly onFailure: (error: unknown) => void
}

interface Known {
  readonly source: FetchedSource
  readonly runner: SourceRunner
  /** The source with its secrets, and whether a mapping is behind it: another text is another source. */
  readonly text: string
}

interface Wanted {
  readonly connector: FetchConnector
  readonly source: Readonly<Record<string, unknown>>
  readonly secrets: readonly string[]
  readonly isPaused: boolean
  readonly isMapped: boolean
}

/** Figures of all sources together. */
export interface SourceTotals {
  readonly running: number
  readonly connecting: number
  readonly waiting: number
  readonly failing: number
  readonly paused: number
  readonly connections: number
  readonly messages: number
  /** Messages that were left out on purpose. */
  readonly skipped: number
  readonly unacknowledged: number
  readonly rounds: SourceRounds
  /** Lag of the source that is furthest behind its schedule. */
  readonly lagUs: number
}

/**
 * Keeps one source running for each stream that fetches: whatever happens to a stream, it is looked
 * up anew, and its source is started, stopped or replaced as its definition says now.
 */
export class RunningSources
  implements Pick<StreamSources, 'wake' | 'statusOf' | 'failing' | 'hurry'>
{
  readonly #needs: RunningSourcesNeeds
  readonly #left: LeftMessages
  readonly #handedIn = new HandedIn()
  readonly #known = new Map<StreamId, Known>()
  /** Streams that are being looked at: one look at a time. */
  readonly #looks = new Map<StreamId, Promise<void>>()
  /** Counts of sources that were replaced or taken away. */
  readonly #ended = {
    connections: 0,
    messages: 0,
    skipped: 0,
    rounds: { count: 0, overlapped: 0, missed: 0 },
  }
  #isStopped = false
  /** Controller that is aborted when nothing may take long any more. */
  readonly #hurry = new AbortController()

  constructor(needs: RunningSourcesNeeds) {
    this.#needs = needs
    this.#left = new LeftMessages({ ...needs, handedIn: this.#handedIn })
  }

  async start(): Promise<void> {
    const ids = await this.#needs.store.ids()
    const withinMs = Math.min(ids.length * spreadMs.each, spreadMs.inAll)
    for (const id of ids) this.#look(id, Math.random() * withinMs)
  }

  wake(id: StreamId): void {
    this.#look(id, 0)
  }

  /** To be called when a user is gone. */
  wakeUser(userId: UserId): void {
    const { store, onFailure } = this.#needs
    const wakeAll = async () => {
      for (const id of await store.idsOf(userId)) this.wake(id)
    }
    wakeAll().catch(onFailure)
  }

  hurry(id: StreamId): boolean {
    const runner = this.#known.get(id)?.runner
    if (runner?.isRunning !== true) return false
    runner.hurry()
    return true
  }

  statusOf(id: StreamId): SourceStatus | undefined {
    return this.#known.get(id)?.runner.status
  }

  failing(): readonly StreamId[] {
    return [...this.#known].filter(([, { runner }]) => runner.status.isLasting).map(([id]) => id)
  }

  readonly totals = (): SourceTotals => {
    const states = { running: 0, connecting: 0, waiting: 0, failing: 0, paused: 0 }
    let { connections, messages, skipped } = this.#ended
    let unacknowledged = 0
    let lagUs = 0
    const rounds = { ...this.#ended.rounds }
    for (const { runner } of this.#known.values()) {
      const { status } = runner
      states[status.state]++
      connections += runner.connections
      messages += status.messages
      skipped += status.skipped
      unacknowledged += status.unacknowledged
      lagUs = Math.max(lagUs, status.lagUs ?? 0)
      addTo(rounds, status.rounds)
    }
    return { ...states, connections, messages, skipped, unacknowledged, rounds, lagUs }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    const patience = setTimeout(() => this.#hurry.abort(), lastReleaseMs)
    await Promise.all([...this.#known.values()].map(({ runner }) => runner.stop()))
    await Promise.all(this.#looks.values())
    clearTimeout(patience)
  }

  #look(id: StreamId, delayMs: number): void {
    const before = this.#looks.get(id) ?? Promise.resolve()
    const look = before
      .then(() => this.#bringAbout(id, delayMs))
      .catch((error: unknown) => this.#needs.onFailure(error))
      .finally(() => {
        if (this.#looks.get(id) === look) this.#looks.delete(id)
      })
    this.#looks.set(id, look)
  }

  async #bringAbout(id: StreamId, delayMs: number): Promise<void> {
    if (this.#isStopped) return
    const wanted = await this.#wanted(id)
    let known = this.#known.get(id)
    if (known && known.text !== (wanted && textOf(wanted))) {
      await this.#end(id, known, wanted)
      known = undefined
    } else if (wanted === undefined) await this.#dealWithLeft(id)
    if (wanted === undefined || this.#isStopped) return
    known ??= this.#open(id, wanted)
    if (wanted.isPaused) await known.runner.stop()
    else known.runner.start(delayMs)
  }

  /** Deals with what the source of a stream has left that fetches nothing any more. */
  async #dealWithLeft(id: StreamId): Promise<void> {
    const { positions, loadStream } = this.#needs
    const stream = await loadStream(id)
    if (stream === undefined) {
      positions.forget(id)
      return
    }
    const { source } = stream
    await this.#left.handOver(id, { identity: undefined, source }, this.#hurry.signal)
  }

  async #wanted(id: StreamId): Promise<Wanted | undefined> {
    const { store, connectors, loadStream } = this.#needs
    const stream = await loadStream(id)
    const secrets = stream && (await store.secretsOf(id))
    if (stream === undefined || secrets === undefined) return undefined
    const source = withSecrets(stream.source, secrets)
    const connector = connectors.find((one) => one.takes(source))
    if (!connector) return undefined
    const isMapped = mapperOf(schemaOf(stream)) !== undefined
    return {
      connector,
      source,
      secrets: Object.values(secrets),
      isPaused: stream.isPaused,
      isMapped,
    }
  }

  #open(id: StreamId, wanted: Wanted): Known {
    const { connector, source, secrets, isMapped } = wanted
    const opened = openedBy(connector, { streamId: id, source, isMapped })
    const runner = new SourceRunner(
      { ...this.#needs, left: this.#left, handedIn: this.#handedIn },
      id,
      { source: opened, definition: source, secrets },
    )
    const known = { source: opened, runner, text: textOf(wanted) }
    this.#known.set(id, known)
    return known
  }

  /** Where the other side would know the next source by the same name, it need not forget us. */
  async #end(id: StreamId, { source, runner }: Known, wanted: Wanted | undefined): Promise<void> {
    this.#known.delete(id)
    await runner.stop()
    // What is left is dealt with before anything else can have a position of this stream.
    if (wanted === undefined) await this.#dealWithLeft(id).catch(this.#needs.onFailure)
    this.#ended.connections += runner.connections
    const { messages, skipped, rounds } = runner.status
    this.#ended.messages += messages
    this.#ended.skipped += skipped
    addTo(this.#ended.rounds, rounds)
    const next = wanted && openedBy(wanted.connector, { streamId: id, source: wanted.source })
    if (next?.identity === source.identity || !source.release) return
    try {
      const { dial } = this.#needs
      const signal = AbortSignal.any([AbortSignal.timeout(releaseMs), this.#hurry.signal])
      await source.release({ dial, signal })
    } catch (error) {
      this.#needs.onNotReleased(id, runner.withoutSecrets(messageOf(error)))
    }
  }
}

/** What a source is known by does not change with a secret in its address: it is read on, and not anew. */
function openedBy(connector: FetchConnector, definition: SourceDefinition): FetchedSource {
  const { source } = definition
  const opened = connector.open({ ...definition, source: expanded(source) })
  if (source['secrets'] === undefined) return opened
  const { identity } = connector.open(definition)
  return {
    identity,
    run: (run) => opened.run(run),
    ...(opened.release && { release: (run) => opened.release?.(run) ?? Promise.resolve() }),
  }
}

function addTo(
  sum: { -readonly [Figure in keyof SourceRounds]: number },
  rounds: SourceRounds | undefined,
): void {
  sum.count += rounds?.count ?? 0
  sum.overlapped += rounds?.overlapped ?? 0
  sum.missed += rounds?.missed ?? 0
}

function textOf({ source, isMapped }: Wanted): string {
  return canonicalJson(isMapped ? [source] : source)
}
