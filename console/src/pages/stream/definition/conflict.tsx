import { Action } from '../../../components/action.tsx'
import { Dialog } from '../../../components/dialog.tsx'
import { DiffView } from '../../../components/diff-view.tsx'
import {
  changeBetween,
  clashesOf,
  type Definition,
  definitionOf,
  type StreamAnswer,
  textOf,
  withChange,
} from '../../../editor/definition.ts'
import { type Draft, freshDraft } from '../../../editor/drafts.ts'

export interface ConflictProps {
  readonly draft: Draft
  readonly mine: Definition
  readonly theirs: StreamAnswer
  /** Goes on with another draft; undefined: with theirs. */
  readonly onDraft: (draft: Draft | undefined) => void
  readonly onOverwrite: (change: object, version: number) => Promise<void>
  readonly onClose: () => void
}

/** Somebody else has saved meanwhile: both versions side by side, and nothing is overwritten unseen. */
export function Conflict({ draft, mine, theirs, onDraft, onOverwrite, onClose }: ConflictProps) {
  const other = definitionOf(theirs)
  const myChange = changeBetween(draft.base, mine)
  const clashes = clashesOf(myChange, changeBetween(draft.base, other))
  const merged = withChange(other, myChange)
  const overwrite = changeBetween(other, mine)
  return (
    <Dialog title={`Version ${theirs.version} was made meanwhile`} onClose={onClose} isWide>
      <p>
        You have been editing version {draft.version}. Nothing of yours is lost, and nothing of
        theirs is overwritten until you choose.
      </p>
      <Sides base={draft.base} mine={mine} theirs={other} version={theirs.version} />
      <Clashes places={clashes} />
      <div class="row">
        <button
          type="button"
          class="button primary"
          onClick={() => onDraft({ ...freshDraft(theirs), text: textOf(merged) })}
        >
          Go on with yours on top of theirs
        </button>
        <Action
          look="danger"
          isDisabled={overwrite === undefined}
          run={async () => {
            if (overwrite !== undefined) await onOverwrite(overwrite, theirs.version)
          }}
        >
          Overwrite theirs with yours
        </Action>
        <button type="button" class="button" onClick={() => onDraft(undefined)}>
          Take theirs, drop yours
        </button>
      </div>
    </Dialog>
  )
}

interface SidesProps {
  readonly base: Definition
  readonly mine: Definition
  readonly theirs: Definition
  readonly version: number
}

function Sides({ base, mine, theirs, version }: SidesProps) {
  const before = textOf(base)
  return (
    <div class="grid definition-sides">
      <section class="stack">
        <h3>Theirs: version {version}</h3>
        <DiffView label="What they have changed" before={before} after={textOf(theirs)} />
      </section>
      <section class="stack">
        <h3>Yours, not saved</h3>
        <DiffView label="What you have changed" before={before} after={textOf(mine)} />
      </section>
    </div>
  )
}

function Clashes({ places }: { readonly places: readonly string[] }) {
  if (places.length === 0) return null
  return (
    <div class="notice warn">
      <p>
        Both have changed{' '}
        {places.map((place, at) => (
          <span key={place}>
            {at > 0 && ', '}
            <code>{place}</code>
          </span>
        ))}
        . On top of theirs, yours stands there.
      </p>
    </div>
  )
}
