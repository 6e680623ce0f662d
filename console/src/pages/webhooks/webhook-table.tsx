import type { Operations } from '../../../../clients/typescript/call.ts'
import { api } from '../../api/client.ts'
import { may } from '../../api/session.ts'
import { Action } from '../../components/action.tsx'
import { Badge, type Tone } from '../../components/badge.tsx'
import { NameLink } from '../../components/name-link.tsx'
import { Time } from '../../components/time.tsx'
import { count } from '../../formats/numbers.ts'
import { paths } from '../../routing/paths.ts'

type Webhook = Operations['readWebhook']['answer']

export interface WebhookTableProps {
  readonly webhooks: readonly Webhook[]
  readonly onDone: () => void
}

export function WebhookTable({ webhooks, onDone }: WebhookTableProps) {
  const canAct = may('webhooks:write')
  return (
    <div class="table-wrap">
      <table class="data cards">
        <caption class="visually-hidden">Webhooks</caption>
        <thead>
          <tr>
            <th scope="col">Address</th>
            <th scope="col">State</th>
            <th scope="col">Events</th>
            <th scope="col" class="number">
              Failures in a row
            </th>
            <th scope="col">Last delivery</th>
            {canAct && <th scope="col">What to do</th>}
          </tr>
        </thead>
        <tbody>
          {webhooks.map((webhook) => (
            <WebhookRow key={webhook.id} webhook={webhook} canAct={canAct} onDone={onDone} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface WebhookRowProps {
  readonly webhook: Webhook
  readonly canAct: boolean
  readonly onDone: () => void
}

function WebhookRow({ webhook, canAct, onDone }: WebhookRowProps) {
  const { id, url, description, status, event_types: types, last_delivery_at: lastAt } = webhook
  const failures = webhook.consecutive_failures
  return (
    <tr data-row>
      <td class="title">
        <NameLink href={paths.record('webhook', id)} name={url} />
        {description !== null && (
          <span class="soft">
            {' '}
            <bdi>{description}</bdi>
          </span>
        )}
      </td>
      <td data-label="State">
        <Badge tone={toneOf(status, failures)}>{status.toLowerCase()}</Badge>
      </td>
      <td data-label="Events" title={types.join(', ')}>
        {types.length === 1 ? types[0] : `${types.length} kinds of events`}
      </td>
      <td data-label="Failures in a row" class="number">
        {count(failures)}
      </td>
      <td data-label="Last delivery">
        <Time at={lastAt} as="ago" />
      </td>
      {canAct && (
        <td data-label="What to do">
          <WebhookDeed id={id} url={url} isActive={status === 'ACTIVE'} onDone={onDone} />
        </td>
      )}
    </tr>
  )
}

interface WebhookDeedProps {
  readonly id: string
  readonly url: string
  readonly isActive: boolean
  readonly onDone: () => void
}

function WebhookDeed({ id: configId, url, isActive, onDone }: WebhookDeedProps) {
  const path = { configId }
  if (isActive) {
    return (
      <Action key="test" run={() => api.call('testWebhook', { path, body: {} })} done="On its way">
        Send a test<span class="visually-hidden"> to {url}</span>
      </Action>
    )
  }
  const enable = async () => {
    await api.call('changeWebhook', { path, body: { status: 'ACTIVE' } })
    onDone()
  }
  return (
    <Action key="enable" run={enable}>
      Enable<span class="visually-hidden"> {url}</span>
    </Action>
  )
}

function toneOf(status: Webhook['status'], failures: number): Tone {
  if (status === 'PAUSED') return 'paused'
  if (status === 'DISABLED') return 'bad'
  return failures > 0 ? 'warn' : 'good'
}
