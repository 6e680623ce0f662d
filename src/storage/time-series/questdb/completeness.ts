import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../../../core/clock.ts'
import { race } from '../../../core/race.ts'
import type { QuestDbConnection } from './connection.ts'
import { type Durability, RepetitionPending } from './durability.ts'
import type { Ledger } from './ledger.ts'
import type { WriterTurns } from './writer-turns.ts'

/** Readers wait so long for what is sent again; after that they are told to come later. */
const repeatedMsMax = 5_000

const pollMs = 10

/** Tells one stretch of time in which nothing was missing from the next. */
export type Stretch = number

export interface CompletenessNeeds {
  readonly ledger: Ledger
  readonly durability: Durability
  readonly turns: WriterTurns
  /** Finds out whether QuestDB was started anew. */
  readonly look: () => Promise<void>
}

/**
 * Whether QuestDB shows all that is stored. When it was started anew it may have lost some, and until that was
 * sent again rows are missing, and others are there that a removal behind them takes away again: nobody may be
 * answered out of that.
 */
export class Completeness {
  readonly #needs: CompletenessNeeds
  /** How many sockets of a connection there were when it was last looked who answers. */
  readonly #opened = new WeakMap<QuestDbConnection, number>()

  constructor(needs: CompletenessNeeds) {
    this.#needs = needs
  }

  /**
   * Resolves when nothing is missing.
   *
   * @throws RepetitionPending when that takes long; QuestDbAway
   */
  async reached(connection: QuestDbConnection, signal?: AbortSignal): Promise<Stretch> {
    const { durability } = this.#needs
    await this.#look(connection, signal)
    const deadlineMs = monotonicMs() + repeatedMsMax
    while (durability.isRepeating) {
      if (monotonicMs() > deadlineMs) throw pending()
      await sleep(pollMs, undefined, { signal })
    }
    return durability.repetitions
  }

  /** @throws RepetitionPending when something may have been missing since; QuestDbAway */
  async assertSince(
    stretch: Stretch,
    connection: QuestDbConnection,
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#look(connection, signal)
    if (this.#needs.durability.repetitions !== stretch) throw pending()
  }

  /** On a new socket another process may answer than before. */
  async #look(connection: QuestDbConnection, signal?: AbortSignal): Promise<void> {
    const { ledger, turns, look } = this.#needs
    if (ledger.unproven.isEmpty) return
    const { opened } = connection
    if (turns.isConnected && this.#opened.get(connection) === opened) return
    await unlessAborted(look(), signal)
    this.#opened.set(connection, opened)
  }
}

/** The look waits for its turn behind what is written, which takes no signal. */
async function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (!signal) return await work
  const done = new AbortController()
  const aborted = once(signal, 'abort', { signal: done.signal }).then(
    () => signal.throwIfAborted(),
    () => undefined,
  )
  try {
    signal.throwIfAborted()
    await race([work, aborted])
  } finally {
    done.abort()
  }
}

function pending(): RepetitionPending {
  return new RepetitionPending(
    'QuestDB was restarted: what it may have lost is being sent again, and shown when it is complete',
  )
}
