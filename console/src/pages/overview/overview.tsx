import { useRef, useState } from 'preact/hooks'
import { api } from '../../api/client.ts'
import { type Resource, useResource } from '../../api/resource.ts'
import { may } from '../../api/session.ts'
import { lazyPart } from '../../components/lazy-part.tsx'
import { NeedsPermission } from '../../components/needs-permission.tsx'
import { Page } from '../../components/page.tsx'
import { Loaded } from '../../components/states.tsx'
import { AlertsCard, QuarantineCard, SourcesCard, StreamsCard, TellingCard } from './cards.tsx'
import { NeedsYou } from './needs-you.tsx'
import './overview.css'
import { RateChart } from './rate-chart.tsx'
import type { OverviewFacts } from './rates.ts'

/** Only who has no stream yet needs it. */
const FirstStream = lazyPart(() =>
  import('../../first-stream/first-stream.tsx').then((part) => part.FirstStream),
)

const refreshMs = 10_000

const scopes = ['streams:read', 'data:read'] as const

/** How everything stands: each figure leads to what it counts. */
export function Overview() {
  if (may(...scopes)) return <Known />
  return (
    <Page title="Overview">
      <NeedsPermission scopes={scopes} what="the overview" />
    </Page>
  )
}

function Known() {
  const overview = useResource((signal) => api.call('readOverview', { signal }), [], {
    everyMs: refreshMs,
  })
  const began = useRef<boolean | undefined>(undefined)
  const [isLeft, setLeft] = useState(false)
  if (overview.data) began.current ??= hasNoStreams(overview.data)
  return (
    <Page title="Overview">
      <Loaded of={overview} lines={12}>
        {(facts) =>
          began.current === true && !isLeft ? (
            <Beginning hasStreams={!hasNoStreams(facts)} onLeave={() => setLeft(true)} />
          ) : (
            <Standing facts={facts} overview={overview} />
          )
        }
      </Loaded>
    </Page>
  )
}

function hasNoStreams({ streams }: OverviewFacts): boolean {
  return streams.total === 0
}

interface BeginningProps {
  readonly hasStreams: boolean
  readonly onLeave: () => void
}

/** While somebody makes the first stream, another may be made elsewhere: nothing that was typed goes away for it. */
function Beginning({ hasStreams, onLeave }: BeginningProps) {
  return (
    <div class="stack">
      {hasStreams && (
        <div class="notice">
          <p>There are streams now.</p>
          <div class="row">
            <button type="button" class="button" onClick={onLeave}>
              Show the overview
            </button>
          </div>
        </div>
      )}
      {!hasStreams && !may('streams:write') && <p>There are no streams yet.</p>}
      <FirstStream />
    </div>
  )
}

interface StandingProps {
  readonly facts: OverviewFacts
  readonly overview: Resource<OverviewFacts>
}

function Standing({ facts, overview }: StandingProps) {
  const { streams, alerts, sources, webhooks, mails, quarantine } = facts
  return (
    <div class="stack">
      <RateChart facts={facts} />
      <div class="overview-cards">
        <StreamsCard of={streams} />
        <AlertsCard of={alerts} />
        <SourcesCard of={sources} />
        {(webhooks ?? mails) && <TellingCard webhooks={webhooks} mails={mails} />}
        <QuarantineCard of={quarantine} />
      </div>
      <NeedsYou facts={facts} onDone={() => overview.reload()} />
    </div>
  )
}
