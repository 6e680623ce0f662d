import { Badge } from '../../components/badge.tsx'
import { FiringAlerts } from '../../components/firing-alerts.tsx'
import { NameLink } from '../../components/name-link.tsx'
import { Sparkline } from '../../components/sparkline.tsx'
import { StreamState } from '../../components/stream-state.tsx'
import { Tags } from '../../components/tags.tsx'
import { Time } from '../../components/time.tsx'
import { count, rate } from '../../formats/numbers.ts'
import { paths } from '../../routing/paths.ts'
import type { ListedStream } from './stream-page.ts'

export interface StreamRowProps {
  readonly stream: ListedStream
  readonly vaultName: string | undefined
  readonly isChosen: boolean
  /** Undefined where nothing can be done with what is chosen. */
  readonly onToggle: ((stream: ListedStream, isWithShift: boolean) => void) | undefined
}

/** One stream of the list. */
export function StreamRow({ stream, vaultName, isChosen, onToggle }: StreamRowProps) {
  const { streamId, name, vaultId, status, tags, lastReadingAt } = stream
  return (
    <tr data-row aria-selected={onToggle && isChosen}>
      {onToggle && (
        <td class="streams-choice" data-label="Chosen">
          <input
            type="checkbox"
            aria-label={`Choose ${name}`}
            checked={isChosen}
            onClick={(event) => onToggle(stream, event.shiftKey)}
          />
        </td>
      )}
      <td class="title streams-name">
        <div>
          <NameLink href={paths.stream(streamId)} name={name} />
          <div class="streams-below">
            {vaultName !== undefined && (
              <a class="soft" href={paths.vault(vaultId)} title={vaultName}>
                <bdi>{vaultName}</bdi>
              </a>
            )}
            <Tags tags={tags} />
          </div>
        </div>
      </td>
      <td data-label="State">
        <StreamState state={status} />
      </td>
      <td data-label="Last reading">
        <Time at={lastReadingAt} as="ago" />
      </td>
      <Health stream={stream} />
    </tr>
  )
}

function Health({ stream }: { readonly stream: ListedStream }) {
  const { streamId, receivedPerSecond = 0, spark = [], quarantined = 0, firing, source } = stream
  return (
    <>
      <td data-label="Rate" class="number">
        {rate(receivedPerSecond)}/s
      </td>
      <td data-label="Two hours">
        <Sparkline values={spark} label={sparkLabel(spark)} />
      </td>
      <td data-label="Quarantine" class="number">
        {quarantined === 0 ? (
          <span class="soft">0</span>
        ) : (
          <a href={paths.stream(streamId, 'quarantine')}>{count(quarantined)}</a>
        )}
      </td>
      <td data-label="Alerts">
        {firing !== undefined && firing.alerts > 0 ? (
          <FiringAlerts streamId={streamId} of={firing} />
        ) : (
          <span class="soft">none</span>
        )}
      </td>
      <td data-label="Source">
        <Source source={source} />
      </td>
    </>
  )
}

function Source({ source }: Pick<ListedStream, 'source'>) {
  if (source === undefined) return <span class="soft">pushed</span>
  if (source.state !== 'failing') return <span>{source.state}</span>
  return (
    <span title={source.lastError}>
      <Badge tone="bad">
        failing <Time at={source.since} as="ago" />
      </Badge>
    </span>
  )
}

function sparkLabel(spark: readonly (number | null)[]): string {
  const sum = spark.reduce<number>((total, slot) => total + (slot ?? 0), 0)
  return `${count(sum)} readings in two hours`
}
