import { CircleCheck, CircleDot, CirclePause, OctagonAlert, TriangleAlert } from 'lucide'
import type { ComponentChildren } from 'preact'
import { Icon, type IconNode } from './icon.tsx'

/** How good a state is. It is told by words and a sign, and never by colour alone. */
export type Tone = 'good' | 'warn' | 'bad' | 'quiet' | 'paused'

const signs: Readonly<Record<Tone, IconNode>> = {
  good: CircleCheck,
  warn: TriangleAlert,
  bad: OctagonAlert,
  quiet: CircleDot,
  paused: CirclePause,
}

export function Badge({
  tone,
  children,
}: {
  readonly tone: Tone
  readonly children: ComponentChildren
}) {
  return (
    <span class={`badge ${tone === 'paused' ? 'quiet' : tone}`}>
      <Icon of={signs[tone]} />
      {children}
    </span>
  )
}
