import { X } from 'lucide'
import type { ComponentChildren, RefObject } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.tsx'

export interface DialogProps {
  readonly title: string
  /** Undefined: it cannot be closed without an answer. */
  readonly onClose: (() => void) | undefined
  readonly isWide?: boolean
  /** What has the focus at first; the browser chooses where nothing is said. */
  readonly focusFirst?: RefObject<HTMLElement | null>
  readonly children: ComponentChildren
}

/** A modal dialog. The browser keeps the focus within, and gives it back to where it was. */
export function Dialog({ title, onClose, isWide = false, focusFirst, children }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null)
  const headingId = useId()
  // Not after the next paint: keys that are pressed until then would go to the page behind it.
  useLayoutEffect(() => {
    const dialog = place.current
    const before = document.activeElement
    if (dialog === null) return undefined
    if (!dialog.open) dialog.showModal()
    focusFirst?.current?.focus()
    return () => {
      dialog.close()
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={place}
      class={isWide ? 'wide stack' : 'stack'}
      aria-labelledby={headingId}
      onCancel={(event) => {
        event.preventDefault()
        onClose?.()
      }}
    >
      <div class="page-head">
        <h2 id={headingId}>{title}</h2>
        <span class="spring" />
        {onClose && (
          <button type="button" class="plain" onClick={onClose}>
            <Icon of={X} label="Close" />
          </button>
        )}
      </div>
      {children}
    </dialog>
  )
}
