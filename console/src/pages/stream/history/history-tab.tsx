import { useMemo, useRef, useState } from 'preact/hooks'
import { useResource } from '../../../api/resource.ts'
import { serviceNowMs } from '../../../api/service-clock.ts'
import { may } from '../../../api/session.ts'
import type { TimeRange } from '../../../charts/field-plot.ts'
import { useWidth } from '../../../charts/use-width.ts'
import { NeedsPermission } from '../../../components/needs-permission.tsx'
import { Loaded } from '../../../components/states.tsx'
import { count } from '../../../formats/numbers.ts'
import { isNumeric, type StoredField, storedFields } from '../../../formats/stored-fields.ts'
import { zone } from '../../../formats/times.ts'
import { useQuery } from '../../../routing/query.ts'
import { FieldChoice } from '../field-choice.tsx'
import { chosenFields } from '../field-names.ts'
import type { StreamDefinition } from '../stream-definition.ts'
import '../stream.css'
import { type Alert, alertsIn } from './alerts.ts'
import { AlertsInRange } from './alerts-in-range.tsx'
import { Figures } from './figures.tsx'
import { HistoryCharts } from './history-charts.tsx'
import { type History, listedMax, loadHistory } from './load-history.ts'
import { NoReadings } from './no-readings.tsx'
import { rangeOf, wordsOf } from './range.ts'
import { RangeChoice } from './range-choice.tsx'
import { TakeAway } from './take-away.tsx'
import { Windows } from './windows.tsx'
import type { Zoom } from './zoom.ts'

/** Stored readings over time. */
export function HistoryTab({ stream }: { readonly stream: StreamDefinition }) {
  if (!may('data:read')) return <NeedsPermission scopes={['data:read']} what="readings" />
  return <HistoryView key={stream.streamId} stream={stream} />
}

function HistoryView({ stream }: { readonly stream: StreamDefinition }) {
  const { streamId, version } = stream
  const query = useQuery()
  const [turn, setTurn] = useState(0)
  const words = { range: query.get('range'), start: query.get('start'), end: query.get('end') }
  // A preset ends now, and now stays until something else is asked for.
  const range = useMemo(
    () => rangeOf(words, serviceNowMs()),
    [words.range, words.start, words.end, turn],
  )
  const fields = useMemo(() => storedFields(stream), [version])
  const numeric = fields.filter(isNumeric)
  const drawn = chosenFields(query.get('fields'), numeric)
  const names = drawn.map(({ name }) => name)
  const { place, widthPx } = useWidth()
  const { fromMs, toMs } = range
  const asked = { streamId, fields: names, fromMs, toMs, zone: zone.value, widthPx }
  const history = useResource(
    async (signal) => (widthPx === 0 ? undefined : await loadHistory(asked, signal)),
    [asked],
  )
  const alerts = useResource((signal) => alertsIn(streamId, range, signal), [streamId, range])
  const zoom = useZoom(range)
  return (
    <div class="stack" ref={place}>
      <div class="row stream-bar">
        <RangeChoice
          range={range}
          onChoose={(parameters, how) => query.set(parameters, how)}
          onNow={() => setTurn((before) => before + 1)}
        />
        <span class="spring" />
        <FieldChoice
          fields={numeric}
          drawn={drawn}
          onChoose={(parameter) => query.set({ fields: parameter })}
        />
      </div>
      <Loaded of={history} lines={8}>
        {(loaded) =>
          loaded && (
            <>
              {loaded.readings === 0 && <NoReadings stream={stream} range={range} />}
              <Drawn history={loaded} {...{ fields, drawn, zoom }} alerts={alerts.data ?? none} />
            </>
          )
        }
      </Loaded>
      <AlertsInRange of={alerts} />
      <Windows stream={stream} range={range} />
      <TakeAway stream={stream} range={range} bucket={history.data?.bucket} fields={names} />
    </div>
  )
}

const none: readonly Alert[] = []

interface DrawnProps {
  readonly history: History
  readonly fields: readonly StoredField[]
  readonly drawn: readonly StoredField[]
  readonly alerts: readonly Alert[]
  readonly zoom: Zoom
}

function Drawn({ history, fields, drawn, alerts, zoom }: DrawnProps) {
  return (
    <>
      {history.readings > 0 && (
        <p class="soft" role="status">
          {summaryOf(history, drawn.length > 0)}
        </p>
      )}
      {drawn.length > 0 && <HistoryCharts {...{ history, alerts, zoom }} fields={drawn} />}
      <Figures history={history} fields={history.bucket === undefined ? fields : drawn} />
    </>
  )
}

const noChart = 'No field is a number, so there is no chart: the figures are in the table.'

function summaryOf({ readings, bucket, points }: History, isDrawn: boolean): string {
  const what = readings === 1 ? '1 reading' : `${count(readings)} readings`
  const first = readings === listedMax ? 'The newest ' : ''
  if (!isDrawn) return `${first}${what}. ${noChart}`
  if (bucket === undefined) return `${what}, each drawn.`
  return `${what} in ${count(points.length)} points, one for each ${bucket.name}: the average, within least and greatest.`
}

/** Zooming is going to another address, so the browser goes back as well. */
function useZoom({ fromMs, toMs }: TimeRange): Zoom {
  const query = useQuery()
  const depth = useRef(0)
  return {
    to: (range) => {
      depth.current += 1
      query.set(wordsOf(range), 'push')
    },
    back: () => {
      if (depth.current > 0) {
        depth.current -= 1
        history.back()
        return
      }
      const half = (toMs - fromMs) / 2
      query.set(wordsOf({ fromMs: fromMs - half, toMs: Math.min(serviceNowMs(), toMs + half) }))
    },
  }
}
