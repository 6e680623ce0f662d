import type { FastifyPluginAsync } from 'fastify'
import { connectors } from '../../../connectors/index.ts'
import { InboundHook } from '../../../connectors/webhook/inbound-hook.ts'
import { systemClock } from '../../core/clock.ts'
import { DomainError } from '../../core/errors.ts'
import type { StreamId } from '../../core/ids.ts'
import type { DataStream } from '../../streams/data-streams/data-stream-store.ts'
import { type HookDefinition, HookDirectory } from '../../streams/sources/hook-directory.ts'
import { HookFigures } from '../../streams/sources/hook-figures.ts'
import { HookIds } from '../../streams/sources/hook-ids.ts'
import type { SourcePositions } from '../../streams/sources/source-positions.ts'
import type { SourceStore } from '../../streams/sources/source-store.ts'
import type { Engine } from './engine.ts'

/** Everything about streams that others send to. */
export interface Hooks {
  readonly ids: HookIds
  readonly directory: HookDirectory<InboundHook>
  readonly figures: HookFigures
  readonly route: FastifyPluginAsync
}

/** Time for the state to catch up with what the journal had at the start. */
const catchUpMs = 10_000

/** What the ids of messages stand for in the journal. */
const identity = 'webhook'

interface HooksNeeds {
  readonly engine: Engine
  readonly store: SourceStore
  readonly cipher: { digest(text: string): string }
  readonly loadStream: (id: StreamId) => Promise<DataStream | undefined>
  readonly positions: SourcePositions
}

/** Composition of what is sent to the addresses of streams. */
export function openHooks({ engine, store, cipher, loadStream, positions }: HooksNeeds): Hooks {
  const ids = new HookIds((text) => cipher.digest(text))
  const directory = new HookDirectory({ ids, store, loadStream, open: opened })
  const figures = new HookFigures()
  engine.departures.onDeparture((id) => {
    directory.forget(id)
    figures.forget(id)
  })
  const route = connectors.webhook({
    intake: engine.intake,
    hooks: directory,
    findStream: (id) => engine.directory.find(id),
    positions: {
      async load(id) {
        const position = await positions
          .find(id, identity, AbortSignal.timeout(catchUpMs))
          .catch(later)
        const newest = position?.['newest']
        return typeof newest === 'string' ? newest : undefined
      },
      textOf: (newest) => positions.textOf(identity, { newest }),
      note: (id, text) => positions.note(id, text),
    },
    figures,
    onStreamGone: (listener) => engine.departures.onDeparture(listener),
    nowUs: () => systemClock.nowUs(),
    assertReady: () => engine.assertReady(),
  })
  return { ids, directory, figures, route }
}

/** @throws DomainError `overloaded` */
function later(cause: unknown): never {
  const message = 'what came before the start is still being looked at'
  throw new DomainError('overloaded', message, { retryAfter: 5, cause })
}

function opened(definition: HookDefinition): InboundHook {
  return new InboundHook(definition)
}
