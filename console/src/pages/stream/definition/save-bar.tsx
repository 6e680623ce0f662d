import { useEffect, useRef, useState } from 'preact/hooks'
import type { DataStreamChange } from '../../../../../clients/typescript/operations.ts'
import { api } from '../../../api/client.ts'
import { failureOf } from '../../../api/failure.ts'
import { Action } from '../../../components/action.tsx'
import { Badge } from '../../../components/badge.tsx'
import { DiffView } from '../../../components/diff-view.tsx'
import {
  changeBetween,
  type ReadDefinition,
  type StreamAnswer,
  textOf,
} from '../../../editor/definition.ts'
import type { Draft } from '../../../editor/drafts.ts'
import { Conflict } from './conflict.tsx'

export interface SaveBarProps {
  readonly stream: StreamAnswer
  readonly draft: Draft
  readonly read: ReadDefinition
  /** Undefined: nothing is left of it. */
  readonly onDraft: (draft: Draft | undefined) => void
  /** What the service says is wrong, with paths into the definition. */
  readonly onProblems: (problems: readonly { path: string; message: string }[]) => void
  readonly reload: () => void
}

/** What becomes of a draft: it is saved as the next version, or given up. Others are never overwritten unseen. */
export function SaveBar(props: SaveBarProps) {
  const { stream, draft, read, onDraft, onProblems, reload } = props
  const { save, saved, theirs, setTheirs, told } = useSave(props)
  const change = read.ok ? changeBetween(draft.base, read.definition) : undefined
  const isTyped = draft.text !== textOf(draft.base)
  return (
    <section class="stack definition-save" aria-label="Save">
      <p ref={told} tabIndex={-1} role="status" class="definition-told">
        {saved !== undefined && change === undefined && (
          <Badge tone="good">Saved: version {saved} judges what arrives from now on</Badge>
        )}
      </p>
      {draft.version < stream.version && isTyped && theirs === undefined && (
        <Overtaken draft={draft} version={stream.version} onCompare={() => setTheirs(stream)} />
      )}
      <Difference draft={draft} read={read} />
      <div class="row">
        <Action
          look="primary"
          isDisabled={change === undefined}
          run={async () => {
            if (change !== undefined) await save(change, draft.version)
          }}
        >
          Save as version {draft.version + 1}
        </Action>
        {isTyped && (
          <button
            type="button"
            class="button"
            onClick={() => {
              onProblems([])
              onDraft(undefined)
            }}
          >
            Discard changes
          </button>
        )}
        {change === undefined && read.ok && <span class="soft">Nothing has changed.</span>}
      </div>
      {theirs !== undefined && read.ok && (
        <Conflict
          draft={draft}
          mine={read.definition}
          theirs={theirs}
          onDraft={(next) => {
            onDraft(next)
            setTheirs(undefined)
            reload()
          }}
          onOverwrite={save}
          onClose={() => setTheirs(undefined)}
        />
      )}
    </section>
  )
}

/** Saves, unless somebody else has saved first: then it finds out what. */
function useSave({ stream, onDraft, onProblems, reload }: SaveBarProps) {
  const { streamId } = stream
  const [theirs, setTheirs] = useState<StreamAnswer>()
  const [saved, setSaved] = useState<number>()
  const told = useRef<HTMLParagraphElement>(null)
  // The button that had the focus can do nothing any more.
  useEffect(() => {
    if (saved !== undefined) told.current?.focus()
  }, [saved])
  const save = async (body: DataStreamChange, version: number) => {
    onProblems([])
    setSaved(undefined)
    try {
      const headers = { 'if-match': `"${version}"` }
      const made = await api.call('changeStream', { path: { streamId }, body, headers })
      onDraft(undefined)
      setTheirs(undefined)
      setSaved(made.version)
      reload()
    } catch (error) {
      const { status, details } = failureOf(error)
      if (status !== 412) {
        onProblems(details)
        throw error
      }
      setTheirs(await api.call('readStream', { path: { streamId } }))
    }
  }
  return { save, saved, theirs, setTheirs, told }
}

interface OvertakenProps {
  readonly draft: Draft
  readonly version: number
  readonly onCompare: () => void
}

function Overtaken({ draft, version, onCompare }: OvertakenProps) {
  return (
    <div class="notice warn">
      <p>
        Version {version} was made while you were editing version {draft.version}.
      </p>
      <div class="row">
        <button type="button" class="button" onClick={onCompare}>
          Compare both
        </button>
      </div>
    </div>
  )
}

function Difference({ draft, read }: Pick<SaveBarProps, 'draft' | 'read'>) {
  if (!read.ok) {
    return (
      <p class="definition-problem" role="status">
        It cannot be saved as it is typed: {read.problem}.
      </p>
    )
  }
  if (changeBetween(draft.base, read.definition) === undefined) return null
  return (
    <details>
      <summary>What would change</summary>
      <DiffView
        label="What would change"
        before={textOf(draft.base)}
        after={textOf(read.definition)}
      />
    </details>
  )
}
