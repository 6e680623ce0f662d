/** The states that a stream shows (decisions.md#pauses-and-states). */
export const streamStates = ['created', 'active', 'paused', 'error'] as const

/** `error` is for streams whose source has failed for long, or until somebody mends something. */
export function stateOf(stream: {
  readonly isPaused: boolean
  readonly hasReceived: boolean
  readonly isFailing: boolean
}): (typeof streamStates)[number] {
  if (stream.isPaused) return 'paused'
  if (stream.isFailing) return 'error'
  return stream.hasReceived ? 'active' : 'created'
}
