import { useEffect, useRef } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import { may } from '../api/session.ts'
import { chooseRow, moveAlongRows } from '../components/row-keys.ts'
import { hasShortcuts } from '../settings/appearance.ts'
import { placeGroups } from './places.ts'

/** After `g`, the key of a page is waited for so long. */
const prefixMs = 1_500

export interface Shortcuts {
  readonly onSearch: () => void
  readonly onHelp: () => void
}

/** Keys that do something wherever the focus is, but in what text is typed into and in dialogs. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const { route } = useLocation()
  // Keys are pressed faster than a page is drawn: what they do is looked up when they are.
  const newest = useRef({ ...shortcuts, route })
  newest.current = { ...shortcuts, route }
  useEffect(() => {
    let prefixedAtMs = Number.NEGATIVE_INFINITY
    const pressed = (event: KeyboardEvent) => {
      if (!hasShortcuts.value || event.defaultPrevented || isTaken(event)) return
      const isAfterPrefix = event.timeStamp - prefixedAtMs < prefixMs
      prefixedAtMs =
        event.key === 'g' && !isModified(event) ? event.timeStamp : Number.NEGATIVE_INFINITY
      if (isAfterPrefix ? goTo(event, newest.current.route) : isDone(event, newest.current)) {
        event.preventDefault()
        prefixedAtMs = Number.NEGATIVE_INFINITY
      }
    }
    document.addEventListener('keydown', pressed)
    return () => document.removeEventListener('keydown', pressed)
  }, [])
}

function goTo(event: KeyboardEvent, route: (url: string) => void): boolean {
  if (isModified(event)) return false
  const places = placeGroups.flatMap((group) => group.places)
  const place = places.find(({ key, needs }) => key === event.key && may(...needs))
  if (place) route(place.href)
  return place !== undefined
}

function isDone(event: KeyboardEvent, { onSearch, onHelp }: Shortcuts): boolean {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
    onSearch()
    return true
  }
  if (isModified(event)) return false
  if (event.key === 'j') return moveAlongRows(1)
  if (event.key === 'k') return moveAlongRows(-1)
  if (event.key === 'x') return chooseRow()
  if (event.key !== '/' && event.key !== '?') return false
  if (event.key === '/') onSearch()
  else onHelp()
  return true
}

function isModified({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return ctrlKey || metaKey || altKey
}

/** Whether the key belongs to what has the focus: text, also within a shadow root, a choice, or a dialog. */
function isTaken(event: KeyboardEvent): boolean {
  const [target] = event.composedPath()
  if (event.isComposing || document.querySelector('dialog[open]') !== null) return true
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || target.matches('textarea, select')) return true
  return (
    target instanceof HTMLInputElement && !['checkbox', 'radio', 'button'].includes(target.type)
  )
}
