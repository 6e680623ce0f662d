import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { type Failure, failureOf } from '../api/failure.ts'
import { passFocusOn } from './row-keys.ts'
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
  const button = useRef<HTMLButtonElement>(null)
  const isPressed = useRef(false)
  // While it is being removed it still has the focus: after painting it has not.
  useLayoutEffect(() => {
    const place = button.current
    return () => {
      if (place) passFocusOn(place)
    }
  }, [])
  const press = async () => {
    if (isPressed.current) return
    isPressed.current = true
    setBusy(true)
    setFailure(undefined)
    setDone(false)
    try {
      await run()
      setDone(true)
    } catch (error) {
      setFailure(failureOf(error))
    } finally {
      isPressed.current = false
      setBusy(false)
    }
  }
  return (
    <span class="action">
      <button
        ref={button}
        type="button"
        class={`button ${look === 'usual' ? '' : look}`}
        disabled={isDisabled}
        // One that were disabled while it works would lose the focus.
        aria-disabled={isBusy}
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
