import { computed, signal } from '@preact/signals'
import { serviceNowMs } from './service-clock.ts'

/** How the page is connected: the one place that tells it, in one line at the top. */
export interface Connection {
  /** Since when no call has reached the service; undefined while they do. */
  readonly cutOffSinceMs: number | undefined
  /** When the next try is made. */
  readonly nextTryMs: number | undefined
}

const state = signal<Connection>({ cutOffSinceMs: undefined, nextTryMs: undefined })

export const connection = computed(() => state.value)

/** Calls have reached the service, whatever it said. */
export function noteReached(): void {
  if (state.peek().cutOffSinceMs !== undefined) {
    state.value = { cutOffSinceMs: undefined, nextTryMs: undefined }
  }
}

/** A call has not; undefined: nothing tries again by itself. */
export function noteCutOff(nextTryMs: number | undefined): void {
  const { cutOffSinceMs = serviceNowMs() } = state.peek()
  state.value = { cutOffSinceMs, nextTryMs }
}
