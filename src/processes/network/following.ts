import type { Logger } from 'pino'
import type { ConsoleSessions } from '../../access/auth/console-sessions.ts'
import { systemClock } from '../../core/clock.ts'
import { JournalTails } from '../../reading/live/journal-tails.ts'
import { OpenTails } from '../../reading/live/open-tails.ts'
import type { LiveParts } from '../../reading/live/tail-routes.ts'
import type { Engine } from './engine.ts'

/** Composition of live reading: who follows streams, and what they are told from. */
export function openLive(
  { journalPath, news, worker }: Engine,
  { logger, sessions }: { readonly logger: Logger; readonly sessions: ConsoleSessions },
): LiveParts {
  const onFailure = (error: unknown) => logger.error({ err: error }, 'following a stream failed')
  return {
    tails: new OpenTails({
      nowUs: () => systemClock.nowUs(),
      isGoodSession: (session) => sessions.isGood(session),
    }),
    journal: new JournalTails({ journalPath, news, onFailure }),
    history: (query) => worker.store.history(query),
    placeBeforeNewest: (streamId, count) => worker.store.placeBeforeNewest({ streamId, count }),
    onFailure,
  }
}
