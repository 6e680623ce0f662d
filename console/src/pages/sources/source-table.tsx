import { api } from '../../api/client.ts'
import { may } from '../../api/session.ts'
import { Action } from '../../components/action.tsx'
import { Badge, type Tone } from '../../components/badge.tsx'
import { NameLink } from '../../components/name-link.tsx'
import { Time } from '../../components/time.tsx'
import { paths } from '../../routing/paths.ts'
import type { SourceStream } from './found-sources.ts'

export interface SourceTableProps {
  readonly streams: readonly SourceStream[]
  readonly onDone: () => void
}

export function SourceTable({ streams, onDone }: SourceTableProps) {
  const canAct = may('streams:write')
  return (
    <div class="table-wrap">
      <table class="data cards">
        <caption class="visually-hidden">Sources</caption>
        <thead>
          <tr>
            <th scope="col">Stream</th>
            <th scope="col">Type</th>
            <th scope="col">State</th>
            <th scope="col">Since</th>
            <th scope="col">Last reading</th>
            {canAct && <th scope="col">What to do</th>}
          </tr>
        </thead>
        <tbody>
          {streams.map((stream) => (
            <SourceRow key={stream.streamId} stream={stream} canAct={canAct} onDone={onDone} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface SourceRowProps {
  readonly stream: SourceStream
  readonly canAct: boolean
  readonly onDone: () => void
}

const tones: Readonly<Record<string, Tone>> = {
  failing: 'bad',
  running: 'good',
  waiting: 'quiet',
  connecting: 'quiet',
  paused: 'paused',
}

function SourceRow({ stream, canAct, onDone }: SourceRowProps) {
  const { streamId, name, type, source, lastReadingAt } = stream
  const run = async () => {
    await api.call('runSource', { path: { streamId } })
    onDone()
  }
  return (
    <tr data-row>
      <td class="title">
        <NameLink href={paths.record('source', streamId)} name={name} />
      </td>
      <td data-label="Type">{type.replace('_', ' ')}</td>
      <td data-label="State">
        <span>
          <Badge tone={tones[source.state] ?? 'quiet'}>{source.state}</Badge>{' '}
          {source.lastError !== undefined && <bdi>{source.lastError}</bdi>}
        </span>
      </td>
      <td data-label="Since">
        <Time at={source.since} as="ago" />
      </td>
      <td data-label="Last reading">
        <Time at={lastReadingAt} as="ago" />
      </td>
      {canAct && (
        <td data-label="What to do">
          {source.state !== 'paused' && (
            <Action run={run} done="Begun">
              Run now<span class="visually-hidden">: {name}</span>
            </Action>
          )}
        </td>
      )}
    </tr>
  )
}
