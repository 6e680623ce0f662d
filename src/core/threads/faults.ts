import type { MessagePort } from 'node:worker_threads'

/** Faults that one thread tells of: a timer that fails at each turn would fill the log. */
const toldMax = 10

/** An error that nothing was waiting for, as a thread tells of it to whoever has started it. */
interface ToldFault {
  readonly fault: unknown
}

/**
 * Lets a thread go on after an error that nothing in it was waiting for, so that it can be told to stop
 * and finish what it owns. To be called by threads that the service cannot do without; whoever has
 * started one hears of it by `threadFailure`.
 */
export function tellFaults(port: MessagePort): void {
  let told = 0
  process.on('uncaughtException', (error: unknown) => {
    if (told++ < toldMax) port.postMessage({ fault: cloneable(error) } satisfies ToldFault)
  })
}

/** Whether a message of a thread tells of a fault, and answers nobody. */
export function isFault(message: unknown): message is ToldFault {
  return typeof message === 'object' && message !== null && 'fault' in message
}

/** What a structured clone can carry: an error keeps its name, message, stack and cause. */
function cloneable(error: unknown): unknown {
  try {
    return structuredClone(error)
  } catch {
    if (!(error instanceof Error)) return new Error(String(error))
    const { name, message, stack } = error
    return Object.assign(new Error(message), { name, stack })
  }
}
