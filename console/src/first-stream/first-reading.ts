import { useEffect, useState } from 'preact/hooks'
import { api } from '../api/client.ts'
import { FollowedStream, type StreamedEvent, type StreamState } from '../api/event-stream.ts'

/** What has come to a stream since somebody began to wait. */
export interface Arrival {
  readonly state: StreamState
  readonly reading: Readonly<Record<string, unknown>> | undefined
  /** The newest that was refused. */
  readonly refused: Readonly<Record<string, unknown>> | undefined
}

const nothing: Arrival = { state: { is: 'opening' }, reading: undefined, refused: undefined }

/** Waits for the first reading of a stream; one that came before counts. */
export function useFirstReading(streamId: string): Arrival {
  const [arrival, setArrival] = useState(nothing)
  useEffect(() => {
    const stream = new FollowedStream({
      open: (lastEventId, signal) =>
        api.open('tailStream', {
          path: { streamId },
          signal,
          query: { include: 'quarantined', ...(lastEventId === undefined && { last: 1 }) },
          ...(lastEventId !== undefined && { headers: { 'last-event-id': lastEventId } }),
        }),
      onEvents: (events) => {
        const reading = newest(events, 'message')
        const refused = newest(events, 'quarantined')
        setArrival((before) => ({
          ...before,
          reading: reading ?? before.reading,
          refused: refused ?? before.refused,
        }))
        if (reading) stream.close()
      },
      onState: (state) => setArrival((before) => ({ ...before, state })),
    })
    return () => stream.close()
  }, [streamId])
  return arrival
}

function newest(events: readonly StreamedEvent[], name: string) {
  const data = events.findLast((event) => event.name === name)?.data
  return data === undefined ? undefined : (JSON.parse(data) as Readonly<Record<string, unknown>>)
}
