import { useEffect, useRef, useState } from 'preact/hooks'
import { noteCutOff } from './connection.ts'
import { type Failure, failureOf, isAborted, isCutOff } from './failure.ts'
import { laterWhenSeen } from './seen.ts'
import { serviceNowMs } from './service-clock.ts'

/** What a page shows of something that is asked for. A failure never looks like emptiness. */
export interface Resource<Data> {
  /** What was loaded last; it stays when a later try fails. */
  readonly data: Data | undefined
  readonly failure: Failure | undefined
  readonly isLoading: boolean
  readonly loadedAtMs: number | undefined
  /** When it is tried again by itself. */
  readonly retryAtMs: number | undefined
  reload(): void
}

export interface ResourceOptions {
  /** Loads it again this much later, while the page is seen. */
  readonly everyMs?: number
}

/** Waits between tries while the service is not reached. */
const cutOffWaitsMs = [1_000, 2_000, 4_000, 8_000, 15_000] as const

/** `of`: what the data depends on. Under another filter it would be an answer to another question. */
type Held<Data> = Omit<Resource<Data>, 'reload'> & { readonly of: string }

/**
 * Loads something, and again whenever what it depends on has changed. A refusal that says when to
 * come back is tried once more by itself; a service that is not reached is tried until it is.
 */
export function useResource<Data>(
  load: (signal: AbortSignal) => Promise<Data>,
  on: readonly unknown[],
  { everyMs }: ResourceOptions = {},
): Resource<Data> {
  const [held, setHeld] = useState<Held<Data>>(nothingYet)
  const [turn, setTurn] = useState(0)
  const tries = useRef({ key: '', cutOff: 0, refused: 0 })
  const key = JSON.stringify(on)
  useEffect(() => {
    const abort = new AbortController()
    let forget: () => void = () => undefined
    const again = (ms: number) => {
      forget = laterWhenSeen(ms, () => setTurn((before) => before + 1))
    }
    if (tries.current.key !== key) tries.current = { key, cutOff: 0, refused: 0 }
    setHeld((before) => ({ ...before, isLoading: true }))
    const attempt = async () => {
      try {
        const data = await load(abort.signal)
        if (abort.signal.aborted) return
        tries.current = { key, cutOff: 0, refused: 0 }
        setHeld({ ...nothingYet(), data, isLoading: false, loadedAtMs: serviceNowMs(), of: key })
        if (everyMs !== undefined) again(everyMs)
      } catch (error) {
        if (abort.signal.aborted || isAborted(error)) return
        // What is loaded again and again does not end with a failure: nobody would notice.
        const waitMs = waitBefore(error, tries.current) ?? everyMs
        if (waitMs !== undefined) again(waitMs)
        const retryAtMs = waitMs === undefined ? undefined : serviceNowMs() + waitMs
        if (isCutOff(error)) noteCutOff(retryAtMs)
        const failed = { failure: failureOf(error), isLoading: false, retryAtMs }
        setHeld((before) => ({
          ...(before.of === key ? before : nothingYet()),
          ...failed,
          of: key,
        }))
      }
    }
    void attempt()
    return () => {
      abort.abort()
      forget()
    }
  }, [key, turn])
  return { ...held, reload: () => setTurn((before) => before + 1) }
}

function nothingYet<Data>(): Held<Data> {
  return {
    data: undefined,
    failure: undefined,
    isLoading: true,
    loadedAtMs: undefined,
    retryAtMs: undefined,
    of: '',
  }
}

/** How long to wait before the next try; undefined: until somebody asks for one. */
function waitBefore(
  error: unknown,
  tries: { cutOff: number; refused: number },
): number | undefined {
  if (isCutOff(error)) {
    const waitMs = cutOffWaitsMs[Math.min(tries.cutOff, cutOffWaitsMs.length - 1)]
    tries.cutOff += 1
    return waitMs
  }
  const { status, retryAfterS } = failureOf(error)
  if ((status !== 429 && status !== 503) || retryAfterS === undefined) return undefined
  tries.refused += 1
  return tries.refused > 1 ? undefined : retryAfterS * 1000
}
