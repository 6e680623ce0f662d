import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Action } from './action.tsx'
import './confirmed-deed.css'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'

export interface ConfirmedDeedProps {
  readonly title: string
  /** What has to be typed; undefined: nothing. */
  readonly typed?: string
  /** What the button says. */
  readonly deed: string
  readonly run: () => Promise<unknown>
  readonly onClose: () => void
  readonly look?: 'primary' | 'danger'
  /** What it will do. */
  readonly children: ComponentChildren
}

/** Asks before something is done that cannot be taken back: it says what, and wants a name typed. */
export function ConfirmedDeed(props: ConfirmedDeedProps) {
  const { title, typed, deed, run, onClose, look = 'danger', children } = props
  const [entered, setEntered] = useState('')
  const isConfirmed = typed === undefined || sameText(entered, typed)
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {typed !== undefined && (
        <Field
          label="To confirm, type"
          hint={<bdi class="mono confirmed-text">{typed}</bdi>}
          control={(tied) => (
            <input
              {...tied}
              autocomplete="off"
              spellcheck={false}
              value={entered}
              onInput={({ currentTarget }) => setEntered(currentTarget.value)}
            />
          )}
        />
      )}
      <div class="row">
        <Action run={run} look={look} isDisabled={!isConfirmed}>
          {deed}
        </Action>
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  )
}

/** Spaces and forms of letters that look alike count as alike: nobody can tell them apart when typing. */
function sameText(one: string, other: string): boolean {
  return plain(one) === plain(other)
}

function plain(text: string): string {
  return text.normalize('NFC').replace(/\s+/gu, ' ').trim()
}
