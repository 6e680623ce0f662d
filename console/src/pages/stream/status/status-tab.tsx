import type { ComponentChildren } from 'preact'
import type { Resource } from '../../../api/resource.ts'
import { Badge } from '../../../components/badge.tsx'
import { Loaded } from '../../../components/states.tsx'
import { Time } from '../../../components/time.tsx'
import { count, rate } from '../../../formats/numbers.ts'
import { span } from '../../../formats/times.ts'
import type { StreamStatus } from '../head/stream-head.tsx'
import { missingIn, terms } from './ledger.ts'
import { SourceFacts, WebhookFacts } from './source-facts.tsx'

/** How a stream is doing: where all that it received has gone, and how fast. */
export function StatusTab({ of }: { readonly of: Resource<StreamStatus> }) {
  return (
    <Loaded of={of} lines={10}>
      {(status) => (
        <div class="stack">
          <Ledger counters={status.counters} />
          <div class="grid">
            <Facts title="Health">
              <Health status={status} />
            </Facts>
            <Facts title="Kept">
              <Kept status={status} />
            </Facts>
            {status.source && (
              <Facts title="Source">
                <SourceFacts source={status.source} />
              </Facts>
            )}
            {status.webhook && (
              <Facts title="Webhook that it is sent to">
                <WebhookFacts webhook={status.webhook} />
              </Facts>
            )}
          </div>
        </div>
      )}
    </Loaded>
  )
}

function Ledger({ counters }: { readonly counters: StreamStatus['counters'] }) {
  const missing = missingIn(counters)
  return (
    <section class="card" aria-labelledby="ledger">
      <h2 id="ledger">Where the readings went</h2>
      <dl class="stream-ledger">
        <LedgerTerm sign="" name="received" value={counters.received} meaning="All that came in." />
        {terms.map(({ key, name, meaning }, at) => (
          <LedgerTerm
            key={key}
            sign={at === 0 ? '=' : '+'}
            name={name}
            value={counters[key]}
            meaning={meaning}
          />
        ))}
      </dl>
      <p>
        {missing === 0 ? (
          <Badge tone="good">adds up</Badge>
        ) : (
          <Badge tone="bad">{count(missing)} are not accounted for</Badge>
        )}
      </p>
    </section>
  )
}

interface LedgerTermProps {
  readonly sign: string
  readonly name: string
  readonly value: number
  readonly meaning: string
}

function LedgerTerm({ sign, name, value, meaning }: LedgerTermProps) {
  return (
    <div class={value === 0 ? 'stream-term none' : 'stream-term'} title={meaning} data-sign={sign}>
      <dt>{name}</dt>
      <dd class="figure">{count(value)}</dd>
    </div>
  )
}

function Facts({
  title,
  children,
}: {
  readonly title: string
  readonly children: ComponentChildren
}) {
  return (
    <section class="card">
      <h2>{title}</h2>
      <dl class="facts">{children}</dl>
    </section>
  )
}

function Health({
  status: { health, processing, lastDataReceived, dataPointsToday },
}: {
  readonly status: StreamStatus
}) {
  return (
    <>
      <dt>Health</dt>
      <dd>
        {health.status === 'healthy' ? (
          <Badge tone="good">healthy</Badge>
        ) : (
          <Badge tone="bad">degraded</Badge>
        )}{' '}
        {health.problem}
      </dd>
      <dt>Last reading</dt>
      <dd>
        <Time at={lastDataReceived} as="ago" />
      </dd>
      <dt>Today</dt>
      <dd>{count(dataPointsToday)} readings</dd>
      <dt>Stored</dt>
      <dd>{rate(processing.processingRate)}/s</dd>
      <dt>Waiting</dt>
      <dd>{count(processing.queueLength)} for the store</dd>
      <dt>Lag</dt>
      <dd>{milliseconds(health.avgLatency)} from receipt to the store</dd>
      <dt>Made</dt>
      <dd>{span(health.uptime)} ago</dd>
    </>
  )
}

function Kept({
  status: { counters, deleted, expired, retention },
}: {
  readonly status: StreamStatus
}) {
  return (
    <>
      <dt>In the store</dt>
      <dd>{count(Math.max(0, counters.stored - deleted - expired))} readings</dd>
      <dt>Removed</dt>
      <dd>{count(deleted)} by hand</dd>
      <dt>Expired</dt>
      <dd>{count(expired)} by age</dd>
      <dt>Readings kept</dt>
      <dd>{retention.raw ?? 'for ever'}</dd>
      <dt>Windows kept</dt>
      <dd>{retention.aggregated ?? 'for ever'}</dd>
      <dt>Since</dt>
      <dd>
        <Time at={retention.keptFrom} none="the first one" />
      </dd>
    </>
  )
}

function milliseconds(value: number): string {
  return value < 1000 ? `${count(value)} ms` : span(value / 1000)
}
