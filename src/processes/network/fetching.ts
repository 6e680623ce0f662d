import type { Logger } from 'pino'
import { fetchConnectors, pollConnectors } from '../../../connectors/index.ts'
import type { Config } from '../../config/config.ts'
import { systemClock } from '../../core/clock.ts'
import type { StreamId } from '../../core/ids.ts'
import { AllowedDestinations } from '../../egress/allowed-destinations.ts'
import { EgressGuard } from '../../egress/egress-guard.ts'
import { guardedDial } from '../../egress/guarded-dial.ts'
import { DataStreamStore } from '../../streams/data-streams/data-stream-store.ts'
import type { StreamSources } from '../../streams/data-streams/stream-sources.ts'
import type { HookFigures } from '../../streams/sources/hook-figures.ts'
import { RunningSources } from '../../streams/sources/running-sources.ts'
import { scheduled } from '../../streams/sources/schedules/scheduled-source.ts'
import { SourceChanges } from '../../streams/sources/source-changes.ts'
import { SourcePositions } from '../../streams/sources/source-positions.ts'
import { type Cipher, SourceStore } from '../../streams/sources/source-store.ts'
import { SourceTrials } from '../../streams/sources/source-trials.ts'
import type { Engine } from './engine.ts'
import { type Hooks, openHooks } from './inbound-hooks.ts'

interface FetchingNeeds {
  readonly engine: Engine
  readonly config: Pick<Config, 'egressAllowed' | 'sqliteFolders'>
  readonly cipher: Cipher & { digest(text: string): string }
  readonly logger: Logger
  readonly onFailure: (error: unknown) => void
}

/** Everything about streams whose readings are fetched. */
export interface Fetching {
  readonly changes: StreamSources
  readonly running: RunningSources
  readonly hooks: Hooks
  /** The parts that have figures. */
  readonly measured: { readonly sources: RunningSources; readonly hooks: HookFigures }
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
  const connectors = [
    ...fetchConnectors,
    ...pollConnectors(config).map((connector) => scheduled(connector)),
  ]
  const streams = new DataStreamStore(state, systemClock)
  const positions = new SourcePositions({
    load: (id) => store.positionOf(id),
    head: async () => (await engine.journal.status()).head,
    decided: async () => (await engine.worker.status()).decider.position,
  })
  engine.departures.onDeparture((id) => positions.forget(id))
  const loadStream = (id: StreamId) => streams.load(id)
  const running = new RunningSources({
    store,
    connectors,
    loadStream,
    intake,
    findStream: (id) => directory.find(id),
    assertReady: () => engine.assertReady(),
    dial: guardedDial(guard),
    positions,
    nowUs: () => systemClock.nowUs(),
    onFailing: (streamId, reason) => logger.warn({ streamId, reason }, 'a source fails'),
    onNotReleased: (streamId, reason) =>
      logger.warn({ streamId, reason }, 'a source may still keep messages for us'),
    onFailure,
  })
  const trials = new SourceTrials({ connectors, dial: guardedDial(guard), nowUs })
  const changes = new SourceChanges({ store, guard, connectors, positions })
  const hooks = openHooks({ engine, store, cipher, loadStream, positions })
  return {
    running,
    hooks,
    measured: { sources: running, hooks: hooks.figures },
    changes: streamSources({ changes, running, trials, hooks }),
  }
}

const nowUs = () => systemClock.nowUs()

/** All of it that is about streams, as their routes see it. */
function streamSources({
  changes,
  running,
  trials,
  hooks,
}: Pick<Fetching, 'running' | 'hooks'> & {
  readonly changes: SourceChanges
  readonly trials: SourceTrials
}): StreamSources {
  return {
    planned: (stream) => changes.planned(stream),
    completed: (stream, changed) => changes.completed(stream, changed),
    changed: (stream, source) => changes.changed(stream, source),
    rotated: (stream, secret, untilUs) => changes.rotated(stream, secret, untilUs),
    removed: (id) => changes.removed(id),
    assertAllowed: (source) => changes.assertAllowed(source),
    assertRoom: (ownerId, count) => changes.assertRoom(ownerId, count),
    wake(id) {
      hooks.directory.forget(id)
      running.wake(id)
    },
    tried: (source, userId) => trials.try(source, userId),
    hurry: (id) => running.hurry(id),
    statusOf: (id) => running.statusOf(id),
    failing: () => running.failing(),
    hookIdOf: (id) => hooks.ids.idOf(id),
    hookStatusOf: (id) => hooks.figures.statusOf(id),
  }
}
