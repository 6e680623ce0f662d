import { useEffect, useRef, useState } from 'preact/hooks'
import { api } from '../../../api/client.ts'
import { FollowedStream, type StreamState } from '../../../api/event-stream.ts'
import { serviceNowMs } from '../../../api/service-clock.ts'
import type { LiveReadings } from './live-readings.ts'

/** Readings that are shown at once: ten minutes of one a second. */
const lastReadings = 600

/** What comes so soon after opening was there before. */
const backlogMs = 1500

/** How often tables and texts are drawn anew: eyes read no faster. Charts go by themselves. */
const beatMs = 500

export interface Followed {
  readonly state: StreamState
  /** Grows when there is something new to show; 0 until it is known whether there is anything. */
  readonly beat: number
  /** Tries now, and does not wait any longer. */
  readonly retry: () => void
}

/** Follows a stream into `readings` while its page is there. */
export function useFollowed(streamId: string, readings: LiveReadings): Followed {
  const [state, setState] = useState<StreamState>({ is: 'opening' })
  const [beat, setBeat] = useState(0)
  const current = useRef<FollowedStream | undefined>(undefined)
  useEffect(() => {
    let isAgain = false
    let openedAtMs = 0
    let timer: ReturnType<typeof setTimeout> | undefined
    const beatSoon = () => {
      timer ??= setTimeout(() => {
        timer = undefined
        setBeat((before) => before + 1)
      }, beatMs)
    }
    const followed = new FollowedStream({
      open: (lastEventId, signal) => {
        const path = { streamId }
        if (lastEventId !== undefined) {
          return api.open('tailStream', { path, headers: { 'last-event-id': lastEventId }, signal })
        }
        isAgain = readings.count > 0
        const query = isAgain ? { start: readings.newestTime } : { last: lastReadings }
        return api.open('tailStream', { path, query, signal })
      },
      onEvents: (events) => {
        const nowMs = serviceNowMs()
        const arrivedAtMs = nowMs - openedAtMs > backlogMs ? nowMs : undefined
        for (const { data, name } of events) {
          if (name === 'message') readings.take(data, { arrivedAtMs, isAgain })
        }
        beatSoon()
      },
      onState: (now) => {
        if (now.is === 'open') {
          openedAtMs = serviceNowMs()
          beatSoon()
        }
        setState(now)
      },
    })
    current.current = followed
    return () => {
      followed.close()
      clearTimeout(timer)
    }
  }, [streamId, readings])
  return { state, beat, retry: () => current.current?.retry() }
}
