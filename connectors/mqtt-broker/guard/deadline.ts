import { ClosingError } from './closing.ts'

/** Time from the accept of a connection to the end of its CONNECT, however it dribbles in. */
const connectMsMax = 10_000

interface DeadlineNeeds {
  readonly close: (error: ClosingError) => void
  /** True while we do not read what the client says. */
  readonly isDeaf: () => boolean
}

/** When a connection ends by itself: first the time for CONNECT counts, then the keep-alive. */
export class Deadline {
  readonly #needs: DeadlineNeeds
  #timer: NodeJS.Timeout | undefined
  #isConnected = false
  /** The keep-alive is over, and nothing was read since. */
  #isSilent = false

  constructor(needs: DeadlineNeeds) {
    this.#needs = needs
    this.#timer = setTimeout(() => {
      needs.close(new ClosingError('connect_timeout', 'no CONNECT arrived in time'))
    }, connectMsMax)
  }

  /**
   * To be called with the keep-alive of a CONNECT, in seconds; 0 is none. One and a half times that
   * without a byte ends the connection ([MQTT-3.1.2-24]).
   */
  connected(keepAliveS: number): void {
    this.clear()
    this.#isConnected = true
    if (keepAliveS === 0) return
    this.#timer = setTimeout(() => {
      this.#isSilent = true
      // Timers go off, after the thread has stood still, before what has arrived meanwhile is read.
      setImmediate(() => this.#closeSilent())
    }, keepAliveS * 1_500)
  }

  /** To be called when something has arrived. */
  postpone(): void {
    this.#isSilent = false
    if (this.#isConnected) this.#timer?.refresh()
  }

  clear(): void {
    this.#isSilent = false
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #closeSilent(): void {
    if (!this.#isSilent) return
    // While we do not read we cannot know whether the client has spoken.
    if (this.#needs.isDeaf()) this.postpone()
    else this.#needs.close(new ClosingError('keep_alive', 'nothing within the keep-alive'))
  }
}
