import { api } from './client.ts'
import { connection } from './connection.ts'

/** A call that failed and is not tried again by itself says nothing of when the service is back. */
const probeMs = 4_000

/**
 * While the page is cut off and nothing else tries, this does: the line at the top would stay there else. Until it is
 * told to stop.
 */
export function tryWhileCutOff(): () => void {
  const timer = setInterval(() => {
    const { cutOffSinceMs, nextTryMs } = connection.peek()
    if (document.hidden || cutOffSinceMs === undefined) return
    if (nextTryMs === undefined || nextTryMs + probeMs < Date.now()) probe()
  }, probeMs)
  const onLine = () => {
    if (connection.peek().cutOffSinceMs !== undefined) probe()
  }
  addEventListener('online', onLine)
  return () => {
    clearInterval(timer)
    removeEventListener('online', onLine)
  }
}

/** The client notes whether it was reached. */
function probe(): void {
  void api.call('readConsoleSession').catch(() => undefined)
}
