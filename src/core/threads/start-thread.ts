import { extname } from 'node:path'
import { type Transferable, Worker } from 'node:worker_threads'
import { isFault } from './faults.ts'

/**
 * Starts a module as a thread. `module` is its path without ending, relative to `from`: the sources
 * run as .ts, a release as .js.
 */
export function startThread(
  from: string,
  module: string,
  { workerData, transferList = [] }: ThreadOptions,
): Worker {
  return new Worker(new URL(module + extname(new URL(from).pathname), from), {
    workerData,
    transferList: [...transferList],
  })
}

export interface ThreadOptions {
  readonly workerData: unknown
  readonly transferList?: readonly Transferable[]
}

/**
 * A promise that rejects when the thread ends by an error, or tells of one that nothing in it was waiting
 * for (`reportFaults`); else it stays open.
 */
export function threadFailure(thread: Worker): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>()
  thread.on('error', reject)
  thread.on('message', (message: unknown) => {
    if (isFault(message)) reject(message.fault)
  })
  // Callers who want to know await the promise; nobody waiting is no fault.
  promise.catch(() => undefined)
  return promise
}
