import type { Compilable } from 'kysely'
import { DomainError } from '../../core/errors.ts'
import { RemoteThread } from '../../core/threads/remote-thread.ts'
import { type Remote, RemoteError } from '../../core/threads/rpc.ts'
import { startThread } from '../../core/threads/start-thread.ts'
import { haveAnchors, plain, type StateWriter } from '../../storage/state/database.ts'
import type { StoreProcedures, WorkerData, WorkerProcedures } from '../worker/worker-contract.ts'

/** The network thread's side of the worker: whatever it can be asked, and what is made of some of it here. */
export type ProcessingWorker = Own &
  Remote<Omit<WorkerProcedures, keyof Own | keyof StoreProcedures>>

interface Own extends StateWriter {
  /** Rejects when the thread ends by an error of its own. */
  readonly failed: Promise<never>
  /** Questions about stored readings. @throws DomainError `store_unavailable` when the store has failed */
  readonly store: Remote<StoreProcedures>
  /** Calls back when an intent to anchor something was committed. */
  onAnchors(listener: () => void): void
  /** Has it look soon for data that is too old, as what is kept may have changed. */
  wakeRetention(): void
  /** Ends the round under way, closes state and store, and ends the thread. */
  stop(): Promise<void>
}

export function startWorker(data: WorkerData): ProcessingWorker {
  const thread = new RemoteThread<WorkerProcedures>(
    startThread(import.meta.url, '../worker/worker', {
      workerData: data,
      transferList: [data.head, data.notified, data.desk, data.anchorDesk, data.bell, data.sealed],
    }),
  )
  const { calls, failed } = thread
  let anchor: (() => void) | undefined
  const own: Own = {
    failed,
    store: askingStore(calls),
    async commit(...changes: readonly Compilable[]) {
      await calls.commit(changes.map(plain))
      if (haveAnchors(changes)) anchor?.()
    },
    async attempt(...changes: readonly Compilable[]) {
      const isMade = await calls.attempt(changes.map(plain))
      if (isMade && haveAnchors(changes)) anchor?.()
      return isMade
    },
    onAnchors(listener) {
      anchor = listener
    },
    wakeRetention() {
      // When the worker is gone, nobody has to look.
      calls.wakeRetention().catch(() => undefined)
    },
    async stop() {
      await calls.stop()
      await thread.terminate()
    },
  }
  return new Proxy(own, {
    get: (_, name) => Reflect.get(Reflect.has(own, name) ? own : calls, name),
  }) as ProcessingWorker
}

function askingStore(calls: Remote<WorkerProcedures>): Remote<StoreProcedures> {
  const get = (_: object, name: string | symbol) => {
    const ask: unknown = Reflect.get(calls, name)
    return typeof ask === 'function'
      ? (question: unknown) => fromStore(Reflect.apply(ask, undefined, [question]))
      : undefined
  }
  return new Proxy({}, { get }) as Remote<StoreProcedures>
}

/** @throws DomainError `store_unavailable` when the store has failed */
async function fromStore(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error
    throw new DomainError('store_unavailable', 'the time-series store did not answer', {
      cause: error,
      retryAfter: 1,
    })
  }
}
