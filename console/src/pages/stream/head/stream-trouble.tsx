import type { ComponentChildren } from 'preact'
import { api } from '../../../api/client.ts'
import type { Resource } from '../../../api/resource.ts'
import { may } from '../../../api/session.ts'
import { Action } from '../../../components/action.tsx'
import { Failed, Stale } from '../../../components/states.tsx'
import { Time } from '../../../components/time.tsx'
import { count } from '../../../formats/numbers.ts'
import { paths } from '../../../routing/paths.ts'
import type { StreamDefinition } from '../stream-definition.ts'
import type { StreamStatus } from './stream-head.tsx'

export interface StreamTroubleProps {
  readonly stream: StreamDefinition
  readonly of: Resource<StreamStatus>
  readonly reload: () => void
}

/** What is not as it should be: its cause, since when, and the next step. Nothing where all is well. */
export function StreamTrouble({ stream, of, reload }: StreamTroubleProps) {
  const { data: status, failure } = of
  if (status === undefined) return failure ? <Failed failure={failure} of={of} /> : null
  return (
    <div class="stack stream-trouble">
      {failure?.status === 404 && <Gone />}
      {failure !== undefined && failure.status !== 404 && <Stale failure={failure} of={of} />}
      <SourceTrouble stream={stream} status={status} reload={reload} />
      {status.status === 'paused' && (
        <Trouble tone="warn">
          <p>
            <strong>Paused.</strong> Readings over HTTP are refused, over MQTT they go to the
            quarantine
            {status.source && '; its source rests, and goes on where it stopped'}. Resume it to take
            readings again.
          </p>
        </Trouble>
      )}
      {status.health.problem !== undefined && (
        <Trouble tone="bad">
          <p>
            <strong>Not healthy:</strong> {status.health.problem}
          </p>
        </Trouble>
      )}
    </div>
  )
}

function Gone() {
  return (
    <div class="notice bad" role="alert">
      <p>
        <strong>This stream is not there any more:</strong> it has been deleted meanwhile. What is
        still shown is how it was.
      </p>
      <div class="row">
        <a class="button" href={paths.streams}>
          All streams
        </a>
      </div>
    </div>
  )
}

function SourceTrouble({
  stream: { streamId, type },
  status,
  reload,
}: Omit<StreamTroubleProps, 'of'> & Status) {
  const { source } = status
  if (source?.state !== 'failing') return null
  const runNow = async () => {
    await api.call('runSource', { path: { streamId } })
    reload()
  }
  const hasRounds = source.nextRound !== undefined
  return (
    <Trouble tone="bad">
      <p>
        <strong>The source fails</strong> since <Time at={source.since} as="ago" />,{' '}
        {count(source.retries)} times in a row{source.lastError !== undefined && ':'}{' '}
        <bdi>{source.lastError}</bdi>
      </p>
      <div class="row">
        <a class="button" href={paths.stream(streamId, 'definition')}>
          Correct the definition
        </a>
        {hasRounds && may('streams:write') && type !== 'iot_sensor' && (
          <Action run={runNow}>Run it now</Action>
        )}
        {source.nextRound !== null && source.nextRound !== undefined && (
          <span class="soft">
            next try <Time at={source.nextRound} as="ago" />
          </span>
        )}
      </div>
    </Trouble>
  )
}

interface Status {
  readonly status: StreamStatus
}

function Trouble({
  tone,
  children,
}: {
  readonly tone: 'warn' | 'bad'
  readonly children: ComponentChildren
}) {
  return <div class={`notice ${tone}`}>{children}</div>
}
