import type { Resource } from '../../../api/resource.ts'
import { Badge } from '../../../components/badge.tsx'
import { Failed } from '../../../components/states.tsx'
import { Time } from '../../../components/time.tsx'
import { span } from '../../../formats/times.ts'
import { valueText } from '../../../formats/values.ts'
import { paths } from '../../../routing/paths.ts'
import type { Alert } from './alerts.ts'

/** Rows that are drawn: more are in the list of alerts. */
const shownMax = 100

const tones = { critical: 'bad', warning: 'warn', info: 'quiet' } as const

/** The alerts that the bands of the charts stand for. */
export function AlertsInRange({ of }: { readonly of: Resource<readonly Alert[]> }) {
  const { data, failure } = of
  if (data === undefined) return failure === undefined ? null : <Failed failure={failure} of={of} />
  if (data.length === 0) return null
  return (
    <details>
      <summary>{data.length === 1 ? '1 alert' : `${data.length} alerts`} in this range</summary>
      <div class="table-wrap">
        <table class="data cards">
          <caption class="visually-hidden">Alerts in this range</caption>
          <thead>
            <tr>
              <th scope="col">Began</th>
              <th scope="col">Severity</th>
              <th scope="col">Rule</th>
              <th scope="col">Value</th>
              <th scope="col">Ended</th>
            </tr>
          </thead>
          <tbody>
            {data.slice(0, shownMax).map((alert) => (
              <AlertRow key={alert.alertId} alert={alert} />
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}

function AlertRow({ alert }: { readonly alert: Alert }) {
  const { alertId, severity, ruleId, value, triggeredAt, clearedAt } = alert
  const lengthS = (Date.parse(clearedAt ?? '') - Date.parse(triggeredAt ?? '')) / 1000
  return (
    <tr>
      <td class="title">
        <a href={paths.record('alert', alertId)}>
          <Time at={triggeredAt} />
        </a>
      </td>
      <td data-label="Severity">
        <Badge tone={tones[severity]}>{severity}</Badge>
      </td>
      <td data-label="Rule">
        <bdi>{ruleId}</bdi>
      </td>
      <td data-label="Value">
        <bdi>{valueText(value)}</bdi>
      </td>
      <td data-label="Ended">{clearedAt === null ? 'goes on' : `after ${span(lengthS)}`}</td>
    </tr>
  )
}
