import { CommandError } from './command.ts'
import { onStopSignals } from './stop-signals.ts'

/** What a user reads who has ended a command before it was done. */
interface Interruption {
  readonly message: string
  readonly remedy?: string
}

/**
 * Does work that Ctrl-C ends: the signal is aborted then.
 *
 * @param interruption asked once the work has ended by the signal
 * @throws CommandError `interrupted` in place of what the work throws after the signal
 */
export async function interruptible<Result>(
  work: (stopped: AbortSignal) => Promise<Result>,
  interruption: () => Interruption,
): Promise<Result> {
  const stopping = new AbortController()
  const ignoreSignals = onStopSignals({ stop: () => stopping.abort() })
  try {
    return await work(stopping.signal)
  } catch (error) {
    if (!stopping.signal.aborted) throw error
    const { message, remedy } = interruption()
    throw new CommandError('interrupted', message, { cause: error, remedy })
  } finally {
    ignoreSignals()
  }
}
