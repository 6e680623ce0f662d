import { api } from '../../api/client.ts'
import { may } from '../../api/session.ts'
import { Action } from '../../components/action.tsx'
import { Badge, type Tone } from '../../components/badge.tsx'
import { NameLink } from '../../components/name-link.tsx'
import { Time } from '../../components/time.tsx'
import { paths } from '../../routing/paths.ts'
import { type Alert, useStreamNames } from './listed-alerts.ts'

export interface AlertTableProps {
  readonly alerts: readonly Alert[]
  readonly onDone: () => void
}

export function AlertTable({ alerts, onDone }: AlertTableProps) {
  const canAct = may('data:write')
  const names = useStreamNames(alerts.map(({ streamId }) => streamId))
  return (
    <div class="table-wrap">
      <table class="data cards">
        <caption class="visually-hidden">Alerts, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">Severity</th>
            <th scope="col">State</th>
            <th scope="col">Stream</th>
            <th scope="col">Value</th>
            <th scope="col">Began</th>
            {canAct && <th scope="col">What to do</th>}
          </tr>
        </thead>
        <tbody>
          {alerts.map((alert) => (
            <AlertRow
              key={alert.alertId}
              alert={alert}
              streamName={names.get(alert.streamId)}
              canAct={canAct}
              onDone={onDone}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface AlertRowProps {
  readonly alert: Alert
  readonly streamName: string | undefined
  readonly canAct: boolean
  readonly onDone: () => void
}

function AlertRow({ alert, streamName, canAct, onDone }: AlertRowProps) {
  const { alertId, ruleId, severity, state, streamId, value, threshold, createdAt } = alert
  const acknowledge = async () => {
    await api.call('acknowledgeAlert', { path: { alertId } })
    onDone()
  }
  return (
    <tr data-row>
      <td class="title">
        <NameLink href={paths.record('alert', alertId)} name={ruleId} />
      </td>
      <td data-label="Severity">
        <Badge tone={toneOf(severity)}>{severity}</Badge>
      </td>
      <td data-label="State">{state}</td>
      <td data-label="Stream">
        <NameLink href={paths.stream(streamId)} name={streamName ?? streamId} />
      </td>
      <td data-label="Value">{compared(value, threshold)}</td>
      <td data-label="Began">
        <Time at={createdAt} as="ago" />
      </td>
      {canAct && (
        <td data-label="What to do">
          {state === 'firing' && (
            <Action run={acknowledge}>
              Acknowledge<span class="visually-hidden"> {ruleId}</span>
            </Action>
          )}
        </td>
      )}
    </tr>
  )
}

type Judged = Alert['value']

/** What was judged, beside what it was compared with. */
function compared(value: Judged, threshold: Judged): string {
  if (value === null) return ''
  return threshold === null ? String(value) : `${String(value)}, limit ${String(threshold)}`
}

function toneOf(severity: Alert['severity']): Tone {
  if (severity === 'critical') return 'bad'
  return severity === 'warning' ? 'warn' : 'quiet'
}
