import type { ComponentChildren } from 'preact'
import { Time } from '../../components/time.tsx'
import { count } from '../../formats/numbers.ts'
import { paths, withQuery } from '../../routing/paths.ts'
import type { OverviewFacts } from './rates.ts'

interface FigureProps {
  readonly of: number
  readonly href: string
  readonly tone?: 'bad' | 'warn' | undefined
  readonly children: ComponentChildren
}

/** A count with its words, which leads to what was counted. A sign stands before what should not be. */
function Figure({ of, href, tone, children }: FigureProps) {
  const isMarked = tone !== undefined && of > 0
  return (
    <li class={isMarked ? tone : undefined}>
      <a href={href}>
        <span class="overview-count">
          {isMarked && <span aria-hidden="true">! </span>}
          {count(of)}
        </span>{' '}
        {children}
      </a>
    </li>
  )
}

function Card({
  title,
  children,
}: {
  readonly title: string
  readonly children: ComponentChildren
}) {
  return (
    <section class="card overview-card">
      <h2>{title}</h2>
      {children}
    </section>
  )
}

export function StreamsCard({
  of: { total, byState, silent, silentAfter },
}: {
  readonly of: OverviewFacts['streams']
}) {
  return (
    <Card title="Streams">
      <ul>
        <Figure of={total} href={paths.streams}>
          in all
        </Figure>
        {Object.entries(byState).map(([state, streams]) => (
          <Figure
            key={state}
            of={streams}
            href={withQuery(paths.streams, { state })}
            tone={state === 'error' ? 'bad' : undefined}
          >
            {state === 'created' ? 'waiting for a first reading' : state}
          </Figure>
        ))}
        <Figure of={silent} href={withQuery(paths.streams, { problem: 'silent' })} tone="warn">
          silent for {silentAfter} or more
        </Figure>
      </ul>
    </Card>
  )
}

const severities = [
  ['critical', 'bad'],
  ['warning', 'warn'],
  ['info', undefined],
] as const

export function AlertsCard({
  of: { firing, acknowledged },
}: {
  readonly of: OverviewFacts['alerts']
}) {
  return (
    <Card title="Alerts">
      <ul>
        {severities.map(([severity, tone]) => (
          <Figure
            key={severity}
            of={firing[severity]}
            href={withQuery(paths.alerts, { state: 'firing', severity })}
            tone={tone}
          >
            {severity}
          </Figure>
        ))}
        <Figure of={acknowledged} href={withQuery(paths.alerts, { state: 'acknowledged' })}>
          acknowledged
        </Figure>
      </ul>
    </Card>
  )
}

export function SourcesCard({
  of: { running, failing, nextRound },
}: {
  readonly of: OverviewFacts['sources']
}) {
  return (
    <Card title="Sources">
      <ul>
        <Figure of={failing} href={withQuery(paths.sources, { state: 'failing' })} tone="bad">
          failing
        </Figure>
        <Figure of={running} href={withQuery(paths.sources, { state: 'running' })}>
          running
        </Figure>
      </ul>
      <p class="soft">
        Next round: <Time at={nextRound} as="ago" none="none is planned" />
      </p>
    </Card>
  )
}

export function TellingCard({ webhooks, mails }: Pick<OverviewFacts, 'webhooks' | 'mails'>) {
  return (
    <Card title="Notifications">
      <ul>
        {webhooks && (
          <>
            <Figure
              of={webhooks.disabled}
              href={withQuery(paths.webhooks, { state: 'disabled' })}
              tone="bad"
            >
              {webhooks.disabled === 1 ? 'webhook' : 'webhooks'} disabled
            </Figure>
            <Figure
              of={webhooks.failing}
              href={withQuery(paths.webhooks, { state: 'failing' })}
              tone="warn"
            >
              {webhooks.failing === 1 ? 'webhook' : 'webhooks'} failing
            </Figure>
          </>
        )}
      </ul>
      {webhooks && <p class="soft">Deliveries: {count(webhooks.waiting)} waiting</p>}
      {mails && (
        <p class={mails.failed > 0 ? 'overview-bad' : 'soft'}>
          Mails: {count(mails.failed)} failed, {count(mails.waiting)} waiting
        </p>
      )}
    </Card>
  )
}

export function QuarantineCard({
  of: { total, byReason },
}: {
  readonly of: OverviewFacts['quarantine']
}) {
  return (
    <Card title="Quarantine">
      <ul>
        <Figure of={total} href={paths.quarantine} tone="warn">
          in all
        </Figure>
        {byReason.map(({ reason, entries }) => (
          <Figure key={reason} of={entries} href={withQuery(paths.quarantine, { reason })}>
            {reason}
          </Figure>
        ))}
      </ul>
    </Card>
  )
}
