import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Widths within one step are one, so that dragging the edge of a window asks for little. */
const stepPx = 100

/** How wide a place is, in steps; 0 until it is known. */
export function useWidth(): {
  readonly place: RefObject<HTMLDivElement | null>
  readonly widthPx: number
} {
  const place = useRef<HTMLDivElement>(null)
  const [widthPx, setWidth] = useState(0)
  useEffect(() => {
    const { current } = place
    if (current === null) return undefined
    const measure = () =>
      setWidth(Math.max(stepPx, Math.floor(current.clientWidth / stepPx) * stepPx))
    measure()
    const watched = new ResizeObserver(measure)
    watched.observe(current)
    return () => watched.disconnect()
  }, [])
  return { place, widthPx }
}
