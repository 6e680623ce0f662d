import { useEffect, useRef, useState } from 'preact/hooks'
import { Action } from '../../components/action.tsx'
import { ConfirmedDeed } from '../../components/confirmed-deed.tsx'
import { count } from '../../formats/numbers.ts'
import { type BulkOutcome, type Deed, doToAll } from './bulk-deeds.ts'
import type { ChosenStreams } from './use-chosen.ts'

export interface BulkBarProps {
  readonly chosen: ChosenStreams
  readonly reload: () => void
}

const doneWords: Readonly<Record<Deed, string>> = {
  pause: 'paused',
  resume: 'resumed',
  delete: 'deleted',
}

/** What can be done to the chosen streams, and what came of it. */
export function BulkBar({ chosen, reload }: BulkBarProps) {
  const [outcome, setOutcome] = useState<BulkOutcome>()
  const [doneCount, setDoneCount] = useState<number>()
  const [isDeleting, setDeleting] = useState(false)
  const streams = [...chosen.all.values()]
  const run = async (deed: Deed) => {
    setOutcome(undefined)
    setDoneCount(0)
    const result = await doToAll(deed, streams, setDoneCount)
    setDoneCount(undefined)
    setDeleting(false)
    setOutcome(result)
    chosen.clear()
    reload()
  }
  if (streams.length === 0)
    return outcome ? <Outcome of={outcome} onClose={() => setOutcome(undefined)} /> : null
  return (
    <section class="card row streams-bulk" aria-label="Chosen streams">
      <strong role="status">
        {doneCount === undefined
          ? `${count(streams.length)} chosen`
          : `${doneCount} of ${streams.length} done`}
      </strong>
      <Action run={() => run('pause')}>Pause</Action>
      <Action run={() => run('resume')}>Resume</Action>
      <button type="button" class="button danger" onClick={() => setDeleting(true)}>
        Delete
      </button>
      <button type="button" class="button" onClick={chosen.clear}>
        Choose none
      </button>
      {isDeleting && (
        <DeleteDialog
          names={streams.map(({ name }) => name)}
          run={() => run('delete')}
          onClose={() => setDeleting(false)}
        />
      )}
    </section>
  )
}

/** Names that the dialog shows. */
const namesMax = 10

interface DeleteDialogProps {
  readonly names: readonly string[]
  readonly run: () => Promise<unknown>
  readonly onClose: () => void
}

function DeleteDialog({ names, run, onClose }: DeleteDialogProps) {
  const [first = ''] = names
  const isOne = names.length === 1
  return (
    <ConfirmedDeed
      title={isOne ? 'Delete this stream' : `Delete ${count(names.length)} streams`}
      typed={isOne ? first : String(names.length)}
      deed="Delete permanently"
      run={run}
      onClose={onClose}
    >
      <p>
        This removes {isOne ? 'the stream' : 'each of these streams'} with all readings, versions,
        alerts and what is in quarantine. It cannot be brought back.
      </p>
      <ul>
        {names.slice(0, namesMax).map((name, at) => (
          <li key={at} class="streams-named">
            <bdi>{name}</bdi>
          </li>
        ))}
        {names.length > namesMax && <li>and {count(names.length - namesMax)} more</li>}
      </ul>
    </ConfirmedDeed>
  )
}

const refusedMax = 20

function Outcome({
  of: { deed, done, refused },
  onClose,
}: {
  readonly of: BulkOutcome
  readonly onClose: () => void
}) {
  const place = useRef<HTMLDivElement>(null)
  // What was pressed is gone: who works with the keys goes on here.
  useEffect(() => place.current?.focus(), [])
  return (
    <div
      ref={place}
      class={`notice ${refused.length === 0 ? 'good' : 'warn'}`}
      role="status"
      tabIndex={-1}
    >
      <p>
        {count(done.length)} {doneWords[deed]}
        {refused.length > 0 && `, ${count(refused.length)} refused:`}
      </p>
      {refused.length > 0 && (
        <ul>
          {refused.slice(0, refusedMax).map(({ name, failure }, at) => (
            <li key={at}>
              <bdi>{name}</bdi>: {failure.message} <code>{failure.code}</code>
            </li>
          ))}
          {refused.length > refusedMax && <li>and {count(refused.length - refusedMax)} more</li>}
        </ul>
      )}
      <div class="row">
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    </div>
  )
}
