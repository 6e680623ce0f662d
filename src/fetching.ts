import type { Logger } from 'pino'
import { fetchConnectors } from '../connectors/index.ts'
import type { Config } from './config/config.ts'
import { systemClock } from './core/clock.ts'
import { DataStreamStore } from './data-streams/data-stream-store.ts'
import type { StreamSources } from './data-streams/stream-sources.ts'
import { AllowedDestinations } from './egress/allowed-destinations.ts'
import { EgressGuard } from './egress/egress-guard.ts'
import { guardedDial } from './egress/guarded-dial.ts'
import type { Engine } from './engine.ts'
import { RunningSources } from './sources/running-sources.ts'
import { SourceChanges } from './sources/source-changes.ts'
import { type Cipher, SourceStore } from './sources/source-store.ts'

interface FetchingNeeds {
  readonly engine: Engine
  readonly config: Pick<Config, 'egressAllowed'>
  readonly cipher: Cipher
  readonly logger: Logger
  readonly onFailure: (error: unknown) => void
}

/** Everything about streams whose readings are fetched. */
export interface Fetching {
  readonly changes: StreamSources
  readonly running: RunningSources
}

/** Composition of what fetches readings: nothing is fetched before `running.start`. */
export function openFetching({
  engine,
  config,
  cipher,
  logger,
  onFailure,
}: FetchingNeeds): Fetching {
  const { state, intake, directory } = engine
  const guard = new EgressGuard({ allowed: new AllowedDestinations(config.egressAllowed) })
  const store = new SourceStore(state, cipher)
  const streams = new DataStreamStore(state, systemClock)
  const running = new RunningSources({
    store,
    connectors: fetchConnectors,
    loadStream: (id) => streams.load(id),
    intake,
    findStream: (id) => directory.find(id),
    assertReady: () => engine.assertReady(),
    dial: guardedDial(guard),
    nowUs: () => systemClock.nowUs(),
    onFailing: (streamId, reason) => logger.warn({ streamId, reason }, 'a source fails'),
    onNotReleased: (streamId, reason) =>
      logger.warn({ streamId, reason }, 'a source may still keep messages for us'),
    onFailure,
  })
  const changes = new SourceChanges({ store, guard, connectors: fetchConnectors })
  return {
    running,
    changes: {
      planned: (stream) => changes.planned(stream),
      settled: (stream, changed) => changes.settled(stream, changed),
      changed: (stream, source) => changes.changed(stream, source),
      removed: (id) => changes.removed(id),
      assertAllowed: (source) => changes.assertAllowed(source),
      assertRoom: (ownerId, count) => changes.assertRoom(ownerId, count),
      wake: (id) => running.wake(id),
      statusOf: (id) => running.statusOf(id),
    },
  }
}
