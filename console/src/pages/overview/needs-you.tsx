import { api } from '../../api/client.ts'
import { may } from '../../api/session.ts'
import { Action } from '../../components/action.tsx'
import { Badge } from '../../components/badge.tsx'
import { Time } from '../../components/time.tsx'
import { type Deed, furtherNeedsOf, type Need, needsOf } from './needs.ts'
import type { OverviewFacts } from './rates.ts'

export interface NeedsYouProps {
  readonly facts: OverviewFacts
  /** Something was done: what is shown is no longer so. */
  readonly onDone: () => void
}

/** What somebody has to look at, with what can be done about it at once. */
export function NeedsYou({ facts, onDone }: NeedsYouProps) {
  const needs = needsOf(facts)
  const further = furtherNeedsOf(facts)
  return (
    <section class="card" aria-labelledby="overview-needs">
      <h2 id="overview-needs">Needs you</h2>
      {needs.length === 0 ? (
        <p>
          <Badge tone="good">all well</Badge> No alert fires, no source fails, and nothing was
          refused.
        </p>
      ) : (
        <ul class="overview-needs">
          {needs.map((need) => (
            <NeedLine key={need.key} need={need} onDone={onDone} />
          ))}
        </ul>
      )}
      {further.length > 0 && (
        <p class="row">
          {further.map(({ text, href }) => (
            <a key={href} href={href}>
              {text}
            </a>
          ))}
        </p>
      )}
    </section>
  )
}

function NeedLine({ need, onDone }: { readonly need: Need; readonly onDone: () => void }) {
  const { tone, kind, name, href, text, since, deed } = need
  return (
    <li data-row>
      <Badge tone={tone}>{kind}</Badge>
      <a class="overview-need-name" href={href} title={name}>
        <bdi>{name}</bdi>
      </a>
      <span class="overview-need-text">
        <bdi>{text}</bdi>
        {since !== undefined && (
          <span class="soft">
            {' '}
            <Time at={since} as="ago" />
          </span>
        )}
      </span>
      {deed && <DeedButton deed={deed} of={name} onDone={onDone} />}
    </li>
  )
}

interface DeedButtonProps {
  readonly deed: Deed
  readonly of: string
  readonly onDone: () => void
}

function DeedButton({ deed, of, onDone }: DeedButtonProps) {
  const { needs, says, run } = deedOf(deed)
  if (!may(needs)) return null
  const done = async () => {
    await run()
    onDone()
  }
  return (
    <Action run={done}>
      {says}
      <span class="visually-hidden">: {of}</span>
    </Action>
  )
}

function deedOf(deed: Deed) {
  if (deed.is === 'acknowledge') {
    const run = () => api.call('acknowledgeAlert', { path: { alertId: deed.alertId } })
    return { needs: 'data:write', says: 'Acknowledge', run }
  }
  if (deed.is === 'run') {
    const run = () => api.call('runSource', { path: { streamId: deed.streamId } })
    return { needs: 'streams:write', says: 'Run now', run }
  }
  const path = { webhookId: deed.webhookId }
  const run = () => api.call('changeBearerWebhook', { path, body: { active: true } })
  return { needs: 'webhooks:write', says: 'Enable', run }
}
