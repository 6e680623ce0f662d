import { Pause, Play } from 'lucide'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'

import { may } from '../../../api/session.ts'
import { Icon } from '../../../components/icon.tsx'
import { NeedsPermission } from '../../../components/needs-permission.tsx'
import { Skeleton } from '../../../components/states.tsx'
import { isNumeric, storedFields } from '../../../formats/stored-fields.ts'
import { useQuery } from '../../../routing/query.ts'
import { FieldChoice } from '../field-choice.tsx'
import { chosenFields } from '../field-names.ts'
import type { StreamDefinition } from '../stream-definition.ts'
import { LiveCharts } from './live-charts.tsx'
import { LiveReadings } from './live-readings.ts'
import { LiveStateLine } from './live-state.tsx'
import { LiveValues } from './live-values.tsx'
import { NewestTable } from './newest-table.tsx'
import { useFollowed } from './use-followed.ts'
import '../stream.css'

const windowsMin = ['1', '10', '60'] as const

/** Readings as they arrive: charts, last values, and the newest ones as a table. */
export function LiveTab({ stream }: { readonly stream: StreamDefinition }) {
  if (!may('data:read')) return <NeedsPermission scopes={['data:read']} what="readings" />
  // Another version may have other fields: what was drawn of those before begins anew.
  return <Live key={`${stream.streamId} ${stream.version}`} stream={stream} />
}

function Live({ stream }: { readonly stream: StreamDefinition }) {
  const fields = useMemo(() => storedFields(stream), [stream.version])
  const numeric = useMemo(() => fields.filter(isNumeric), [fields])
  const readings = useMemo(() => new LiveReadings(numeric.map(({ name }) => name)), [numeric])
  const [isFollowing, setFollowing] = useState(true)
  const heldAt = useRef<number | undefined>(undefined)
  const query = useQuery()
  const { state, beat, retry } = useFollowed(stream.streamId, readings)
  const minutes = windowsMin.find((one) => one === query.get('window')) ?? '10'
  const drawn = chosenFields(query.get('fields'), numeric)
  const follow = (isOn: boolean) => {
    heldAt.current = readings.count
    setFollowing(isOn)
  }
  useFollowKey(() => follow(!isFollowing))
  return (
    <div class="stack">
      <LiveValues fields={fields} readings={readings} beat={beat} />
      <div class="row stream-bar">
        <LiveStateLine state={state} readings={readings} beat={beat} retry={retry} />
        <span class="spring" />
        {!isFollowing && <span class="soft">{readings.count - (heldAt.current ?? 0)} new</span>}
        <button
          type="button"
          class="button"
          aria-pressed={isFollowing}
          onClick={() => follow(!isFollowing)}
        >
          <Icon of={isFollowing ? Pause : Play} />
          {isFollowing ? 'Hold' : 'Follow'}
        </button>
        <WindowChoice value={minutes} onChoose={(window) => query.set({ window })} />
        <FieldChoice
          fields={numeric}
          drawn={drawn}
          onChoose={(names) => query.set({ fields: names })}
        />
      </div>
      {drawn.length > 0 && (
        <LiveCharts
          fields={drawn}
          readings={readings}
          windowMs={Number(minutes) * 60_000}
          isFollowing={isFollowing}
        />
      )}
      {beat > 0 ? (
        <NewestTable
          fields={fields}
          readings={readings}
          beat={isFollowing ? beat : -1}
          state={state}
        />
      ) : (
        (state.is === 'opening' || state.is === 'open') && <Skeleton />
      )}
    </div>
  )
}

function WindowChoice({
  value,
  onChoose,
}: {
  readonly value: string
  readonly onChoose: (minutes: string) => void
}) {
  return (
    <select
      class="control"
      aria-label="Time shown"
      value={value}
      onChange={(event) => onChoose(event.currentTarget.value)}
    >
      {windowsMin.map((minutes) => (
        <option key={minutes} value={minutes}>
          {minutes} min
        </option>
      ))}
    </select>
  )
}

/** Space holds and follows, where no control has the focus. */
function useFollowKey(toggle: () => void): void {
  const latest = useRef(toggle)
  latest.current = toggle
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { target } = event
      if (event.key !== ' ' || !(target instanceof HTMLElement) || !target.matches('body, main'))
        return
      event.preventDefault()
      latest.current()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
}
