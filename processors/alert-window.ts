import type { Scalar, WindowFunction } from './alert-rules.ts'

/**
 * What is remembered of the readings of one window: as much for a million as for one. Plain data, so
 * that it outlives a restart.
 */
export interface AlertWindow {
  readonly startUs: number
  count: number
  sum: number
  min: number
  max: number
  /** Mean and sum of the squares of the differences from it, after Welford (1962). */
  mean: number
  squares: number
  first: Scalar | null
  last: Scalar | null
}

export function emptyWindow(startUs: number): AlertWindow {
  const ofNumbers = { count: 0, sum: 0, min: 0, max: 0, mean: 0, squares: 0 }
  return { startUs, ...ofNumbers, first: null, last: null }
}

/** The start of the window that a time is in. */
export function windowStartOf(timeUs: number, windowUs: number): number {
  return timeUs - (timeUs % windowUs)
}

export function addToWindow(window: AlertWindow, value: Scalar): void {
  window.count++
  window.first ??= value
  window.last = value
  if (typeof value !== 'number') return
  window.sum = withinDoubles(window.sum + value)
  window.min = window.count === 1 ? value : Math.min(window.min, value)
  window.max = window.count === 1 ? value : Math.max(window.max, value)
  const difference = withinDoubles(value - window.mean)
  window.mean = withinDoubles(window.mean + difference / window.count)
  window.squares = withinDoubles(window.squares + difference * withinDoubles(value - window.mean))
}

/** What a function says of a window; nothing where it says nothing of so few readings. */
export function resultOf(name: WindowFunction, window: AlertWindow): Scalar | undefined {
  const { count, sum, min, max, mean, squares } = window
  if (name === 'count') return count
  if (count === 0) return undefined
  switch (name) {
    case 'avg':
      return mean
    case 'min':
      return min
    case 'max':
      return max
    case 'sum':
      return sum
    case 'range':
      return withinDoubles(max - min)
    case 'first':
      return window.first ?? undefined
    case 'last':
      return window.last ?? undefined
    case 'stddev':
      // The deviation is that of a sample, as in queries.
      return count < 2 ? undefined : Math.sqrt(squares / (count - 1))
    default:
      return name satisfies never
  }
}

/** JSON cannot hold an infinite number, and a comparison has the same result with the largest one. */
export function withinDoubles(value: number): number {
  return Math.min(Number.MAX_VALUE, Math.max(-Number.MAX_VALUE, value))
}
