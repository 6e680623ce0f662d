import { useState } from 'preact/hooks'
import { may } from '../api/session.ts'
import { Action } from '../components/action.tsx'
import { ConfirmedDeed } from '../components/confirmed-deed.tsx'
import { changeOf } from '../editor/drafts.ts'
import { count } from '../formats/numbers.ts'
import { downloadAll } from './download-all.ts'
import { type EntryFilter, portionsOf, type Reach, reachOf, type Summary } from './entries.ts'
import { clearAll, type Progress, redriveAll, tryAll } from './judging.ts'
import { type Done, Outcome } from './outcome.tsx'
import { type ChosenEntry, type Target, targetsOfChosen, targetsOfFilter } from './targets.ts'

export interface DeedsProps {
  readonly filter: EntryFilter
  readonly summary: Summary | undefined
  readonly chosen: ReadonlyMap<string, ChosenEntry>
  /** All that meet the filter, also those of other pages. */
  readonly isAll: boolean
  readonly onAll: (isAll: boolean) => void
  readonly onNone: () => void
  /** Something has left the quarantine. */
  readonly onDone: () => void
}

/** What can be done with entries: those that are chosen, or all that meet the filter. */
export function Deeds(props: DeedsProps) {
  const { filter, summary = nothing, chosen, isAll, onAll, onNone, onDone } = props
  const [isAsking, setAsking] = useState(false)
  const targets = isAll
    ? targetsOfFilter(portionsOf(summary, filter), filter)
    : targetsOfChosen(chosen.values())
  const reach = reachOf(summary, filter)
  const entries = isAll ? reach.entries : chosen.size
  const isNothing = targets.length === 0
  const { progress, done, setDone, judge, hasDraft } = useJudging(targets, onDone)
  return (
    <section class="stack quarantine-deeds" aria-label="What to do with entries">
      <div class="row">
        <Chosen isAll={isAll} chosen={chosen} reach={reach} onAll={onAll} onNone={onNone} />
        <span class="spring" />
        <span class="row">
          <Action isDisabled={isNothing} run={() => judge('tried')}>
            {hasDraft ? 'Try with the draft' : 'Try'}
          </Action>
          {may('data:write') && (
            <Action look="primary" isDisabled={isNothing} run={() => judge('redriven')}>
              Redrive
            </Action>
          )}
          <Action isDisabled={isNothing} run={() => downloadAll({ targets, filter, isAll })}>
            Download
          </Action>
          {may('data:write') && (
            <button
              type="button"
              class="button danger"
              disabled={isNothing}
              onClick={() => setAsking(true)}
            >
              Delete
            </button>
          )}
        </span>
      </div>
      <ProgressLine progress={progress} />
      {done && <Outcome done={done} onClose={() => setDone(undefined)} />}
      {isAsking && (
        <Deletion
          targets={targets}
          entries={entries}
          onClose={() => setAsking(false)}
          onDeleted={(deleted) => {
            setAsking(false)
            setDone({ deed: 'deleted', entries: deleted })
            onDone()
          }}
        />
      )}
    </section>
  )
}

/** Judges entries again, or says what that would do; and what has come of it. */
function useJudging(targets: readonly Target[], onDone: () => void) {
  const [progress, setProgress] = useState<Progress>()
  const [done, setDone] = useState<Done>()
  const hasDraft = targets.some(({ streamId }) => changeOf(streamId) !== undefined)
  const judge = async (deed: 'tried' | 'redriven') => {
    setDone(undefined)
    try {
      const judging = { targets, changeOf, onProgress: setProgress }
      const result = deed === 'tried' ? await tryAll(judging) : await redriveAll(judging)
      setDone({ deed, result, byDraft: deed === 'tried' && hasDraft })
    } finally {
      setProgress(undefined)
      // What was judged before a failure has left the quarantine all the same.
      if (deed === 'redriven') onDone()
    }
  }
  return { progress, done, setDone, judge, hasDraft }
}

const nothing: Summary = { entries: 0, reasons: [], groups: [], groupCount: 0 }

interface ChosenProps extends Pick<DeedsProps, 'isAll' | 'chosen' | 'onAll' | 'onNone'> {
  readonly reach: Reach
}

function Chosen({ isAll, chosen, reach, onAll, onNone }: ChosenProps) {
  const { isPart, entries } = reach
  const all = (
    <button type="button" class="button" onClick={() => onAll(true)}>
      Choose all{entries === undefined ? ' that meet the filter' : ` ${count(entries)}`}
      {isPart && ' of the streams with the most'}
    </button>
  )
  if (!isAll && chosen.size === 0) {
    return (
      <>
        <span class="soft">Nothing is chosen.</span>
        {entries !== 0 && all}
      </>
    )
  }
  return (
    <>
      <strong role="status">
        {isAll
          ? `All${entries === undefined ? '' : ` ${count(entries)}`} that meet the filter are chosen`
          : `${count(chosen.size)} chosen`}
        {isAll && isPart && ', of the streams with the most'}
      </strong>
      {!isAll && entries !== chosen.size && all}
      <button type="button" class="button" onClick={onNone}>
        Choose none
      </button>
    </>
  )
}

function ProgressLine({ progress }: { readonly progress: Progress | undefined }) {
  if (progress === undefined) return <p role="status" class="visually-hidden" />
  const { done, of, name, left } = progress
  return (
    <div class="quarantine-progress" role="status">
      <progress value={done} max={of} aria-label="Judged" />
      <span>
        <bdi>{name}</bdi>
        {of > 1 && `, ${count(done + 1)} of ${count(of)}`}
        {left !== undefined && left > 0 && `: ${count(left)} have left the quarantine`}
      </span>
    </div>
  )
}

interface DeletionProps {
  readonly targets: readonly Target[]
  readonly entries: number | undefined
  readonly onClose: () => void
  readonly onDeleted: (deleted: number) => void
}

function Deletion({ targets, entries, onClose, onDeleted }: DeletionProps) {
  const streams = new Map(targets.map(({ streamId, name }) => [streamId, name]))
  const isMany = entries === undefined || entries > 1
  const typed = entries === undefined ? 'delete' : String(entries)
  return (
    <ConfirmedDeed
      title={
        entries === 1
          ? 'Delete 1 refused reading?'
          : `Delete ${entries === undefined ? 'all' : count(entries)} refused readings?`
      }
      deed="Delete"
      onClose={onClose}
      run={async () => onDeleted(await clearAll(targets))}
      {...(isMany && { typed })}
    >
      <p>
        Their bytes are removed permanently, and they are counted as discarded. Stored readings
        stay.
      </p>
      <ul>
        {[...streams].slice(0, 10).map(([streamId, name]) => (
          <li key={streamId}>
            <bdi>{name}</bdi>
          </li>
        ))}
        {streams.size > 10 && <li>and of {count(streams.size - 10)} more streams</li>}
      </ul>
    </ConfirmedDeed>
  )
}
