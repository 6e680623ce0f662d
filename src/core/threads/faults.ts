import type { MessagePort } from 'node:worker_threads'

/** Faults that one thread reports: a timer that fails at each turn would fill the log. */
const reportedMax = 10

/** An error that nothing was waiting for, as a thread reports it to whoever has started it. */
interface ReportedFault {
  readonly fault: unknown
}

/**
 * Lets a thread go on after an error that nothing in it was waiting for, so that it can be told to stop
 * and finish what it owns. To be called by threads that the service cannot do without; whoever has
 * started one hears of it by `threadFailure`.
 */
export function reportFaults(port: MessagePort): void {
  let reported = 0
  process.on('uncaughtException', (error: unknown) => {
    if (reported++ < reportedMax)
      port.postMessage({ fault: cloneable(error) } satisfies ReportedFault)
  })
}

/** Whether a message of a thread reports a fault, and answers nobody. */
export function isFault(message: unknown): message is ReportedFault {
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
