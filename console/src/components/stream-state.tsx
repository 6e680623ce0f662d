import { Badge, type Tone } from './badge.tsx'

const states: Readonly<Record<string, { readonly tone: Tone; readonly meaning: string }>> = {
  created: { tone: 'quiet', meaning: 'It was made, and has received nothing yet.' },
  active: { tone: 'good', meaning: 'It receives readings.' },
  paused: { tone: 'paused', meaning: 'It is paused: it takes no readings.' },
  error: { tone: 'bad', meaning: 'Its source fails: nothing comes in.' },
}

/** States that a stream can be in. */
export const streamStates: readonly string[] = Object.keys(states)

/** The state of a stream. */
export function StreamState({ state }: { readonly state: string }) {
  const { tone = 'quiet', meaning = '' } = states[state] ?? {}
  return (
    <span title={meaning}>
      <Badge tone={tone}>{state}</Badge>
    </span>
  )
}
