import { afterEach } from 'vitest'
import type { Person } from './people.ts'
import type { RunningService } from './running-service.ts'
import { at } from './seconds.ts'
import { adminKey, adminSecret } from './service-process.ts'
import { TailClient, type TailKind, TailRefused, type TailTarget } from './tail-client.ts'

export interface Tails {
  /** Opens a tail of the bootstrap user, unless there are other headers; it is closed after the test. */
  readonly open: (kind: TailKind, path: string, rest?: Partial<TailTarget>) => Promise<TailClient>
  /** What is answered in place of a tail; status 200 when there is one. */
  readonly refusal: (...asked: Parameters<Tails['open']>) => Promise<object>
  readonly push: (streamId: string, sent: object) => Promise<void>
}

export const keyHeaders = { 'x-api-key': adminKey, 'x-api-secret': adminSecret }

/** Lets a test follow the streams of a service. */
export function tailsOf(service: RunningService): Tails {
  const opened: TailClient[] = []
  afterEach(() => {
    for (const tail of opened.splice(0)) tail.close()
  })
  const open: Tails['open'] = async (kind, path, rest = {}) => {
    const url = service.process.http + path
    const tail = await TailClient.open(kind, { url, headers: keyHeaders, ...rest })
    opened.push(tail)
    await tail.begun()
    return tail
  }
  return {
    open,
    async refusal(...asked) {
      try {
        await open(...asked)
        return { status: 200 }
      } catch (error) {
        if (!(error instanceof TailRefused)) throw error
        return { status: error.status, error: error.body['error'] }
      }
    },
    async push(streamId, sent) {
      const answer = await service.api.withToken('POST', `/streams/${streamId}/data`, sent)
      if (answer.status !== 202) throw new Error(JSON.stringify(answer.body))
    },
  }
}

export function headersOf({ key }: Person): Readonly<Record<string, string>> {
  return { 'x-api-key': key.apiKey, 'x-api-secret': key.apiSecret }
}

/** Readings with these temperatures, one a second. */
export function series(from: number, count: number): { timestamp: string; temperature: number }[] {
  return Array.from({ length: count }, (_, index) => ({
    timestamp: at(from + index),
    temperature: from + index,
  }))
}

export function temperatures({ events }: TailClient): unknown[] {
  return events.map(({ data }) => data['temperature'])
}

export function numbers(from: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => from + index)
}

export const kinds: readonly TailKind[] = ['events', 'socket']
