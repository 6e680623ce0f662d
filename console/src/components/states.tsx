import { RefreshCw } from 'lucide'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Failure } from '../api/failure.ts'
import { remedyOf } from '../api/remedies.ts'
import type { Resource } from '../api/resource.ts'
import { span } from '../formats/times.ts'
import { Icon } from './icon.tsx'
import { nowMs } from './time.tsx'

/** A skeleton before this is a flicker. */
const skeletonAfterMs = 150

export interface LoadedProps<Data> {
  readonly of: Resource<Data>
  /** Lines of the skeleton, about as many as what comes. */
  readonly lines?: number
  /** Whether there is nothing in it; then `empty` is shown. */
  readonly isEmpty?: (data: Data) => boolean
  readonly empty?: ComponentChildren
  readonly children: (data: Data) => ComponentChildren
}

/** Every state of something that is loaded: loading, failed, empty, stale, and there. */
export function Loaded<Data>({ of, lines = 6, isEmpty, empty, children }: LoadedProps<Data>) {
  const { data, failure } = of
  if (data === undefined) {
    return failure === undefined ? <Skeleton lines={lines} /> : <Failed failure={failure} of={of} />
  }
  return (
    <>
      {failure !== undefined && <Stale failure={failure} of={of} />}
      {isEmpty?.(data) === true ? empty : children(data)}
    </>
  )
}

export function Skeleton({ lines = 6 }: { readonly lines?: number }) {
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), skeletonAfterMs)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class="stack" aria-busy="true" role="status">
      <span class="visually-hidden">Loading</span>
      {isShown &&
        Array.from({ length: lines }, (_, at) => <div key={at} class="skeleton skeleton-line" />)}
    </div>
  )
}

type Tried = Pick<Resource<unknown>, 'reload' | 'retryAtMs' | 'loadedAtMs'>

/** What failed, why, and what to do: never an empty table. */
export function Failed({
  failure,
  of,
}: {
  readonly failure: Failure
  readonly of?: Tried | undefined
}) {
  return (
    <div class="notice bad" role="alert">
      <FailureText failure={failure} />
      {of && (
        <div class="row">
          <button type="button" class="button" onClick={() => of.reload()}>
            <Icon of={RefreshCw} />
            Try again
          </button>
          <Countdown of={of} />
        </div>
      )}
    </div>
  )
}

/** The same in words alone, within forms and dialogs. */
export function FailureText({ failure }: { readonly failure: Failure }) {
  const { code, message, details } = failure
  const remedy = remedyOf(failure)
  return (
    <>
      <p>
        <strong>{message}</strong> <code>{code}</code>
      </p>
      {details.length > 0 && (
        <ul>
          {details.map(({ path, message: what }) => (
            <li key={`${path} ${what}`}>
              <code>{path}</code> {what}
            </li>
          ))}
        </ul>
      )}
      {remedy !== undefined && <p class="soft">{remedy}</p>}
    </>
  )
}

/** What is shown is as it was: since when, and why. */
export function Stale({ failure, of }: { readonly failure: Failure; readonly of: Tried }) {
  const age = of.loadedAtMs === undefined ? '' : span((nowMs.value - of.loadedAtMs) / 1000)
  return (
    <div class="notice warn" role="status">
      <p>
        As it was {age} ago: {failure.message} <code>{failure.code}</code>
      </p>
      <div class="row">
        <button type="button" class="button" onClick={() => of.reload()}>
          <Icon of={RefreshCw} />
          Try again
        </button>
        <Countdown of={of} />
      </div>
    </div>
  )
}

function Countdown({ of: { retryAtMs } }: { readonly of: Tried }) {
  if (retryAtMs === undefined) return null
  const left = Math.max(0, (retryAtMs - nowMs.value) / 1000)
  return <span class="soft">again in {span(Math.ceil(left))}</span>
}

/** What is empty: what it would be, why there is nothing, and the one next step. */
export function Empty({
  title,
  children,
}: {
  readonly title: string
  readonly children: ComponentChildren
}) {
  return (
    <div class="notice empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}
