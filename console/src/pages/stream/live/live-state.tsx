import { useRef } from 'preact/hooks'
import type { StreamState } from '../../../api/event-stream.ts'
import { Badge } from '../../../components/badge.tsx'
import { FailureText } from '../../../components/states.tsx'
import { nowMs, Time } from '../../../components/time.tsx'
import { rate } from '../../../formats/numbers.ts'
import { dateTime, span } from '../../../formats/times.ts'
import type { LiveReadings } from './live-readings.ts'

export interface LiveStateProps {
  readonly state: StreamState
  readonly readings: LiveReadings
  readonly beat: number
  readonly retry: () => void
}

/** Whether readings come in, since when, how many, and what was the last. */
export function LiveStateLine({ state, readings, retry }: LiveStateProps) {
  const sinceMs = useRef<number | undefined>(undefined)
  if (state.is === 'open') sinceMs.current ??= nowMs.peek()
  else if (state.is !== 'opening') sinceMs.current = undefined
  if (state.is === 'failed') {
    return (
      <div class="notice bad" role="alert">
        <FailureText failure={state.failure} />
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      </div>
    )
  }
  return (
    <>
      <span role="status">
        <StateBadge state={state} sinceMs={sinceMs.current} />
        {state.is === 'waiting' && state.failure !== undefined && (
          <>
            {' '}
            {state.failure.message} <code>{state.failure.code}</code>
          </>
        )}
      </span>
      {state.is === 'waiting' && (
        <button type="button" class="button" onClick={retry}>
          Try now
        </button>
      )}
      <span class="soft">
        {readings.newestTime === '' ? (
          state.is === 'open' && 'no reading yet'
        ) : (
          <>
            last reading <Time at={Math.min(readings.newestMs, nowMs.value)} as="ago" />,{' '}
            {rate(readings.rate(nowMs.value))}/s
          </>
        )}
      </span>
    </>
  )
}

function StateBadge({
  state,
  sinceMs,
}: {
  readonly state: StreamState
  readonly sinceMs: number | undefined
}) {
  if (state.is === 'open') {
    const since = sinceMs === undefined ? '' : ` since ${dateTime(sinceMs).slice(11)}`
    return <Badge tone="good">live{since}</Badge>
  }
  if (state.is === 'waiting') {
    const leftS = Math.max(0, Math.ceil((state.nextTryMs - nowMs.value) / 1000))
    return (
      <Badge tone="warn">
        cut off<span aria-hidden="true">, trying in {span(leftS)}</span>
      </Badge>
    )
  }
  return <Badge tone="quiet">{state.is === 'hidden' ? 'resting while hidden' : 'connecting'}</Badge>
}
