import { race } from '../../src/core/race.ts'
/**
 * Has those who want the same device take turns: many a one takes a single connection. Each of those who wait is a
 * source that is running or tried, of which there is a limit.
 */
export class DeviceTurns {
  readonly #last = new Map<string, Promise<void>>()

  /**
   * Resolves when nobody else is at the device, until what it returns is disposed of.
   *
   * @throws whatever the signal was aborted with
   */
  async take(device: string, signal: AbortSignal): Promise<Disposable> {
    const before = this.#last.get(device)
    const own = Promise.withResolvers<void>()
    const last = bothOf(before, own.promise)
    this.#last.set(device, last)
    void this.#forget(device, last)
    try {
      await unlessAborted(before, signal)
    } catch (error) {
      own.resolve()
      throw error
    }
    return { [Symbol.dispose]: own.resolve }
  }

  async #forget(device: string, last: Promise<void>): Promise<void> {
    await last
    if (this.#last.get(device) === last) this.#last.delete(device)
  }
}

async function bothOf(before: Promise<void> | undefined, own: Promise<void>): Promise<void> {
  await before
  await own
}

async function unlessAborted(turn: Promise<void> | undefined, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.throwIfAborted()
  signal.addEventListener('abort', abort)
  try {
    await race([turn, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
