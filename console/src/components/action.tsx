import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type Failure, failureOf } from '../api/failure.ts'
import { FailureText } from './states.tsx'

export interface ActionProps {
  /** What a press does. */
  readonly run: () => Promise<unknown>
  readonly look?: 'primary' | 'danger' | 'usual'
  readonly isDisabled?: boolean
  /** Said, once it is done. */
  readonly done?: string
  readonly children: ComponentChildren
}

/** A button whose deed ends in something that is seen: done, or why not. It is never pressed twice at once. */
export function Action({ run, look = 'usual', isDisabled = false, done, children }: ActionProps) {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<Failure>()
  const [isDone, setDone] = useState(false)
  const press = async () => {
    setBusy(true)
    setFailure(undefined)
    setDone(false)
    try {
      await run()
      setDone(true)
    } catch (error) {
      setFailure(failureOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <span class="action">
      <button
        type="button"
        class={`button ${look === 'usual' ? '' : look}`}
        disabled={isDisabled || isBusy}
        aria-busy={isBusy}
        onClick={() => void press()}
      >
        {children}
      </button>
      <span role="status">{isDone && done}</span>
      {failure && (
        <span class="notice bad" role="alert">
          <FailureText failure={failure} />
        </span>
      )}
    </span>
  )
}
