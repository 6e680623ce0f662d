import type { Operations } from '../../../clients/typescript/call.ts'
import { count } from '../formats/numbers.ts'
import { paths, withQuery } from '../routing/paths.ts'
import { Badge } from './badge.tsx'
import './firing-alerts.css'

export interface FiringAlertsProps {
  readonly streamId: string
  readonly of: Operations['readStreamStatus']['answer']['firing']
}

const tones = { critical: 'bad', warning: 'warn', info: 'quiet' } as const

/** How many alerts of a stream fire, and how bad the worst is; it leads to them. Nothing where none does. */
export function FiringAlerts({ streamId, of: { alerts, severity } }: FiringAlertsProps) {
  if (alerts === 0) return null
  return (
    <a href={withQuery(paths.alerts, { stream: streamId })} class="firing-alerts">
      <Badge tone={tones[severity ?? 'info']}>{count(alerts)} firing</Badge>
    </a>
  )
}
