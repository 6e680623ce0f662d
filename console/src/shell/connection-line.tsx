import { connection } from '../api/connection.ts'
import { nowMs } from '../components/time.tsx'
import { dateTime, span } from '../formats/times.ts'

/** The one indicator of the connection: nothing is said while all is well. */
export function ConnectionLine() {
  const { cutOffSinceMs, nextTryMs } = connection.value
  if (cutOffSinceMs === undefined) return null
  const leftS = nextTryMs === undefined ? undefined : Math.max(0, (nextTryMs - nowMs.value) / 1000)
  return (
    <div class="connection-line" role="status">
      Not connected since {dateTime(cutOffSinceMs).slice(11)}
      {leftS !== undefined && <span aria-hidden="true">, trying in {span(Math.ceil(leftS))}</span>}
    </div>
  )
}
