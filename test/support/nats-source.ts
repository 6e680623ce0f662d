import { expect } from 'vitest'
import { nats } from '../../connectors/nats/nats.ts'
import type { Dial } from '../../src/contracts/fetch-connector.ts'
import type { StreamId } from '../../src/core/ids.ts'
import { AllowedDestinations } from '../../src/egress/allowed-destinations.ts'
import { EgressGuard } from '../../src/egress/egress-guard.ts'
import { guardedDial } from '../../src/egress/guarded-dial.ts'
import { FetchingSource } from './fetching-source.ts'
import type { NatsServer } from './nats.ts'

export const patience = { timeout: 60_000, interval: 20 }

/** Somebody who reads a stream of a server, and does not yet. */
export function follower(
  server: Pick<NatsServer, 'endpoint' | 'port'>,
  source: Readonly<Record<string, unknown>>,
): FetchingSource {
  const whole = { protocol: 'nats', endpoint: server.endpoint, ...source }
  return new FetchingSource({ connector: nats, source: whole, ports: [server.port] })
}

/** As when the stream of readings is gone, or gets its readings from elsewhere. */
export async function release(
  server: NatsServer,
  streamId: StreamId,
  source: Readonly<Record<string, unknown>>,
): Promise<void> {
  const whole = { protocol: 'nats', endpoint: server.endpoint, ...source }
  const { signal } = new AbortController()
  await nats.open({ streamId, source: whole }).release?.({ dial: dialHere(server), signal })
}

/** The guarded way to a server of this machine. */
export function dialHere({ port }: Pick<NatsServer, 'port'>): Dial {
  const allowed = new AllowedDestinations([{ host: '127.0.0.1', port }])
  return guardedDial(new EgressGuard({ allowed }))
}

/** From `first` on, each a second later than the one before. */
export function readings(first: number, count: number): readonly Buffer[] {
  return numbers(first, count).map((number) => {
    const timestamp = new Date(Date.UTC(2026, 2, 1) + number * 1_000).toISOString()
    return Buffer.from(JSON.stringify({ number, timestamp }))
  })
}

export function numbers(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}

/** Resolves when these are in the journal, in whichever order, and nothing else. */
export async function holds(source: FetchingSource, wanted: readonly number[]): Promise<void> {
  const sorted = () => source.entries().numbers.toSorted((one, other) => one - other)
  await expect.poll(sorted, patience).toEqual(wanted)
}

/** Resolves when these are in the journal, in this order, and nothing else. */
export async function keeps(source: FetchingSource, wanted: readonly number[]): Promise<void> {
  await expect.poll(() => source.entries().numbers, patience).toEqual(wanted)
}

export async function fails(source: FetchingSource, reason: RegExp): Promise<void> {
  await expect
    .poll(() => source.runner.status, patience)
    .toMatchObject({ lastError: expect.stringMatching(reason) })
}

export async function runs(source: FetchingSource): Promise<void> {
  await expect.poll(() => source.runner.status.state, patience).toBe('running')
}
