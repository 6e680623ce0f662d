import { monotonicMs } from '../core/clock.ts'

/**
 * A signal that comes so soon after the first is the same wish: a terminal sends Ctrl-C to every process that
 * runs in it, and npm, sh and a supervisor pass on to those below them what they have got themselves.
 */
const sameWishMs = 2_000

/** How often it is looked whether the process that has started us is still there. */
const parentCheckMs = 250

type StopSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP'

/** A terminal that is closed sends SIGHUP. Node ends at once by it where nothing listens, also under nohup. */
const stopSignals: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

interface StopHandlers {
  /** Signals that mean something else. */
  readonly except?: readonly StopSignal[]
  /** Called at the first wish to stop. */
  readonly stop: (signal: StopSignal) => void
  /** Called at every wish that comes later. Left out: the process ends. */
  readonly atOnce?: (signal: StopSignal) => void
}

/**
 * Listens to those who want the process to stop, until the function that is returned is called. By the
 * monotonic clock, which no one sets.
 */
export function onStopSignals({ stop, atOnce = endAtOnce, except = [] }: StopHandlers): () => void {
  const signals = stopSignals.filter((signal) => !except.includes(signal))
  let firstMs: number | undefined
  const receive = (signal: StopSignal) => {
    const nowMs = monotonicMs()
    if (firstMs === undefined) {
      firstMs = nowMs
      stop(signal)
    } else if (nowMs - firstMs >= sameWishMs) {
      atOnce(signal)
    }
  }
  for (const signal of signals) process.on(signal, receive)
  const watch = watchShellOfNpx(() => receive('SIGTERM'))
  return () => {
    for (const signal of signals) process.off(signal, receive)
    clearInterval(watch)
  }
}

/** 128 and the number of SIGINT, as shells have it. */
function endAtOnce(): never {
  process.exit(130)
}

/**
 * What npx runs is run by a shell, which signals end without reaching us. No other process that starts us needs to
 * stay: a shell that has put us into the background may go.
 */
function watchShellOfNpx(onGone: () => void): NodeJS.Timeout | undefined {
  if (process.env['npm_command'] !== 'exec') return undefined
  const { ppid } = process
  return setInterval(() => {
    if (process.ppid !== ppid) onGone()
  }, parentCheckMs).unref()
}
