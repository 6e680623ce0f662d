import { Badge, type Tone } from '../../../components/badge.tsx'
import { Time } from '../../../components/time.tsx'
import { count } from '../../../formats/numbers.ts'
import { span } from '../../../formats/times.ts'
import type { StreamStatus } from '../head/stream-head.tsx'

type Source = NonNullable<StreamStatus['source']>
type Webhook = NonNullable<StreamStatus['webhook']>

const tones: Readonly<Record<Source['state'], Tone>> = {
  running: 'good',
  waiting: 'good',
  connecting: 'quiet',
  paused: 'paused',
  failing: 'bad',
}

/** How what fetches the readings is doing. */
export function SourceFacts({ source }: { readonly source: Source }) {
  return (
    <>
      <dt>State</dt>
      <dd>
        <Badge tone={tones[source.state]}>{source.state}</Badge>
      </dd>
      <dt>Since</dt>
      <dd>
        <Time at={source.since} as="ago" />
      </dd>
      {source.lastError !== undefined && (
        <>
          <dt>Last error</dt>
          <dd>
            <bdi>{source.lastError}</bdi>
          </dd>
        </>
      )}
      <dt>Failures in a row</dt>
      <dd>{count(source.retries)}</dd>
      <dt>Messages</dt>
      <dd>
        {count(source.messages)} since the start, the last <Time at={source.lastMessage} as="ago" />
      </dd>
      <dt>On the way</dt>
      <dd>{count(source.unacknowledged)} not on disk yet</dd>
      <Rounds source={source} />
    </>
  )
}

function Rounds({
  source: { rounds, overlapped = 0, missed = 0, lastRound, nextRound, lag },
}: {
  readonly source: Source
}) {
  if (rounds === undefined) return null
  const tookS = lastRound ? (Date.parse(lastRound.ended) - Date.parse(lastRound.started)) / 1000 : 0
  return (
    <>
      <dt>Rounds</dt>
      <dd>
        {count(rounds)} since the start
        {overlapped > 0 && `, ${count(overlapped)} while one was under way`}
        {missed > 0 && `, ${count(missed)} missed`}
      </dd>
      {lastRound && (
        <>
          <dt>Last round</dt>
          <dd>
            <Time at={lastRound.started} as="ago" />, took {span(tookS)}
          </dd>
        </>
      )}
      <dt>Next round</dt>
      <dd>
        <Time at={nextRound} none="none is due" />{' '}
        {lag !== undefined && lag > 0 && `(${span(lag)} late)`}
      </dd>
    </>
  )
}

/** What has come to the address that others send to. */
export function WebhookFacts({ webhook }: { readonly webhook: Webhook }) {
  return (
    <>
      <dt>Messages</dt>
      <dd>
        {count(webhook.messages)} since the start, the last{' '}
        <Time at={webhook.lastMessage} as="ago" />
      </dd>
      <dt>Sent again</dt>
      <dd>{count(webhook.repeated)}</dd>
      <dt>Refused</dt>
      <dd>
        {count(webhook.refused)} without a good signature
        {webhook.lastRefusal !== undefined && (
          <>
            , the last <Time at={webhook.lastRefused} as="ago" />: <bdi>{webhook.lastRefusal}</bdi>
          </>
        )}
      </dd>
    </>
  )
}
